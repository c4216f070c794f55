"""Layers of networks and the functions between them, on static shapes."""

import torch
from torch import nn
from torch.nn import functional as F
from torch.nn import Sequential

from .program import Function, Program, forward, program


@program
def mlp():
    """Linear layers and ReLU."""
    return forward(
        Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 4)),
        (torch.randn(3, 16),),
        (torch.randn(3, 16),),
    )


@program
def cnn():
    """Convolutions with stride, padding and dilation, max pooling, a linear layer at the end."""
    net = Sequential(
        nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 12, 3, stride=2, dilation=2, padding=2),
        nn.ReLU6(), nn.Flatten(), nn.Linear(12 * 4 * 4, 10),
    )  # fmt: skip
    return forward(net, (torch.randn(2, 3, 16, 16),))


@program
def depthwise_block():
    """An inverted residual: pointwise, depthwise and pointwise convolution, batch norm, hardswish, and the sum."""

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = Sequential(
                nn.Conv2d(8, 24, 1, bias=False), nn.BatchNorm2d(24), nn.Hardswish(),
                nn.Conv2d(24, 24, 3, padding=1, groups=24, bias=False), nn.BatchNorm2d(24), nn.Hardswish(),
                nn.Conv2d(24, 8, 1, bias=False), nn.BatchNorm2d(8),
            )  # fmt: skip

        def forward(self, x):
            return x + self.body(x)

    block = Block()
    for layer in block.body:
        if isinstance(layer, nn.BatchNorm2d):
            nn.init.uniform_(layer.running_mean, -1, 1)
            nn.init.uniform_(layer.running_var, 0.5, 2)
    return forward(block.eval(), (torch.randn(1, 8, 9, 7),))


@program
def convolutions_1d():
    """1-D convolutions: grouped, strided, dilated; and a transposed one."""
    net = Sequential(
        nn.Conv1d(4, 8, 5, padding=2, groups=2), nn.SiLU(), nn.Conv1d(8, 6, 3, stride=2, dilation=2), nn.GELU(),
        nn.ConvTranspose1d(6, 5, 4, stride=3, padding=1, output_padding=1),
    )  # fmt: skip
    return forward(net, (torch.randn(2, 4, 21),))


@program
def convolution_transposed():
    """2-D transposed convolutions: stride, output padding, groups, dilation."""
    net = Sequential(
        nn.ConvTranspose2d(4, 6, 3, stride=2, padding=1, output_padding=1), nn.LeakyReLU(0.1),
        nn.ConvTranspose2d(6, 4, (2, 3), groups=2, dilation=(1, 2)),
    )  # fmt: skip
    return forward(net, (torch.randn(2, 4, 5, 6),))


@program
def convolution_3d():
    """A 3-D convolution and a 3-D average."""
    net = Sequential(nn.Conv3d(2, 4, (2, 3, 3), stride=(1, 2, 1), padding=1), nn.ReLU())
    return forward(net, (torch.randn(1, 2, 4, 6, 5),))


@program
def lstm():
    """A two-layer LSTM, unrolled over a static sequence, with its final states."""
    return forward(nn.LSTM(6, 8, num_layers=2, batch_first=True), (torch.randn(2, 5, 6),))


@program
def gru():
    """A bidirectional GRU with an initial state."""
    return forward(nn.GRU(5, 7, bidirectional=True), (torch.randn(4, 2, 5), torch.randn(2, 2, 7)))


@program
def norms():
    """Layer, group, instance and root-mean-square norms one after the other."""
    net = Sequential(
        nn.GroupNorm(2, 6), nn.InstanceNorm2d(6, affine=True), nn.LayerNorm((4, 5)), nn.RMSNorm(5), nn.BatchNorm2d(6)
    ).eval()
    for parameter in net.parameters():
        nn.init.uniform_(parameter, -1, 1)
    return forward(net, (torch.randn(2, 6, 4, 5) * 3 + 1,))


@program
def attention():
    """A transformer block: layer norm, multi-head attention over a causal mask, GELU network, residuals."""

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm1, self.norm2 = nn.LayerNorm(24), nn.LayerNorm(24)
            self.qkv, self.out = nn.Linear(24, 72), nn.Linear(24, 24)
            self.net = Sequential(nn.Linear(24, 48), nn.GELU(), nn.Dropout(0.1), nn.Linear(48, 24))

        def forward(self, x):
            batch, length, width = x.shape
            q, k, v = (
                t.view(batch, length, 3, width // 3).transpose(1, 2) for t in self.qkv(self.norm1(x)).chunk(3, dim=-1)
            )
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.out(y.transpose(1, 2).reshape(batch, length, width))
            return x + self.net(self.norm2(x))

    return forward(Block().eval(), (torch.randn(2, 7, 24),))
