"""Every dtype, their promotion and conversion."""

import torch
from torch import nn
from torch.nn import Sequential

from .program import UNCHECKED, Function, forward, program


@program
def half():
    """A small network in float16."""
    net = Sequential(nn.Linear(8, 16), nn.GELU(), nn.LayerNorm(16), nn.Linear(16, 4)).half()
    return forward(net, (torch.randn(3, 8).half(),))


@program
def bfloat16():
    """A small network in bfloat16."""
    net = Sequential(nn.Linear(8, 16), nn.SiLU(), nn.LayerNorm(16), nn.Linear(16, 4), nn.Softmax(-1)).bfloat16()
    return forward(net, (torch.randn(3, 8).bfloat16(),))


@program
def promotion():
    """Operands of mixed dtypes: integers, bool, float16 and float64 with each other and with numbers."""

    def mix(i8, i64, f16, f64, b):
        return i8 + i64, i8 * f16, f16 + f64, b + i8, i64 / 2, i64 > f16, i8 * 1.5, b & (i8 > 0), -i64

    i = torch.tensor([-3, 0, 5, 100])
    inputs = (i.to(torch.int8), i * 1000, i.half() / 4, i.double() / 3, i > 0)
    return forward(Function(mix), inputs)


@program
def where_gather_scatter():
    """Selection by mask and index: where, gather, scatter, index_put, index_select, masked_fill, topk."""

    def select(x, index, mask):
        values, positions = x.topk(2, dim=1)
        put = x.index_put((index[0, :2], index[1, :2]), torch.tensor([7.0, 8.0]))
        return (
            torch.where(mask, x, -x), x.gather(1, index), x.scatter(1, index, 0.5), x.scatter_add(1, index, x),
            put, x.index_select(1, index[0]), x.masked_fill(mask, 9.0), values, positions, x[index[0, :2]],
        )  # fmt: skip

    index = torch.tensor([[0, 2, 1, 0], [1, 1, 3, 0], [2, 0, 3, 3]])
    return forward(Function(select), (torch.randn(3, 4), index, torch.randn(3, 4) > 0))


@program
def double():
    """A small network in float64."""
    net = Sequential(nn.Linear(8, 16), nn.GELU(), nn.LayerNorm(16), nn.Linear(16, 4), nn.Softmax(-1)).double()
    return forward(net, (torch.randn(3, 8).double(),))


@program
def integers():
    """Arithmetic of int8, uint8, int16, int32 and int64: wrapping products, division, remainders, powers, bits."""

    def compute(i8, u8, i16, i32, i64):
        return (
            i8 * i8, u8 + u8, i16 * 300, i32 // 7, i64 % 5, i64.abs(), i64**2, i32 & 12, i16 | 1, u8 ^ 255, ~i8, -u8,
            i32.sum(), i64.cumsum(0), i8.amax(), i32 > i64, i64.clamp(-5, 50),
            torch.div(i32, i64 + 200, rounding_mode="trunc"), torch.bitwise_left_shift(i32, 2),
            i64 >> 1, i32.float().mean(), torch.remainder(i16, 7), i64.prod(),
        )  # fmt: skip

    i = torch.tensor([-100, -7, 0, 9, 120])
    inputs = i.to(torch.int8), (i + 130).to(torch.uint8), (i * 200).to(torch.int16), (i * 5000).to(torch.int32), i
    return forward(Function(compute), inputs, edge=UNCHECKED)


@program
def bools():
    """Bool tensors: logic, sums, products with numbers, comparison, as indices and as conditions."""

    def compute(a, b):
        return (
            a & b, a | b, a ^ b, ~a, a.sum(), a.sum(0), a * 2.5, a + b, a.any(0), b.all(1), a == b,
            torch.where(a, 1.0, b), a.to(torch.float32).mean(), b.to(torch.int8), torch.logical_xor(a, b), a.cumsum(1),
        )  # fmt: skip

    return forward(Function(compute), (torch.rand(3, 4) > 0.5, torch.rand(3, 4) > 0.3))


@program
def conversions():
    """Conversions between all pairs of the common dtypes: rounding, truncation, to and from bool."""
    dtypes = torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.int16, torch.int8, torch.bool

    def convert(x):
        return [x.to(d) for d in dtypes] + [x.to(d).to(torch.float32) + 0.25 for d in dtypes]

    return forward(Function(convert), (torch.tensor([-100.7, -1.5, -0.3, 0.0, 0.5, 2.5, 99.9]),))


@program
def half_conv():
    """A convolutional network in float16."""
    net = Sequential(nn.Conv2d(3, 6, 3), nn.BatchNorm2d(6), nn.ReLU(), nn.AvgPool2d(2), nn.Flatten(), nn.Linear(24, 3))
    return forward(net.eval().half(), (torch.randn(2, 3, 6, 6).half(),))


@program
def bfloat16_residual():
    """A convolutional network in bfloat16 with a depthwise convolution, a residual and pools."""

    class Residual(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = Sequential(nn.Conv2d(3, 8, 3, 2, 1), nn.ReLU6(), nn.MaxPool2d(3, 2, 1))
            self.depthwise = Sequential(nn.Conv2d(8, 8, 3, padding=1, groups=8, bias=False), nn.BatchNorm2d(8), nn.ReLU())
            self.pointwise = Sequential(nn.Conv2d(8, 8, 1, bias=False), nn.BatchNorm2d(8))

        def forward(self, x):
            x = self.first(x)
            return torch.relu(x + self.pointwise(self.depthwise(x))).mean((2, 3))

    return forward(Residual().eval().bfloat16(), (torch.randn(1, 3, 16, 16).bfloat16(),))


@program
def bfloat16_attention():
    """Attention in bfloat16 with a mask, normalised in float32."""
    from torch.nn import functional as F

    def attend(q, k, v, mask):
        return F.rms_norm(F.scaled_dot_product_attention(q, k, v, mask).float(), (8,)).bfloat16()

    q, k, v = (torch.randn(1, 2, 5, 8).bfloat16() for _ in range(3))
    return forward(Function(attend), (q, k, v, torch.randn(5, 5).bfloat16()))


@program
def mixed_precision():
    """Weights in float16, arithmetic of the norm in float32, logits in float64."""

    class Mixed(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear, self.norm = nn.Linear(8, 8).half(), nn.LayerNorm(8)

        def forward(self, x):
            y = self.linear(x.half())
            return self.norm(y.float() + x).double().log_softmax(-1), y

    return forward(Mixed(), (torch.randn(3, 8),))
