"""State that a program keeps between calls: mutable buffers, shared and initialised ones."""

import torch
from executorch.exir import ExecutorchBackendConfig
from executorch.exir.passes import MemoryPlanningPass
from executorch.exir.passes.init_mutable_pass import InitializedMutableBufferPass
from torch import nn
from torch.export import Dim
from torch.nn import functional as F

from .program import Call, Function, Method, Program, forward, program


class Counter(nn.Module):
    def __init__(self, start=0.0):
        super().__init__()
        self.register_buffer("count", torch.full((2,), start))

    def forward(self, x):
        self.count.add_(x)
        return self.count * 10


@program
def counter():
    """A buffer that starts at an initial state and is changed by each call."""
    inputs = ((torch.tensor([1.0, 2.0]),) for _ in range(3))
    return forward(Counter(5.0), *inputs, passes=[InitializedMutableBufferPass(["count"])])


@program
def kv_cache():
    """A decoder step with caches of keys and values, called for one position after the other."""

    class Decoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed, self.qkv, self.head = nn.Embedding(11, 16), nn.Linear(16, 48), nn.Linear(16, 11)
            self.register_buffer("k_cache", torch.zeros(1, 2, 8, 8))
            self.register_buffer("v_cache", torch.zeros(1, 2, 8, 8))

        def forward(self, token, position):
            q, k, v = (t.view(1, 1, 2, 8).transpose(1, 2) for t in self.qkv(self.embed(token)).chunk(3, -1))
            self.k_cache.index_copy_(2, position, k)
            self.v_cache.index_copy_(2, position, v)
            mask = torch.arange(8).unsqueeze(0) <= position.unsqueeze(1)
            y = F.scaled_dot_product_attention(q, self.k_cache, self.v_cache, attn_mask=mask)
            return self.head(y.transpose(1, 2).reshape(1, 1, 16))

    inputs = ((torch.tensor([[t]]), torch.tensor([i])) for i, t in enumerate((3, 1, 4, 1, 5, 9)))
    return forward(Decoder(), *inputs, passes=[InitializedMutableBufferPass(["cache"])])


@program
def mutated_input():
    """An input that the program changes in place: its new value is the first output."""

    def change(x, y):
        x.add_(y)
        return x * y

    return forward(Function(change), (torch.randn(3, 2), torch.randn(3, 2)))


@program
def shared_state():
    """Two methods that write and read one buffer, planned into memory of its own."""

    class Store(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("held", torch.zeros(4))

    class Write(nn.Module):
        def __init__(self, store):
            super().__init__()
            self.store = store

        def forward(self, x):
            self.store.held.copy_(x)
            return x + 1

    class Read(Write):
        def forward(self, y):
            return self.store.held * y

    store = Store()
    methods = {
        "write": Method(Write(store), (torch.randn(4),)),
        "read": Method(Read(store), (torch.randn(4),)),
    }
    calls = [Call(m, (torch.randn(4),)) for m in ("write", "read", "write", "read", "read")]
    plan = MemoryPlanningPass(share_mutable_buffers=True)
    return Program(methods, calls, backend=ExecutorchBackendConfig(memory_planning_pass=plan, emit_mutable_buffer_names=True))
