"""Branches and loops: jumps and moves in the program."""

import torch
from torch import nn

from .program import Function, forward, program


@program
def cond():
    """A branch on a bool tensor; each side is taken once."""
    net = Function(lambda p, x: torch.cond(p, lambda x: x.sin() + 1, lambda x: x * 2, (x,)))
    x = torch.randn(3, 4)
    return forward(net, (torch.tensor(True), x), (torch.tensor(False), x))


@program
def cond_nested():
    """A branch within a branch, on sums of the input."""

    def negative(x):
        return torch.cond(x.sum() < -10, lambda x: x - 10, lambda x: x.abs(), (x,))

    def positive(x):
        return torch.cond(x.sum() > 10, lambda x: x + 10, lambda x: x.neg(), (x,))

    net = Function(lambda x: torch.cond(x.sum() > 0, positive, negative, (x,)) * 3)
    return forward(net, *((torch.full((2, 3), v),) for v in (1.0, 5.0, -1.0, -5.0)))


@program
def map_rows():
    """A loop over the rows of a tensor with a second operand."""
    from torch._higher_order_ops.map import map as loop

    net = Function(lambda xs, y: loop(lambda x, y: torch.mm(x, y).relu() + x.sum(), xs, y))
    return forward(net, (torch.randn(5, 2, 3), torch.randn(3, 3)))


@program
def scan_sum():
    """A running state over the rows of a tensor: the last state and every output."""
    from torch._higher_order_ops.scan import scan

    def step(state, x):
        state = state * 0.5 + x
        return state, state.sin()

    net = Function(lambda init, xs: scan(step, init, xs, dim=0))
    return forward(net, (torch.randn(4), torch.randn(6, 4)))
