"""Weights in files of their own."""

import torch
from executorch.exir import ExecutorchBackendConfig
from torch import nn
from torch.nn import Sequential

from .program import Call, Method, Program, forward, program


@program
def external_constants():
    """All weights in one .ptd file."""
    net = Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 3))
    return forward(net, (torch.randn(2, 6),), backend=ExecutorchBackendConfig(external_constants=True))


@program
def external_two_files():
    """Weights of two layers in two .ptd files, a third layer's in the program."""
    files = {"0": "first", "1": "second"}

    def file_of(node):
        return next((f for key, f in files.items() if f"p_{key}_" in node.name), None)

    net = Sequential(nn.Linear(6, 8), nn.Linear(8, 5), nn.Linear(5, 3))
    return forward(net, (torch.randn(2, 6),), backend=ExecutorchBackendConfig(external_constants=file_of))


@program
def external_dtypes():
    """External weights of several dtypes and ranks: float16, int64, bool, a number, channels-last."""

    class Weights(nn.Module):
        def __init__(self):
            super().__init__()
            self.factor = nn.Parameter(torch.randn(3).half())
            self.register_buffer("table", torch.arange(6).reshape(2, 3))
            self.register_buffer("mask", torch.tensor([True, False, True]))
            self.register_buffer("scale", torch.tensor(2.5))
            self.conv = nn.Conv2d(3, 2, 3).to(memory_format=torch.channels_last)

        def forward(self, x, image):
            y = (x * self.factor + self.table) * self.mask * self.scale
            return y, self.conv(image)

    inputs = torch.randn(2, 3).half(), torch.randn(1, 3, 4, 4).to(memory_format=torch.channels_last)
    return forward(Weights(), inputs, backend=ExecutorchBackendConfig(external_constants=True))


@program
def external_methods():
    """Two methods that share weights of one .ptd file."""

    class Forth(nn.Module):
        def __init__(self, layer):
            super().__init__()
            self.layer = layer

        def forward(self, x):
            return self.layer(x)

    class Back(Forth):
        def forward(self, y):
            return y @ self.layer.weight

    layer = nn.Linear(5, 4)
    x, y = torch.randn(2, 5), torch.randn(2, 4)
    made = {"forth": Method(Forth(layer), (x,)), "back": Method(Back(layer), (y,))}
    return Program(
        made, [Call("forth", (x,)), Call("back", (y,))], backend=ExecutorchBackendConfig(external_constants=True)
    )


@program
def equal_constants():
    """Weights of equal bytes: the program stores them once."""
    net = Sequential(*(nn.Linear(8, 8) for _ in range(3)))
    for layer in net[1:]:
        layer.load_state_dict(net[0].state_dict())
    return forward(net, (torch.randn(2, 8),))
