"""Every dtype, their promotion and conversion."""

import torch
from torch import nn
from torch.nn import Sequential

from .program import Function, forward, program


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
