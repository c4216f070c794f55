"""State that a program keeps between calls: mutable buffers, shared and initialised ones."""

import torch
from executorch.exir import ExecutorchBackendConfig
from executorch.exir.passes import MemoryPlanningPass
from executorch.exir.passes.init_mutable_pass import InitializedMutableBufferPass
from torch import nn
from torch.export import Dim
from torch.nn import functional as F

from .program import UNCHECKED, Call, Function, Method, Program, forward, program


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
def counters():
    """Two methods, each with a state of its own that outlives calls of the other method."""
    step = (torch.tensor([1.0, 2.0]),)
    methods = {"up": Method(Counter(5.0), step), "down": Method(Counter(-3.0), step)}
    turns = enumerate(("up", "down", "up", "up", "down", "up", "down", "down"), 1)
    calls = [Call(method, (torch.tensor([1.0 * n, -2.0 * n]),)) for n, method in turns]
    return Program(methods, calls, passes=[InitializedMutableBufferPass(["count"])])


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
    return Program(
        methods, calls, backend=ExecutorchBackendConfig(memory_planning_pass=plan, emit_mutable_buffer_names=True)
    )


@program
def state_from_zero():
    """A buffer without initial state: its memory starts as zeros."""
    inputs = ((torch.tensor([1.0, 2.0]),) for _ in range(3))
    return forward(Counter(), *inputs)


@program
def kv_cache_prefill():
    """A layer with caches, called for five positions, for one, for two: the number of positions is dynamic."""

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.qkv, self.out = nn.Linear(12, 36), nn.Linear(12, 12)
            self.register_buffer("k_cache", torch.zeros(1, 10, 12))
            self.register_buffer("v_cache", torch.zeros(1, 10, 12))

        def forward(self, x, positions):
            q, k, v = self.qkv(x).chunk(3, -1)
            self.k_cache[:, positions] = k
            self.v_cache[:, positions] = v
            mask = torch.arange(10).unsqueeze(0) <= positions.unsqueeze(1)
            weights = (q @ self.k_cache.transpose(1, 2) / 12**0.5).masked_fill(~mask, float("-inf")).softmax(-1)
            return self.out(weights @ self.v_cache)

    length = Dim("length", min=1, max=10)
    steps = (torch.arange(5), torch.tensor([5]), torch.tensor([6, 7]))
    inputs = ((torch.randn(1, len(p), 12), p) for p in steps)
    passes = [InitializedMutableBufferPass(["cache"])]
    return forward(Layer(), *inputs, dynamic=({1: length}, {0: length}), passes=passes)


@program
def state_dtypes():
    """State of several dtypes: an integer counter, a bool that flips, a float16 average."""

    class State(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("state_count", torch.tensor(3))
            self.register_buffer("state_flag", torch.tensor([True, False]))
            self.register_buffer("state_mean", torch.full((2,), 0.5, dtype=torch.float16))

        def forward(self, x):
            self.state_count.add_(1)
            self.state_flag.logical_not_()
            self.state_mean.mul_(0.75).add_(x.half() / 4)
            return self.state_count * 2, self.state_flag & (x > 0), self.state_mean.float()

    return forward(State(), *((torch.randn(2),) for _ in range(3)), passes=[InitializedMutableBufferPass(["state"])])


@program
def state_only():
    """A method without outputs that changes state, and one that reads it."""

    class Store(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("held", torch.zeros(3))

        def forward(self, x):
            self.held.add_(x)

    class Read(nn.Module):
        def __init__(self, store):
            super().__init__()
            self.store = store

        def forward(self):
            return self.store.held + 0.5

    class Write(Read):
        def forward(self, x):
            self.store(x)

    store = Store()
    methods = {"write": Method(Write(store), (torch.randn(3),)), "read": Method(Read(store), ())}
    calls = [Call("write", (torch.randn(3),)), Call("read", ()), Call("write", (torch.randn(3),)), Call("read", ())]
    plan = MemoryPlanningPass(share_mutable_buffers=True)
    return Program(
        methods, calls, backend=ExecutorchBackendConfig(memory_planning_pass=plan, emit_mutable_buffer_names=True)
    )


@program
def ring_buffer():
    """The last four rows: each call moves the rows up and writes one."""

    class Ring(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("rows", torch.zeros(4, 2))

        def forward(self, x):
            self.rows.copy_(torch.cat([self.rows[1:], x.unsqueeze(0)]))
            return self.rows.mean(0), self.rows.clone()

    return forward(Ring(), *((torch.randn(2),) for _ in range(6)), passes=[InitializedMutableBufferPass(["rows"])])


@program
def running_norm():
    """A norm over the batch: each call moves the running mean and variance and counts."""

    class Norm(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("running_mean", torch.zeros(3))
            self.register_buffer("running_var", torch.ones(3))
            self.register_buffer("running_count", torch.tensor(0))

        def forward(self, x):
            var, mean = torch.var_mean(x, 0)
            self.running_mean.lerp_(mean, 0.1)
            self.running_var.mul_(0.9).add_(var, alpha=0.1)
            self.running_count.add_(1)
            return (x - self.running_mean) / (self.running_var + 1e-5).sqrt(), self.running_count * 1

    inputs = ((torch.randn(4, 3) * 2 + 1,) for _ in range(3))
    return forward(Norm(), *inputs, passes=[InitializedMutableBufferPass(["running"])], edge=UNCHECKED)


@program
def mutated_inputs():
    """Two inputs changed in place, one through a view, and one left alone."""

    def change(x, y, z):
        x[0].mul_(2)
        z.add_(y).relu_()
        return (x + z).sum(), y * 2

    return forward(Function(change), tuple(torch.randn(2, 3) for _ in range(3)))


@program
def streaming_gru():
    """A recurrent cell that keeps its hidden state between calls."""

    class Streaming(nn.Module):
        def __init__(self):
            super().__init__()
            self.cell, self.out = nn.GRUCell(4, 6), nn.Linear(6, 2)
            self.register_buffer("hidden", torch.zeros(1, 6))

        def forward(self, x):
            self.hidden.copy_(self.cell(x, self.hidden))
            return self.out(self.hidden)

    return forward(
        Streaming(), *((torch.randn(1, 4),) for _ in range(4)), passes=[InitializedMutableBufferPass(["hidden"])]
    )
