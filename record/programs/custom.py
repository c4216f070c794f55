"""Operators of the library for language models: caches of keys and values, attention over them."""

import torch
from executorch.exir.passes.init_mutable_pass import InitializedMutableBufferPass
from torch import nn

from .program import UNCHECKED, Function, forward, program


class Cached(nn.Module):
    """Caches of eight positions, two heads of four, float32."""

    def __init__(self):
        super().__init__()
        import executorch.extension.llm.custom_ops.custom_ops  # noqa: F401  registers the operators

        self.register_buffer("k_cache", torch.zeros(1, 8, 2, 4))
        self.register_buffer("v_cache", torch.zeros(1, 8, 2, 4))


def decoded(module, steps):
    """Calls for one position after the other."""
    calls = [(*(torch.randn(1, 1, 2, 4) for _ in range(3)), torch.tensor([position])) for position in range(steps)]
    return forward(module, *calls, passes=[InitializedMutableBufferPass(["cache"])], edge=UNCHECKED)


def start(position):
    """A position as a number, which torch is told to lie in the cache."""
    number = position[0].item()
    torch._check(number >= 0)
    torch._check(number < 8)
    return number


@program
def sdpa_with_kv_cache():
    """Attention that writes its keys and values to the caches, one position per call."""

    class Attend(Cached):
        def forward(self, q, k, v, position):
            return torch.ops.llama.sdpa_with_kv_cache(
                q, k, v, self.k_cache, self.v_cache, start(position), 1, None, 0.0, True
            )

    return decoded(Attend(), 4)


@program
def update_cache():
    """Caches written by operators of their own, attention over them by another: causal, one position per call."""

    class Attend(Cached):
        def forward(self, q, k, v, position):
            at = start(position)
            torch.ops.llama.update_cache(k, self.k_cache, at)
            torch.ops.llama.update_cache(v, self.v_cache, at)
            return torch.ops.llama.custom_sdpa(q, self.k_cache, self.v_cache, at, None, 0.0, True)

    return decoded(Attend(), 3)


@program
def custom_sdpa_mask():
    """Attention with a mask of numbers, a scale, and twice as many query heads as key heads."""
    import executorch.extension.llm.custom_ops.custom_ops  # noqa: F401

    def attend(q, k, v, mask):
        return torch.ops.llama.custom_sdpa(q, k, v, 0, mask, 0.0, False, 0.3)

    inputs = torch.randn(1, 3, 4, 8), torch.randn(1, 6, 2, 8), torch.randn(1, 6, 2, 8), torch.randn(3, 6)
    return forward(Function(attend), inputs, edge=UNCHECKED)


@program
def fast_hadamard_transform():
    """Hadamard transforms of 8 and 128 elements, and of 28 times 4."""
    import executorch.extension.llm.custom_ops.custom_ops  # noqa: F401

    transform = torch.ops.llama.fast_hadamard_transform
    inputs = torch.randn(2, 8), torch.randn(128), torch.randn(3, 112)
    return forward(Function(lambda x, y, z: (transform(x), transform(y), transform(z))), inputs, edge=UNCHECKED)
