"""Dimension orders, views, and tensors of unusual shape."""

import torch
from executorch.exir import EdgeCompileConfig, ExecutorchBackendConfig
from torch import nn
from torch.nn import Sequential

from .program import Function, forward, program

LAST = torch.channels_last


@program
def channels_last():
    """A convolutional network whose input and weights are channels-last."""
    net = Sequential(nn.Conv2d(3, 6, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 4, 1)).to(
        memory_format=LAST
    )
    return forward(net, (torch.randn(2, 3, 6, 8).to(memory_format=LAST),))


@program
def channels_last_inside():
    """Conversion to channels-last and back within the program."""
    conv = nn.Conv2d(3, 5, 3)

    class Inside(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = conv

        def forward(self, x):
            y = self.conv(x.to(memory_format=LAST)).relu()
            return y.to(memory_format=torch.contiguous_format), y

    return forward(Inside(), (torch.randn(1, 3, 5, 6),))


@program
def channels_last_mixed():
    """A row-major and a channels-last operand: sums, copies and clones that keep the order."""

    def mix(x, y):
        return (
            x + y.to(memory_format=torch.contiguous_format),
            y.clone() * 2,
            x.to(memory_format=LAST) + y,
            y.contiguous(),
        )

    return forward(Function(mix), (torch.randn(2, 3, 4, 5), torch.randn(2, 3, 4, 5).to(memory_format=LAST)))


@program
def no_dim_order():
    """A conversion of dtype and a copy exported without operators of dim_order."""
    net = Function(lambda x: ((x.to(torch.float64) * 2).to(torch.int32), x.clone() + 1, torch.zeros_like(x) - x))
    return forward(net, (torch.randn(1, 2, 3, 4) * 5,), edge=EdgeCompileConfig(_skip_dim_order=True))


@program
def dim_order_creation():
    """Channels-last tensors made by the program: full and empty like, and dtype conversion that keeps the order."""

    def make(x):
        return torch.full_like(x, 3.0) + x, torch.ones_like(x) - x, x.to(torch.float16), x.to(torch.int32)

    return forward(Function(make), (torch.randn(2, 3, 4, 4).to(memory_format=LAST) * 9,))


@program
def views():
    """Views that become pointers into the same memory: view, reshape, squeeze, unsqueeze, flatten, in a row."""

    def view(x):
        y = x.view(6, 4).unsqueeze(0).squeeze(0)
        return y * 2, (x + 1).flatten(1).reshape(2, 2, 6), (x * x).view(-1)

    return forward(Function(view), (torch.randn(2, 3, 4),))


@program
def view_copies():
    """The same views kept as copies: the exporter does not replace them."""

    def view(x):
        return x.view(6, 4).unsqueeze(0) * 2, (x + 1).flatten(1).reshape(2, 2, 6)

    return forward(Function(view), (torch.randn(2, 3, 4),), backend=ExecutorchBackendConfig(remove_view_copy=False))


@program
def in_place():
    """Operators written in place, on intermediate values and through views."""

    def change(x):
        y = x + 1
        y.mul_(2).relu_()
        y[0].add_(10)
        y[:, 1] = 0
        y.view(-1)[2:4].fill_(-1)
        return y

    return forward(Function(change), (torch.randn(3, 4),))


@program
def zero_size():
    """Tensors without elements: concatenated, reduced, multiplied, and as outputs."""

    def empty(x, y):
        return torch.cat([x, y], 0), x.sum(0), x * 2, x @ y.t(), x.sum(), x.amax(1)

    return forward(Function(empty), (torch.randn(0, 3), torch.randn(2, 3)))


@program
def zero_dimensions():
    """Tensors of no dimensions: arithmetic, broadcasting, stacking, views to and from one element."""

    def scalar(x, y):
        return x + y, x * torch.ones(3), torch.stack([x, y]), x.view(1), (x > y), y.reshape(1, 1).squeeze(), x.sum()

    return forward(Function(scalar), (torch.tensor(1.5), torch.tensor(-2.5)))


@program
def many_dimensions():
    """Tensors of six and seven dimensions: permuted, summed, broadcast, sliced, joined."""

    def compute(x):
        return x.permute(5, 3, 1, 0, 2, 4), x.sum((1, 4)), x + x[:, :1], x[:, :, 1:, ..., -1], torch.stack([x, x], 3)

    return forward(Function(compute), (torch.randn(2, 3, 2, 1, 2, 3),))


@program
def permuted_conv():
    """An image with its channels last in sizes, permuted around a convolution."""

    class Permuted(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(3, 4, 3, padding=1)

        def forward(self, x):
            return self.conv(x.permute(0, 3, 1, 2)).permute(0, 2, 3, 1).contiguous()

    return forward(Permuted(), (torch.randn(1, 5, 6, 3),))
