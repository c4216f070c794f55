"""Sizes that are known only when the program runs."""

import math

import torch
from torch import nn
from torch.export import Dim
from torch.nn import Sequential

from .program import UNCHECKED, Function, forward, program


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


@program
def dynamic_sequence():
    """Attention over a sequence of 2 to 12 with a causal mask."""
    from torch.nn import functional as F

    def attend(q, k, v):
        return F.scaled_dot_product_attention(q, k, v, is_causal=True)

    length = Dim("length", min=2, max=12)
    inputs = (tuple(torch.randn(1, 2, n, 4) for _ in range(3)) for n in (5, 12, 2))
    return forward(Function(attend), *inputs, dynamic=({2: length},) * 3)


@program
def dynamic_image():
    """A convolutional network on images of several sizes, ended by an adaptive average."""
    net = Sequential(
        nn.Conv2d(3, 6, 3, stride=2, padding=1), nn.ReLU(), nn.Upsample(scale_factor=2), nn.Conv2d(6, 4, 3),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 5),
    )  # fmt: skip
    sides = {2: Dim("height", min=4, max=16), 3: Dim("width", min=4, max=20)}
    return forward(net, *((torch.randn(1, 3, *s),) for s in ((8, 12), (16, 20), (5, 7))), dynamic=(sides,))


@program
def dynamic_views():
    """Reshapes, flattening, slices and concatenation whose sizes follow the input's."""

    def view(x):
        n, m = x.shape
        y = x.reshape(n * m).unsqueeze(0)
        return y, x.view(n, 2, m // 2).transpose(0, 1), torch.cat([x, x[:, :1]], 1), x[:, : m // 2], y.squeeze(0)[:n]

    dims = ({0: Dim("n", min=3, max=6), 1: 2 * Dim("half", min=2, max=5)},)
    return forward(Function(view), *((torch.randn(*s),) for s in ((4, 6), (6, 10), (3, 4))), dynamic=dims)


@program
def dynamic_creation():
    """Tensors as large as an input: arange, masks, positions, full, one-hot columns."""

    def make(x):
        n = x.shape[0]
        steps = torch.arange(n)
        mask = steps.unsqueeze(1) >= steps
        return (
            steps * 2,
            torch.where(mask, 0.0, float("-inf")),
            torch.zeros(n, 2),
            torch.ones(n + 1) / n,
            x.new_full((n,), 3),
        )

    return forward(Function(make), *((torch.randn(n),) for n in (4, 8, 1)), dynamic=({0: Dim("n", min=1, max=8)},))


@program
def symbolic_numbers():
    """Numbers computed from sizes: maximum, minimum, quotients, comparison, rounding, and as a tensor's content."""

    def compute(x):
        n, m = x.shape
        larger, smaller = torch.sym_max(n, m), torch.sym_min(n, m)
        share = torch.sym_float(n) / m
        chosen = torch.sym_ite(n > m, n - m, m)
        return larger, smaller, share, chosen, torch.full((2,), n) * x.sum(), x * n + m, x / (n * m), n == m, n * n - m

    dims = ({0: Dim("n", min=2, max=9), 1: Dim("m", min=2, max=9)},)
    inputs = ((torch.randn(*s),) for s in ((3, 4), (9, 2), (5, 5)))
    return forward(Function(compute), *inputs, dynamic=dims, edge=UNCHECKED)


@program
def symbolic_rounding():
    """Fractions of a size cut, rounded up and negated, as outputs and as factors."""

    def compute(x):
        n = x.shape[0]
        return math.trunc(n * 0.75), math.ceil(n / 2), -n, x * math.trunc(n / 3), x + n / 4, x * ((n + 1) // 2)

    inputs = ((torch.randn(n, 2),) for n in (8, 6, 12))
    return forward(Function(compute), *inputs, dynamic=({0: Dim("n", min=4, max=12)},), edge=UNCHECKED)


@program
def masked_select():
    """The elements that a mask selects, and their sum."""

    def select(x, mask):
        chosen = torch.masked_select(x, mask)
        return chosen, chosen.sum()

    x = torch.randn(3, 4)
    masks = (x > 0, torch.zeros(3, 4, dtype=torch.bool), torch.ones(3, 4, dtype=torch.bool))
    return forward(Function(select), *((x, m) for m in masks), edge=UNCHECKED)


@program
def item():
    """A number taken out of a tensor sets a size, a factor and an output."""

    def take(n, scale, x):
        count = n.item()
        torch._check(count >= 0)
        torch._check(count <= 6)
        return torch.full((count, 2), 1.5), x * scale.item(), count + 1

    x = torch.randn(3)
    return forward(Function(take), *((torch.tensor(n), torch.tensor(n / 4), x) for n in (4, 0, 6)))


@program
def item_slice():
    """A position taken out of a tensor narrows another, as in a cache."""

    def narrow(position, x):
        start = position.item()
        torch._check(start >= 0)
        torch._check(start + 3 <= 8)
        return x.narrow(0, start, 3) * 2

    x = torch.randn(8, 2)
    return forward(Function(narrow), *((torch.tensor(n), x) for n in (2, 0, 5)))


@program
def index_by_mask():
    """Rows chosen by a mask of data, and how many they are."""

    def choose(x, keep):
        rows = keep.nonzero().squeeze(1)
        return x.index_select(0, rows) + 1, rows.shape[0]

    x = torch.randn(5, 2)
    keeps = ([True, False, True, True, False], [False] * 5, [True] * 5)
    return forward(Function(choose), *((x, torch.tensor(k)) for k in keeps))


@program
def int_input():
    """An integer input that differs between calls: a factor, an offset and a size."""

    def compute(x, n):
        return x * n, n + 1, torch.zeros(n, 2)

    x = torch.randn(3)
    # The exporter plans a tensor of that size for the example's integer, so the largest comes first.
    return forward(Function(compute), *((x, n) for n in (7, 4, 2)), dynamic=(None, Dim.DYNAMIC))


@program
def dynamic_layers():
    """Layer norm, convolution in one dimension and a recurrent sum over a dynamic sequence and batch."""
    net = Sequential(nn.Conv1d(4, 6, 3, padding=1), nn.GroupNorm(2, 6), nn.GELU(), nn.Conv1d(6, 5, 2, stride=2))
    dims = ({0: Dim("batch", min=1, max=3), 2: Dim("length", min=4, max=16)},)
    inputs = ((torch.randn(b, 4, n),) for b, n in ((2, 8), (3, 16), (1, 5)))
    return forward(net.eval(), *inputs, dynamic=dims)


@program
def dynamic_broadcast():
    """Operands of dynamic sizes that are broadcast, compared and reduced together."""

    def combine(x, y):
        return x + y.unsqueeze(1), (x * y.unsqueeze(1)).sum(0), x.softmax(0), torch.cat([x.amax(1), y])

    n, m = Dim("n", min=2, max=6), Dim("m", min=2, max=7)
    inputs = ((torch.randn(a, b), torch.randn(a)) for a, b in ((3, 4), (6, 7), (2, 2)))
    return forward(Function(combine), *inputs, dynamic=({0: n, 1: m}, {0: n}))
