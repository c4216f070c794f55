"""Sizes that are known only when the program runs."""

import torch
from torch import nn
from torch.export import Dim
from torch.nn import Sequential

from .program import Function, forward, program


@program
def dynamic_batch():
    """An MLP with a batch of 1 to 16."""
    net = Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 3), nn.Softmax(-1))
    inputs = ((torch.randn(n, 6),) for n in (4, 16, 1, 7))
    return forward(net, *inputs, dynamic=({0: Dim("batch", min=1, max=16)},))


@program
def dynamic_arithmetic():
    """Shape arithmetic: products, floor division and remainder of sizes, and the sizes as outputs."""

    def arithmetic(x):
        n, m = x.shape
        y = torch.cat([x, x], 0).reshape(2, n, m)
        z = torch.full((n * 2 + 1, m // 2 + 1), 1.5)
        return y.sum(2), z, n * m, m % 3, n - 1

    dims = ({0: Dim("n", min=2, max=9), 1: Dim("m", min=2, max=12)},)
    return forward(Function(arithmetic), *((torch.randn(*s),) for s in ((3, 4), (9, 12), (2, 7))), dynamic=dims)


@program
def nonzero():
    """The positions of nonzero elements: as many rows as the data has."""
    inputs = ((torch.tensor(v),) for v in ([[0, 3], [2, 0]], [[0, 0], [0, 0]], [[1, 2], [3, 4]]))
    return forward(Function(lambda x: torch.nonzero(x)), *inputs)
