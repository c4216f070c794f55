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


@program
def cond_outputs():
    """A branch with several results and operands of which each side uses some."""

    def both(x, y):
        return x + y, x.sum(), y > 0

    net = Function(lambda p, x, y: torch.cond(p, both, lambda x, y: (x.clone(), y.sum(), y < 0), (x, y)))
    x, y = torch.randn(2, 3), torch.randn(2, 3)
    return forward(net, (torch.tensor(True), x, y), (torch.tensor(False), x, y))


@program
def cond_size():
    """A branch on a size that is known only when the program runs."""
    from torch.export import Dim

    net = Function(lambda x: torch.cond(x.shape[0] > 3, lambda x: x * 2, lambda x: x - 1, (x,)))
    return forward(net, *((torch.randn(n, 2),) for n in (5, 3, 8)), dynamic=({0: Dim("n", min=2, max=8)},))


@program
def cond_item():
    """A branch on a number taken out of a tensor."""
    net = Function(lambda n, x: torch.cond(n.item() > 2, lambda x: x.cos(), lambda x: x.neg(), (x,)))
    x = torch.randn(4)
    return forward(net, (torch.tensor(3), x), (torch.tensor(2), x))


@program
def cond_layers():
    """Layers with weights on both sides of a branch: a mixture of two experts that runs one."""

    class Experts(nn.Module):
        def __init__(self):
            super().__init__()
            self.router, self.first, self.second = nn.Linear(6, 1), nn.Linear(6, 6), nn.Linear(6, 6)

        def forward(self, x):
            return torch.cond(self.router(x).sum() > 0, lambda x: self.first(x), lambda x: self.second(x).relu(), (x,))

    return forward(Experts(), *((torch.randn(2, 6),) for _ in range(4)))


@program
def map_nested():
    """A loop within a loop."""
    from torch._higher_order_ops.map import map as loop

    net = Function(lambda xs: loop(lambda x: loop(lambda y: y.exp() + 1, x), xs))
    return forward(net, (torch.randn(3, 4, 2),))


@program
def map_argmax():
    """A loop whose body gives integers of a lower rank than its operand."""
    from torch._higher_order_ops.map import map as loop

    net = Function(lambda xs, y: loop(lambda x, y: (x * y).argmax(1), xs, y))
    return forward(net, (torch.randn(4, 2, 5), torch.randn(5)))


@program
def map_cond():
    """A branch in the body of a loop."""
    from torch._higher_order_ops.map import map as loop

    def body(x):
        return torch.cond(x.sum() > 0, lambda x: x * 2, lambda x: -x, (x,))

    return forward(Function(lambda xs: loop(body, xs)), (torch.randn(6, 3),))


@program
def map_dynamic():
    """A loop over as many rows as the input has."""
    from torch._higher_order_ops.map import map as loop
    from torch.export import Dim

    net = Function(lambda xs, y: loop(lambda x, y: x + y, xs, y))
    inputs = ((torch.randn(n, 3), torch.randn(3)) for n in (9, 4, 2))  # the first is taken as the bound
    return forward(net, *inputs, dynamic=({0: Dim("n", min=2, max=9)}, None))


@program
def scan_outputs():
    """A running state of two tensors over two inputs, backwards."""
    from torch._higher_order_ops.scan import scan

    def step(state, x):
        total, largest = state
        total, largest = total + x[0] * x[1], torch.maximum(largest, x[0])
        return (total, largest), (total * 2, x[1] - largest)

    net = Function(lambda a, b, xs, ys: scan(step, (a, b), (xs, ys), dim=0, reverse=True))
    return forward(net, (torch.zeros(3), torch.zeros(3), torch.randn(5, 3), torch.randn(5, 3)))


@program
def scan_rnn():
    """A recurrent layer as a scan over the sequence with its weights as operands."""
    from torch._higher_order_ops.scan import scan

    class Recurrent(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner, self.outer = nn.Linear(4, 4), nn.Linear(3, 4)

        def forward(self, h, xs):
            def step(h, x):
                h = torch.tanh(self.inner(h) + self.outer(x))
                return h, h.clone()

            return scan(step, h, xs, dim=0)

    return forward(Recurrent(), (torch.zeros(2, 4), torch.randn(5, 2, 3)))
