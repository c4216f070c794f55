"""Plans of operators that move, select, pad and scatter elements."""

import math

import torch

from shapes import F32, I, M, S, Shape

I64_MAX, I64_MIN = 2**63 - 1, -(2**63)
REDUCTIONS = ["sum", "prod", "mean", "amax", "amin", "add", ""]


def _selected(chosen):
    """The shape of `self` without dim, for the source of select_scatter."""
    sizes = list(chosen["self"].sizes)
    if sizes and -len(sizes) <= chosen["dim"] < len(sizes):
        del sizes[chosen["dim"]]
    return S(*sizes)


def _windows(chosen):
    """As many columns as a window has cells."""
    axes = zip(*(chosen[n] * 2 for n in ("output_size", "kernel_size", "dilation", "padding", "stride")))
    places = [(o + 2 * p - d * (k - 1) - 1) // max(s, 1) + 1 for o, k, d, p, s in list(axes)[:2]]
    cells = math.prod(max(k, 1) for k in chosen["kernel_size"])
    return S(2, 3 * cells, max(math.prod(places), 1))


def _padding(dims):
    """Padding of the last `dims` dimensions: reflection takes less than the size, replication takes any padding."""
    rest = [0, 0] * (dims - 1)
    lists = [[1, 2], [0, 0], [2, 1], [3, 3], [4, 0], [0, 7], [-1, 2], [2, -2], [-1, -1], [-2, -2], [-9, 1], [I64_MAX, 0]]
    everywhere = [[1, 1] * dims, [1, 0] * dims, [0, 2] * dims, [-1, 1] * dims]
    inputs = {
        1: [S(2, 3, 4), S(3, 4), S(4), S(1, 1, 1), S(0, 3, 4), S(2, 0, 4), S(2, 3, 0), S(1, 2, 3, 4), S(2, 1, 37)],
        2: [S(1, 2, 3, 4), S(2, 3, 4), S(3, 4), S(1, 1, 1, 1), S(0, 2, 3, 4), S(1, 0, 3, 4), S(1, 2, 3, 0), S(1, 1, 5, 7)],
        3: [S(1, 1, 2, 3, 4), S(2, 2, 3, 4), S(2, 3, 4), S(0, 1, 2, 3, 4), S(1, 0, 2, 3, 4), S(1, 2, 2, 2, 3)],
    }[dims]
    wrong = [[1], [1, 1, 1], [1, 1] * (dims + 1), []]
    return [{"self": inputs, "padding": [e + rest for e in lists] + everywhere + wrong}]


SORT = {
    "self": [S(3, 5), S(), S(1), S(0), S(2, 0, 3), S(37), S(3, 20), S(2, 3, 2, 2)],
    "dim": [-1, 0, 1, -2, 2],
    "descending": [False, True],
}

MOVEMENT_PLANS = {
    "narrow_copy": [
        {
            "self": [S(2, 3, 4), S(5), S(3, 0), S(), S(2, 3, 2, 2)],
            "dim": [0, 1, -1, 2, -3, 3, -4],
            "start": [0, 1, -1, 2, -2, 3, -5, 100, I64_MIN],
            "length": [1, 0, 2, 3, 4, -1, I64_MAX],
        }
    ],
    "diagonal_copy": [
        {
            "self": [S(3, 4), S(4, 3), S(2, 3, 4), S(3), S(), S(0, 3), S(2, 3, 2, 2)],
            "offset": [0, 1, -1, 2, -2, 5, -5, I64_MAX, I64_MIN],
            "dim1": [0, 1, -1, -2, 2, -5],
            "dim2": [1, 0, -1, -2, 2, 3],
        }
    ],
    "unfold_copy": [
        {
            "self": [S(7), S(2, 5), S(2, 3, 4), S(), S(0, 3), S(3, 0), S(2, 3, 2, 2)],
            "dimension": [0, -1, 1, 2, -3, 3],
            "size": [2, 1, 0, 3, 5, 8, -1],
            "step": [1, 2, 3, 100, 0, -1],
        }
    ],
    # Without an offset, since the recorder's tensors do not begin at the start of their storage.
    "as_strided_copy": [
        {
            "self": [S(2, 3, 4), S(5), S(), S(0), S(24), S(2, 3, 2, 2)],
            "size": [[2, 2], [2, 3, 2], [3], [], [0, 2], [4, 1], [2, 2, 2], [-1, 2], [1, 100]],
            "stride": [[1, 2], [2, 1, 3], [1], [], [0, 0], [3, 1], [1, 1, 1], [-1, 1], [100, 1], [I64_MAX, 2]],
            "storage_offset": [None],
        },
        {
            "self": [S(2, 3, 4)],
            "size": [[2, 3, 2], [2, 1, 2]],
            "stride": [[2, 1, 3], [0, 1, 1], [12, 4, 1]],
            "storage_offset": [None],
        },
        {"self": [S(5), S(24)], "size": [[3], [5], [6], [0]], "stride": [[1], [2], [0], [7]], "storage_offset": [None]},
        {"self": [S(), S(1)], "size": [[]], "stride": [[]], "storage_offset": [None, -1]},
    ],
    "pixel_unshuffle": [
        {
            "self": [
                S(1, 2, 4, 6), S(1, 4, 2), S(2, 1, 2, 4), S(1, 3, 6), S(1, 1, 3, 3), S(2, 2), S(0, 1, 4, 4), S(1, 2, 0, 4),
                S(2, 1, 1, 2, 4), S(1, 4, 5),
            ],
            "downscale_factor": [2, 1, 3, 0, -1],
        }
    ],
    "select_scatter": [
        {
            "self": [S(2, 3, 4), S(5), S(3, 0), S(), S(2, 3, 2, 2)],
            "src": [_selected, S(2, 3), S(), S(1, 4), S(2, 3, 4)],
            "dim": [0, 1, -1, 2, -3, 3],
            "index": [0, 1, -1, -2, 2, 5, -9],
        }
    ],
    "masked_scatter": [
        {
            "self": [S(2, 3, 4), S(), S(4), S(1), S(3, 1), S(0), S(1, 3, 4), S(5, 2, 3, 4)],
            "source": [S(2, 3, 4), S(30), S(130), S(1), S(), S(0), S(5, 7)],
        }
    ],
    "repeat_interleave": [
        {
            "repeats": [
                I(5, low=0, below=4), I(0), I(1, low=0, below=9), I(20, low=0, below=3), I(3, low=-2, below=3), I(2, 3, low=0, below=3),
                I(low=0, below=3), I(4, low=0, below=3, dtype=torch.int32), I(4, low=0, below=3, dtype=torch.int8), F32(3),
                Shape((3,), torch.uint8, 0, 3), M(3), I(3, low=2, below=3),
            ],
            "output_size": [None, 6, 0, 7, -1],
        }
    ],
    "view_copy.dtype_out": [
        {
            "self": [S(2, 3, 4), S(), S(1), S(4), S(0), S(2, 0), S(0, 3), S(3, 2), S(2, 3, 2, 2), S(2, 8), S(3, 1, 8)],
            "dtype": [
                torch.int32, torch.float32, torch.float64, torch.int64, torch.int16, torch.bfloat16, torch.float16, torch.int8, torch.uint8, torch.bool,
                torch.uint16, torch.uint32, torch.uint64,
            ],
        }
    ],
    "sort": [SORT],
    "sort.values_stable": [SORT | {"stable": [True, False, None]}],
    "scatter_reduce": [
        {
            "self": [S(3, 4), S(3, 5), S(2, 4), S(3)],
            "dim": [1, 0, -1, -2, 2],
            "index": [
                I(3, 2), I(2, 2), I(1, 2), I(3, 6), I(0, 2), I(4, 2), I(2), I(3, 2, dtype=torch.int32), I(2, 2, low=-2),
                I(2, 2, low=3, below=6), F32(2, 2),
            ],
            "src": [S(3, 2), S(3, 4), S(4, 6), S(2, 2), S(2), S()],
            "reduce": REDUCTIONS,
            "include_self": [True, False],
        },
        {
            "self": [S(), S(3)],
            "dim": [0, -1, 1],
            "index": [I(below=1), I(1, below=1), I(3, below=1), I(0)],
            "src": [S(), S(1), S(3)],
            "reduce": REDUCTIONS,
            "include_self": [True, False],
        },
        {"self": [S(3)], "dim": [0], "index": [I(40)], "src": [S(40)], "reduce": REDUCTIONS[1:], "include_self": [True, False]},
    ],
    "reflection_pad1d": _padding(1),
    "reflection_pad2d": _padding(2),
    "reflection_pad3d": _padding(3),
    "replication_pad1d": _padding(1),
    "replication_pad2d": _padding(2),
    "replication_pad3d": _padding(3),
    "col2im": [
        {
            "self": [_windows, S(2, 12, 9)],
            "output_size": [[4, 4], [3, 5], [2, 2], [1, 7], [4], [0, 4]],
            "kernel_size": [[2, 2], [1, 1], [2, 1], [3, 2], [2], [0, 2]],
            "dilation": [[1, 1], [2, 1], [1, 2], [1], [0, 1]],
            "padding": [[0, 0], [1, 1], [0, 1], [0], [-1, 0]],
            "stride": [[1, 1], [2, 2], [1, 2], [1], [0, 1]],
        },
        {
            "self": [S(1, 4, 9), S(4, 9), S(1, 4, 8), S(1, 3, 9), S(0, 4, 9), S(1, 4, 0), S(1, 0, 9), S(1, 1, 4, 9), S(9)],
            "output_size": [[4, 4]],
            "kernel_size": [[2, 2]],
            "dilation": [[1, 1]],
            "padding": [[0, 0]],
            "stride": [[1, 1]],
        },
    ],
}
