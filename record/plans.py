"""The values for each argument of each operator. A plan maps argument names to candidates. The first candidate is the
base; the bases of one plan form a valid call."""

import math

import torch

from dense_plans import DENSE_PLANS
from movement_plans import MOVEMENT_PLANS
from operators import type_name
from scan_plans import SCAN_PLANS
from shapes import F32, I, M, Q, S, Shape, V

INF, NAN = math.inf, math.nan
I64_MAX, I64_MIN = 2**63 - 1, -(2**63)

SHAPES = [
    S(2, 3, 4), S(), S(1), S(5), S(37), S(0), S(2, 0, 3), S(0, 3), S(3, 0), S(1, 1), S(3, 1, 2), S(2, 3, 2, 2),
    S(1, 2, 1, 3, 2), S(2, 1, 2, 1, 2, 2), S(1, 2, 1, 1, 2, 1, 1), S(1, 2, 1, 1, 2, 1, 1, 2),
]
BROADCAST = [
    S(2, 3, 4), S(), S(1), S(4), S(3, 1), S(1, 3, 4), S(2, 1, 1), S(1, 1, 1), S(2, 3, 1), S(5, 2, 3, 4), S(0), S(3),
    S(2, 4), S(0, 3, 4), S(2, 0, 4), S(1, 1, 1, 2, 3, 4), S(3, 3, 4),
]
SCALARS = [
    2, True, False, 0, 1, -1, 3, -7, 7, 127, 128, -128, -129, 255, 256, 300, 32768, 65535, 65536, 2**24 + 1, 2**31 - 1,
    2**31, -(2**31) - 1, 2**32, 2**40, I64_MAX, I64_MIN, 0.0, -0.0, 0.5, -0.5, 1.0, 1.5, -1.5, 2.0, 2.7, -2.7, 0.1,
    1e-5, 1e-45, 65504.0, 65520.0, 1e6, -1e9, 3e38, 1e39, -1e300, INF, -INF, NAN,
]
FEW_SCALARS = [1, 0, -1, 2, 3, 0.5, -1.5, 2.0, True, False, 300, 1e-5, INF, NAN]
# For operators on numbers. Integers beyond 2^53 are excluded: Python compares and divides them exactly, programs as
# doubles.
NUMBERS = [
    7, 2, 0, 1, -1, 3, -7, 128, -128, 2**31, 2**53, -(2**53), True, False, 0.0, -0.0, 0.5, -0.5, 1.5, 2.5, -2.5, 2.7,
    -2.7, 0.1, 3.0, 1e10, 1e300, INF, -INF, NAN,
]
NUMBER_INTEGERS = [7, -7, 2, 0, 1, -1, 3, -3, 128, I64_MAX, I64_MIN]
DIM = [1, 0, -1, 2, -2, -3, 3, -4, 7]
DIMS = [[1], [], [0], [-1], [0, 1], [2, 0], [-1, 0], [0, 1, 2], [1, 1], [0, -3], [1, -2], [3], [-4], [3, 0], [0, 5]]
DTYPE_ARGUMENTS = [
    None, torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.uint8,
    torch.int8, torch.bool,
]
FORMATS = [None, torch.contiguous_format, torch.preserve_format, torch.channels_last, torch.channels_last_3d]
SIZES = [
    [2, 3], [], [1], [0], [3, 0, 2], [1, 1], [2, 3, 4], [1, 2, 1, 2, 1, 2], [2, 1, 2, 1, 1, 1, 1, 1], [-1], [2, -3],
]

# By the argument's name, where the name determines more than the type.
BY_NAME = {
    ("self", "Scalar"): SCALARS,
    ("self", "Tensor"): SHAPES,
    ("alpha", "Scalar"): FEW_SCALARS + [-128, 2.5, 65536, -0.0],
    ("beta", "Scalar"): FEW_SCALARS,
    ("min", "Scalar?"): [-1, None] + SCALARS,
    ("max", "Scalar?"): [2, None] + SCALARS,
    ("min_val", "Scalar"): [-1] + SCALARS,
    ("max_val", "Scalar"): [1] + SCALARS,
    ("dim", "int"): DIM,
    ("dim", "int?"): [None] + DIM,
    ("dim", "int[]"): DIMS,
    ("dim", "int[]?"): DIMS + [None],
    ("dims", "int[]"): DIMS,
    ("size", "int[]"): SIZES,
    ("step", "Scalar"): [1, 2, 3, -1, 0, 0.5, 0.3, 2.5, True],
    ("mask", "Tensor"): [M(2, 3, 4), M(), M(1), M(4), M(3, 1), M(1, 3, 4), M(5, 2, 3, 4), M(0), M(3), M(2, 0, 4)],
    ("condition", "Tensor"): [M(2, 3, 4), M(), M(1), M(4), M(3, 1), M(2, 1, 1), M(5, 2, 3, 4), M(0), M(3)],
    ("rounding_mode", "str?"): ["floor", "trunc", None, "", "round"],
    ("approximate", "str"): ["none", "tanh", "", "sigmoid"],
    ("correction", "Scalar?"): [None, 0, 1, 2, 3, 4, 10, -1, 0.5, 1.5, -2.5, True, 24],
    **{(name, "Scalar"): NUMBERS for name in ("a", "b", "t", "f")},
    **{(name, "int"): NUMBER_INTEGERS for name in ("a", "b")},
    ("negative_slope", "Scalar"): [0.01] + SCALARS,
}
BY_TYPE = {
    "Tensor": BROADCAST,
    "Tensor?": BROADCAST + [None],
    "Scalar": SCALARS,
    "bool": [False, True],
    "ScalarType?": DTYPE_ARGUMENTS,
    "MemoryFormat?": FORMATS,
    "float": [1e-5, 0.0, 1e-3, 0.5, 1.0, -0.5, NAN],
}

CONV = {
    "stride": [[1], [2], [3], [0], [-1]],
    "padding": [[0], [1], [2], [-1]],
    "dilation": [[1], [2], [3], [0]],
    "transposed": [False],
    "output_padding": [[0], [1]],
    "groups": [1, 2, 3, 4, 0, -1],
}
CONV_T = CONV | {"transposed": [True], "output_padding": [[0], [1], [2], [-1]]}
WINDOW = {
    "stride": [[], [1], [2, 1], [3, 3], [1, 2], [0, 1], [1, 1, 1], [-1, 1]],
    "padding": [[0, 0], [1, 1], [0, 1], [1], [1, 0], [2, 2], [-1, 0]],
    "ceil_mode": [False, True],
}
QUANT_RANGE = {"quant_min": [-128, -127, -8, 0, 5, -129, -1000], "quant_max": [127, 7, 0, 126, 255, 128, -3]}
QUANT_DTYPES = [torch.int8, torch.uint8, torch.int16, torch.int32, torch.uint16, torch.float32, torch.int64]
OUT_DTYPES = [None, torch.float32, torch.float16, torch.bfloat16, torch.float64]
# Eager reads past the end of statistics and weights shorter than the channels, so only matching sizes are recorded.
BATCH_NORM = {
    "weight": [S(3), None],
    "bias": [S(3), None],
    "running_mean": [S(3)],
    "running_var": [S(3, low=0.1, high=4), S(3)],
    "momentum": [0.1, 0.0, 1.0, NAN],
    "eps": [1e-5, 0.0, 1.0, -1.0, NAN],
}
BOX = {"align_corners": [False, True]}


def _sliced(chosen):
    """The shape of `self[start:end:step]` along dim, for the source of slice_scatter."""
    base = torch.empty(chosen["self"].sizes)
    try:
        return S(*torch.ops.aten.slice(base, *(chosen[n] for n in ("dim", "start", "end", "step"))).shape)
    except (RuntimeError, IndexError):
        return S(*chosen["self"].sizes)


def _normalized(chosen):
    return S(*chosen["normalized_shape"])


SLICE = {
    "dim": [0, 1, -1, -2, 2, -3],
    "start": [1, None, 0, 2, -1, -2, -100, 4, 100, I64_MAX, I64_MIN],
    "end": [3, None, 0, 1, -1, 4, 5, 100, -100, I64_MAX],
    "step": [1, 2, 3, 100, 2**62, 0, -1],
}

# Eager reads past the end for missing dimensions, for dimensions counted from the end, and for other halves of spectra.
NORMALIZATION = {"normalization": [0, 1, 2]}
HALF_SPECTRUM = NORMALIZATION | {"last_dim_size": [6, 7]}

PLANS = {
    "_fft_r2c": [
        NORMALIZATION
        | {
            "self": [S(3, 4), S(2, 5), S(5, 8), S(7, 1), S(16, 3), S(1, 6), S(37, 2)],
            "dim": [[1], [0], [0, 1], [1, 0]],
            "onesided": [True, False],
        },
        NORMALIZATION
        | {"self": [S(2, 3, 4), S(3, 1, 5)], "dim": [[2], [1, 2], [0, 2], [0, 1, 2]], "onesided": [True, False]},
    ],
    "_fft_c2r": [
        HALF_SPECTRUM | {"self": [S(3, 4), S(1, 4), S(7, 4)], "dim": [[1], [0, 1]]},
        HALF_SPECTRUM | {"self": [S(4, 3), S(4, 5)], "dim": [[0], [1, 0]]},
        HALF_SPECTRUM | {"self": [S(2, 3, 4)], "dim": [[2], [1, 2], [0, 2], [0, 1, 2]]},
    ],
    "_fft_c2c": [
        NORMALIZATION
        | {
            "self": [S(3, 4), S(2, 5), S(5, 8), S(7, 1), S(16, 3), S(37, 2)],
            "dim": [[1], [], [0], [0, 1], [1, 0]],
            "forward": [True, False],
        },
    ],
    "view_as_complex_copy": [
        {"self": [S(3, 2), S(2), S(4, 3, 2), S(0, 2), S(2, 3, 4, 2), S(3, 3), S(), S(2, 1), S(1, 2, 1)]},
    ],
    "addmm": [
        {
            "self": [S(2, 4), S(4), S(1, 4), S(2, 1), S(), S(1), S(1, 1), S(3, 4), S(1, 2, 4)],
            "mat1": [S(2, 3), S(2, 4), S(3), S(2, 0)],
            "mat2": [S(3, 4), S(4, 3), S(3)],
        },
        {"self": [S(2, 4), S(4), S()], "mat1": [S(2, 0)], "mat2": [S(0, 4)]},
        {"self": [S(0, 4), S(4)], "mat1": [S(0, 3)], "mat2": [S(3, 4)]},
        {"self": [S(3, 2), S(2)], "mat1": [S(3, 70)], "mat2": [S(70, 2)]},
    ],
    "mm": [
        {
            "self": [S(2, 3), S(2, 4), S(3), S(0, 3), S(1, 3), S(2, 3, 3)],
            "mat2": [S(3, 4), S(3, 1), S(3, 0), S(4, 3), S(3)],
        },
        {"self": [S(2, 0)], "mat2": [S(0, 4), S(0, 0)]},
        {"self": [S(3, 70)], "mat2": [S(70, 2)]},
        {"self": [S(5, 9)], "mat2": [S(9, 17)]},
    ],
    "bmm": [
        {
            "self": [S(2, 3, 4), S(1, 3, 4), S(2, 0, 4), S(3, 4)],
            "mat2": [S(2, 4, 5), S(2, 4, 1), S(1, 4, 5), S(2, 3, 5), S(2, 4, 0), S(4, 5)],
        },
        {"self": [S(2, 3, 0)], "mat2": [S(2, 0, 5)]},
        {"self": [S(0, 3, 4)], "mat2": [S(0, 4, 5)]},
        {"self": [S(2, 3, 70)], "mat2": [S(2, 70, 2)]},
    ],
    "convolution": [
        CONV
        | {
            "input": [S(2, 4, 7), S(4, 7), S(0, 4, 7), S(1, 4, 1), S(2, 3, 7), S(1, 4, 0)],
            "weight": [S(6, 4, 3), S(6, 2, 3), S(4, 1, 2), S(1, 4, 1), S(0, 4, 3), S(6, 4, 9), S(6, 4)],
            "bias": [None, S(6), S(1), S(4), S(6, 1), S()],
        },
        CONV
        | {
            "input": [S(1, 4, 5, 6), S(4, 5, 6), S(2, 4, 5, 6), S(0, 4, 5, 6), S(1, 0, 5, 6)],
            "weight": [S(6, 4, 3, 2), S(6, 4, 1, 1), S(2, 4, 2, 3)],
            "bias": [S(6), None, S(2)],
            "stride": [[1, 1], [2, 1], [1, 3], [2], [1, 1, 1], [0, 1]],
            "padding": [[0, 0], [1, 1], [0, 2], [1], [-1, 0]],
            "dilation": [[1, 1], [2, 1], [1, 2], [3, 3]],
            "groups": [1, 2, 0],
        },
        CONV
        | {
            "input": [S(1, 4, 5, 5)],
            "weight": [S(6, 2, 3, 3), S(4, 2, 2, 1), S(3, 2, 3, 3)],
            "bias": [None, S(6), S(4)],
            "stride": [[1, 1], [2, 2]],
            "padding": [[1, 1], [0, 0]],
            "dilation": [[1, 1], [2, 1]],
            "groups": [2],
        },
        CONV
        | {
            "input": [S(1, 4, 5, 4)],
            "weight": [S(4, 1, 3, 3), S(8, 1, 2, 2), S(4, 1, 1, 1)],
            "bias": [None, S(4), S(8)],
            "stride": [[1, 1], [2, 2]],
            "padding": [[1, 1], [0, 0]],
            "dilation": [[1, 1], [2, 1]],
            "groups": [4],
        },
        CONV
        | {
            "input": [S(1, 2, 3, 4, 3)],
            "weight": [S(2, 2, 2, 3, 2), S(3, 1, 1, 2, 1), S(1, 2, 1, 1, 1)],
            "bias": [None, S(2), S(3), S(1)],
            "stride": [[1, 1, 1], [2, 1, 1], [1]],
            "padding": [[0, 0, 0], [1, 1, 1], [0, 1, 0]],
            "dilation": [[1, 1, 1], [1, 2, 1]],
            "groups": [1, 2],
        },
        CONV_T
        | {
            "input": [S(2, 4, 5), S(1, 4, 1), S(0, 4, 5), S(4, 5)],
            "weight": [S(4, 3, 3), S(4, 1, 2), S(4, 2, 1), S(3, 4, 3)],
            "bias": [None, S(3), S(6), S(1)],
            "groups": [1, 2, 4, 3],
        },
        CONV_T
        | {
            "input": [S(1, 4, 3, 4), S(4, 3, 4)],
            "weight": [S(4, 3, 3, 2), S(4, 1, 2, 2), S(4, 2, 1, 1)],
            "bias": [None, S(3), S(6)],
            "stride": [[1, 1], [2, 1], [2, 2], [3]],
            "padding": [[0, 0], [1, 0], [1, 1], [2, 2]],
            "dilation": [[1, 1], [2, 1], [1, 3]],
            "output_padding": [[0, 0], [1, 0], [1, 1], [2, 2]],
            "groups": [1, 2, 4],
        },
        CONV_T
        | {
            "input": [S(1, 2, 2, 3, 2)],
            "weight": [S(2, 2, 2, 2, 2), S(2, 1, 1, 2, 1)],
            "bias": [None, S(2), S(1)],
            "stride": [[1, 1, 1], [2, 1, 2]],
            "padding": [[0, 0, 0], [1, 0, 1]],
            "dilation": [[1, 1, 1], [1, 2, 1]],
            "output_padding": [[0, 0, 0], [1, 0, 1]],
            "groups": [1, 2],
        },
    ],
    "embedding": [
        {
            "weight": [S(5, 3), S(5, 0), S(1, 2), S(5), S(5, 3, 2), S(0, 3)],
            "indices": [
                I(4, below=5), I(2, 3, below=5), I(below=5), I(0), I(2, 1, 2, below=5), I(3, low=-2, below=1),
                I(3, low=4, below=7),
            ],
            "padding_idx": [-1, 0, 4, 5, -5, -6, 100],
            "scale_grad_by_freq": [False, True],
            "sparse": [False, True],
        },
    ],
    "index": [
        {
            "self": [S(3, 4, 5)],
            "indices": [
                [I(4)], [None, I(2, 3, below=4)], [I(2), I(2)], [I(2, 1), None, I(3, below=5)], [I(2), None, I(2)],
                [None, None, I(3, below=5)], [None, I(2), I(2)], [I(2), I(2), I(2)], [I()], [I(), None, I(2)], [M(3)],
                [M(3, 4)], [None, M(4)], [M(3, 4, 5)], [M(3), I(1)], [None, M(4, 5)], [I(2), None, M(5)], [I(0)],
                [I(2, 0), I(1)], [I(4, low=-3, below=3)], [I(2, below=3, dtype=torch.int32)],
                [Shape((3,), torch.uint8, 0, 2)], [I(3, below=3, dtype=torch.int8)], [F32(2)], [I(2, low=3, below=5)],
                [I(2, low=-6, below=-3)], [I(2), I(3)], [M(4)], [M()], [I(1), I(1), I(1), I(1)], [], [None],
                [None, None, None], [I(2, dtype=torch.int32), I(2)], [I(3, 1), I(1, 2)], [I(2), I(2, 3, 2)],
            ],
        },
        {
            "self": [S(0, 3), S(), S(5), S(2, 3, 2, 2)],
            "indices": [[I(0)], [I(2)], [None, I(2)], [M(0)], [M()], [I()], [None, None, I(2, below=2), I(2, below=2)]],
        },
    ],
    "index_put": [
        {
            "self": [S(3, 4)],
            "indices": [
                [I(2)], [None, I(2)], [I(2), I(2)], [I(2, 1), I(3, below=4)], [I()], [M(3)], [M(3, 4)], [None, M(4)],
                [I(6, below=2), I(6, below=2)], [I(5, low=-3, below=3)], [I(0)], [I(2, low=3, below=5)],
                [I(2, dtype=torch.int32)], [Shape((3,), torch.uint8, 0, 2)], [F32(2)], [I(2), I(3)],
                [I(1), I(1), I(1)], [], [None, None],
            ],
            "values": [S(2, 4), S(), S(1), S(4), S(2), S(2, 1), S(3, 2), S(6), S(2, 3), S(0, 4), S(5)],
            "accumulate": [False, True],
        },
        {"self": [S(3)], "indices": [[I(9)]], "values": [S(9), S(), S(1)], "accumulate": [False, True]},
        {
            "self": [S(2, 3, 4)],
            "indices": [[I(3, below=2), None, I(3)], [None, I(3, below=3), I(3)], [I(2, 1, below=2), I(1, 2), I(2)]],
            "values": [S(), S(3, 3), S(2, 3), S(2, 2), S(1)],
            "accumulate": [False, True],
        },
    ],
    "index_select": [
        {
            "self": [S(3, 4), S(3, 4, 2), S(3, 0)],
            "dim": [0, 1, -1, -2, 2, -3],
            "index": [
                I(2), I(), I(1), I(0), I(5), I(2, dtype=torch.int32), I(2, low=-2, below=0), I(2, low=3, below=6),
                I(2, 2), F32(2),
            ],
        },
        {"self": [S(), S(4), S(0)], "dim": [0, -1, 1], "index": [I(1, below=1), I(below=1), I(2, below=1), I(0)]},
    ],
    "gather": [
        {
            "self": [S(3, 4), S(3, 5), S(2, 4), S(3), S(0, 4)],
            "dim": [1, 0, -1, -2, 2, -3],
            "index": [
                I(3, 2), I(2, 2), I(1, 4), I(3, 6), I(0, 2), I(4, 2), I(2), I(), I(3, 2, dtype=torch.int32),
                I(2, 2, low=-2), I(2, 2, low=3, below=6), F32(2, 2),
            ],
            "sparse_grad": [False, True],
        },
        {"self": [S(2, 3, 2, 2)], "dim": [2, 0, 1, 3], "index": [I(2, 3, 2, 2, below=2), I(1, 2, 1, 2, below=2)]},
        {"self": [S(), S(3)], "dim": [0, -1, 1], "index": [I(below=1), I(1, below=1), I(3, below=1), I(0)]},
    ],
    "scatter": [
        {
            "self": [S(3, 4), S(3, 5), S(2, 4), S(3)],
            "dim": [1, 0, -1, -2, 2],
            "index": [
                I(3, 2), I(2, 2), I(1, 2), I(3, 6), I(0, 2), I(4, 2), I(2), I(3, 2, dtype=torch.int32),
                I(2, 2, low=-2), I(2, 2, low=3, below=6), F32(2, 2),
            ],
            "src": [S(3, 2), S(3, 4), S(4, 6), S(2, 2), S(2), S()],
        },
        {
            "self": [S(2, 3, 2, 2)],
            "dim": [2, 0, 1, 3],
            "index": [I(2, 3, 2, 2, below=2), I(1, 2, 1, 2, below=2)],
            "src": [S(2, 3, 2, 2)],
        },
        {
            "self": [S(), S(3)],
            "dim": [0, -1, 1],
            "index": [I(below=1), I(1, below=1), I(3, below=1), I(0)],
            "src": [S(), S(1), S(3)],
        },
        {"self": [S(3)], "dim": [0], "index": [I(40)], "src": [S(40)]},
    ],
    "slice_copy": [SLICE | {"self": [S(4, 5), S(5), S(3, 0), S(2, 3, 4), S(), S(4, 2, 2, 2)]}],
    "slice_scatter": [
        SLICE
        | {
            "self": [S(4, 5), S(5), S(3, 0), S(2, 3, 4), S(), S(4, 2, 2, 2)],
            "src": [_sliced, S(2, 5), S(4, 5), S(1, 5), S(5), S()],
        }
    ],
    "select_copy": [
        {
            "self": [S(2, 3, 4), S(5), S(3, 0), S(0, 3), S(), S(2, 3, 2, 2), S(1, 2, 1, 3, 2)],
            "dim": DIM,
            "index": [0, 1, 2, -1, -3, -4, 3, 100, I64_MIN],
        }
    ],
    "split_copy": [
        {
            "self": [S(3, 4), S(5), S(0, 4), S(), S(2, 5, 3), S(3, 0)],
            "split_size": [2, 1, 3, 4, 5, 100, 0, -1],
            "dim": [0, 1, -1, -2, 2, -3],
        }
    ],
    "split_with_sizes_copy": [
        {
            "self": [S(4, 3), S(3, 4), S(4), S(0, 3), S(), S(2, 4, 2)],
            "split_sizes": [
                [1, 3], [2, 2], [4], [1, 1, 2], [0, 4], [4, 0], [1, 2], [3, 3], [-1, 5], [], [0], [3], [2, 1],
            ],
            "dim": [0, 1, -1, -2, 2, -3],
        }
    ],
    "unbind_copy": [
        {"self": [S(2, 3), S(3), S(0, 3), S(2, 0), S(), S(2, 2, 3), S(1, 2, 3, 2)], "dim": [0, 1, -1, -2, 2, -3]}
    ],
    "cat": [
        {
            "tensors": [
                [S(2, 3), S(2, 3)], [S(2, 3)], [S(1, 3), S(2, 3), S(3, 3)], [S(2, 1), S(2, 4)], [S(0), S(2, 3)],
                [S(2, 3), S(0), S(0)], [S(0), S(0)], [S(0, 3), S(2, 3)], [S(0, 2), S(2, 3)], [S(3), S(4)], [S(), S()],
                [S(2, 3), S(3)], [S(2, 3), S(2, 2)], [], [S(2, 3, 2, 2), S(2, 1, 2, 2)],
                [S(1, 2, 1, 2, 2), S(1, 2, 1, 2, 2)], [S(2, 0), S(2, 3)],
            ],
            "dim": [0, 1, -1, -2, 2, -3],
        }
    ],
    "stack": [
        {
            "tensors": [
                [S(2, 3), S(2, 3)], [S(2, 3)], [S(2, 3), S(2, 3), S(2, 3)], [S(), S()], [S(0), S(0)],
                [S(0, 3), S(0, 3)], [S(2, 3), S(3, 2)], [S(2, 3), S(2, 1)], [S(3), S(1, 3)], [],
                [S(2, 3, 2, 2), S(2, 3, 2, 2)],
            ],
            "dim": [0, 1, 2, -1, -2, -3, 3, -4],
        }
    ],
    "constant_pad_nd": [
        {
            "self": [S(2, 3), S(4), S(0, 3), S(2, 3, 2), S(1, 2, 3, 2), S(), S(1, 2, 1, 2, 2)],
            "pad": [
                [1, 2], [0, 0], [], [1, 0, 0, 2], [-1, 0], [-1, 2], [0, -1, -1, 0], [1], [1, 1, 1], [-2, -1], [-3, -1],
                [1, 0, 1, 0, 0, 1], [0, 1, 0, 0, 2, 0, 1, 0], [2, -1, 0, 3],
            ],
            "value": [0] + SCALARS,
        }
    ],
    "expand_copy": [
        {
            "self": [S(1, 3), S(3), S(), S(2, 1, 3), S(1, 1), S(0, 3), S(1, 0), S(2, 3)],
            "size": [
                [2, 3], [2, -1], [-1, 3], [4, 2, 3], [-1, 2, 3], [-1, -1], [0, 3], [3], [], [2, 4], [2, 2, 3], [1, 3],
                [2, 1, 1, 1, 3], [1, 1, 1, 1, 1, 2, 2, 3], [0, 0], [-2, 3],
            ],
            "implicit": [False, True],
        }
    ],
    "view_copy": [
        {
            "self": [S(2, 3, 4), S(24), S(), S(1), S(0), S(2, 0, 3), S(1, 1, 1), S(4, 6)],
            "size": [
                [6, 4], [24], [2, -1], [-1], [4, 3, 2], [], [1], [1, 1], [0], [0, -1], [-1, -1], [5, 5], [2, 3, 4],
                [-2, 3], [2, 1, 3, 1, 2, 1, 2, 1], [0, 3], [3, 0, 2], [-1, 7],
            ],
        }
    ],
    "repeat": [
        {
            "self": [S(2, 3), S(3), S(), S(0, 2), S(1, 2, 2)],
            "repeats": [
                [2, 1], [1, 1], [1, 2], [3, 1, 2], [0, 2], [2, 0], [2], [], [2, 1, 1, 2], [-1, 2], [1, 1, 1, 1, 2, 2],
            ],
        }
    ],
    "roll": [
        {
            "self": [S(2, 3, 4), S(5), S(), S(0, 3), S(3, 2), S(2, 1, 3, 2)],
            "shifts": [[1], [0], [-1], [5], [100], [-7], [1, 2], [2, -1], [1, 1, 1], []],
            "dims": [[1], [], [0], [-1], [0, 1], [0, 2], [0, 0], [0, 1, 2], [3], [-4]],
        }
    ],
    "flip": [{"self": SHAPES, "dims": DIMS}],
    "permute_copy": [
        {
            "self": [S(2, 3, 4), S(5), S(), S(0, 2, 3)],
            "dims": [
                [2, 0, 1], [0, 1, 2], [2, 1, 0], [-1, 0, 1], [-1, -3, -2], [0, 0, 1], [0, 1], [0, 1, 3], [0, 1, 2, 3],
                [0], [], [-1],
            ],
        },
        {"self": [S(2, 3, 2, 2)], "dims": [[0, 2, 3, 1], [0, 3, 1, 2], [3, 2, 1, 0], [1, 0, 2, 3]]},
        {"self": [S(1, 2, 1, 2, 3, 2)], "dims": [[5, 4, 3, 2, 1, 0], [0, 2, 4, 1, 3, 5], [-1, 0, 1, 2, 3, 4]]},
    ],
    "pixel_shuffle": [
        {
            "self": [
                S(1, 8, 2, 3), S(4, 2, 2), S(2, 4, 1, 2), S(1, 9, 2, 1), S(1, 7, 2, 2), S(2, 2), S(0, 4, 2, 2),
                S(1, 4, 0, 2), S(2, 1, 4, 2, 1), S(1, 0, 2, 2),
            ],
            "upscale_factor": [2, 1, 3, 0, -1, -2],
        }
    ],
    "transpose_copy": [{"self": SHAPES, "dim0": [0, 1, -1, 2, -3, 3, -4], "dim1": [1, 0, 2, -1, -2, 5]}],
    "t_copy": [{"self": [S(2, 3), S(3), S(), S(0, 3), S(1, 1), S(5, 2), S(2, 3, 4)]}],
    "tril": [
        {
            "self": [
                S(3, 4), S(4, 3), S(2, 3, 3), S(3), S(), S(0, 3), S(2, 0), S(1, 1), S(2, 1, 3, 2), S(1, 2, 1, 3, 2),
                S(7, 7),
            ],
            "diagonal": [0, 1, -1, 2, -2, 5, -5, I64_MAX, I64_MIN],
        }
    ],
    "squeeze_copy": [
        {"self": [S(2, 1, 3), S(1, 2, 1), S(), S(1), S(1, 1, 1), S(0, 1), S(1, 2, 1, 3, 1), S(2, 3)], "dim": None}
    ],
    "unsqueeze_copy": [{"self": SHAPES, "dim": [1, 0, 2, 3, -1, -2, -4, 4, -5, 9]}],
    "avg_pool2d": [
        WINDOW
        | {
            "self": [
                S(1, 2, 5, 6), S(2, 5, 6), S(2, 1, 3, 3), S(0, 2, 5, 6), S(1, 0, 5, 6), S(5, 6), S(1, 1, 2, 2),
                S(2, 2, 4, 5),
            ],
            "kernel_size": [[2, 2], [3, 2], [3], [1, 1], [2, 3], [5, 6], [6, 6], [0, 1], [2, 2, 2], []],
            "count_include_pad": [True, False],
            "divisor_override": [None, 1, 3, -2, 0, 7],
        }
    ],
    "max_pool2d_with_indices": [
        WINDOW
        | {
            "self": [
                S(1, 2, 5, 6), S(2, 5, 6), S(2, 1, 3, 3), S(0, 2, 5, 6), S(1, 0, 5, 6), S(5, 6), S(1, 1, 2, 2),
                S(2, 2, 4, 5),
            ],
            "kernel_size": [[2, 2], [3, 2], [3], [1, 1], [2, 3], [5, 6], [6, 6], [0, 1], [2, 2, 2], []],
            "dilation": [[1, 1], [2, 1], [1, 2], [2], [0, 1], [1, 1, 1]],
        }
    ],
    "_adaptive_avg_pool2d": [
        {
            "self": [
                S(1, 2, 5, 6), S(2, 5, 6), S(0, 2, 3, 3), S(1, 0, 3, 3), S(1, 2, 0, 3), S(5, 6), S(2, 1, 1, 1),
                S(1, 2, 7, 4),
            ],
            "output_size": [[2, 3], [1, 1], [5, 6], [7, 9], [3], [0, 2], [4, 4], [-1, 2], [1, 2, 3], [1, 6]],
        }
    ],
    "upsample_bilinear2d": [
        BOX
        | {
            "input": [
                S(1, 2, 3, 4), S(2, 1, 1, 1), S(1, 1, 5, 2), S(0, 2, 3, 4), S(2, 3, 4), S(1, 2, 0, 4), S(1, 0, 3, 4),
            ],
            "output_size": [[5, 6], [3, 4], [1, 1], [2, 2], [6, 8], [0, 2], [-1, 3], [5], [1, 7], None],
            "scale_factors": [None, [2.0, 2.0]],
        },
        BOX
        | {
            "input": [S(1, 2, 3, 4), S(1, 1, 5, 5), S(2, 1, 1, 3)],
            "output_size": [None],
            "scale_factors": [
                [2.0, 2.0], [1.0, 1.0], [1.7, 0.6], [0.5, 0.5], [2.5, 1.3], [0.3, 3.0], [1 / 3, 2 / 3], [2.0],
                [0.0, 1.0], [-1.0, 2.0], [0.1, 0.1], [1.1, 1.9], [NAN, 1.0], None,
            ],
        },
    ],
    "upsample_nearest2d": [
        {
            "input": [
                S(1, 2, 3, 4), S(2, 1, 1, 1), S(1, 1, 5, 2), S(0, 2, 3, 4), S(2, 3, 4), S(1, 2, 0, 4), S(1, 0, 3, 4),
            ],
            "output_size": [[5, 6], [3, 4], [1, 1], [2, 2], [6, 8], [0, 2], [-1, 3], [5], [1, 7], [7, 3], None],
            "scale_factors": [None, [2.0, 2.0]],
        },
        {
            "input": [S(1, 2, 3, 4), S(1, 1, 5, 5), S(2, 1, 1, 3)],
            "output_size": [None],
            "scale_factors": [
                [2.0, 2.0], [1.0, 1.0], [1.7, 0.6], [0.5, 0.5], [2.5, 1.3], [0.3, 3.0], [1 / 3, 2 / 3], [2.0],
                [0.0, 1.0], [-1.0, 2.0], [0.1, 0.1], [1.1, 1.9], [NAN, 1.0], None,
            ],
        },
    ],
    "native_layer_norm": [
        {
            "input": [S(2, 3, 4), S(4), S(0, 4), S(1, 4), S(2, 2, 3, 4), S(3, 4), S(), S(2, 3)],
            "normalized_shape": [[4], [3, 4], [2, 3, 4], [3], [1], [], [4, 4]],
            "weight": [None, _normalized, S(3), S(1)],
            "bias": [None, _normalized, S(3)],
            "eps": [1e-5, 0.0, 1.0, 1e-12, -1.0, NAN],
        },
        {
            "input": [S(2, 3, 4), S(0, 3, 4)],
            "normalized_shape": [[3, 4], [4]],
            "weight": [_normalized],
            "bias": [_normalized, None],
            "eps": [1e-5, 0.1],
        },
        {
            "input": [S(2, 0), S(2, 33), S(3, 0, 4)],
            "normalized_shape": [[0], [33], [0, 4]],
            "weight": [None, _normalized],
            "bias": [None, _normalized],
            "eps": [1e-5],
        },
    ],
    "native_group_norm": [
        {
            "input": [S(2, 4, 3), S(0, 4, 3), S(2, 4)],
            "weight": [S(4), None, S(2), S(2, 2)],
            "bias": [S(4), None, S(3)],
            "N": [2, 1, 0],
            "C": [4, 2, 0],
            "HxW": [3, 1, 0],
            "group": [2, 1, 4, 3, 0, -1],
            "eps": [1e-5, 0.0, 1.0, NAN],
        },
        {
            "input": [S(1, 6, 2, 3), S(1, 6, 3, 2)],
            "weight": [None, S(6)],
            "bias": [None, S(6)],
            "N": [1],
            "C": [6],
            "HxW": [6],
            "group": [3, 1, 2, 6, 4],
            "eps": [1e-5, 0.5],
        },
        {
            "input": [S(2, 4, 1, 1)],
            "weight": [None, S(4)],
            "bias": [None],
            "N": [2],
            "C": [4],
            "HxW": [1],
            "group": [4, 2],
            "eps": [1e-5, 0.0],
        },
        {
            "input": [S(2, 3, 0)],
            "weight": [None, S(3)],
            "bias": [None],
            "N": [2],
            "C": [3],
            "HxW": [0],
            "group": [1, 3],
            "eps": [1e-5],
        },
    ],
    "_native_batch_norm_legit_no_training": [
        BATCH_NORM
        | {
            "input": [
                S(2, 3, 4), S(2, 3), S(2, 3, 2, 2), S(1, 3, 2, 1, 2), S(0, 3, 2), S(2, 3, 0), S(1, 3, 1), S(2, 3, 37),
                S(1, 3, 1, 2, 1, 2),
            ]
        }
    ],
    "_softmax": [
        {
            "self": [
                S(2, 3, 4), S(), S(1), S(5), S(37), S(0), S(2, 0, 3), S(0, 3), S(3, 20), S(20, 3), S(2, 3, 2, 2),
                S(2, 1, 2, 1, 2, 2),
            ],
            "dim": DIM,
            "half_to_float": [False, True],
        }
    ],
    "_log_softmax": [
        {
            "self": [
                S(2, 3, 4), S(), S(1), S(5), S(37), S(0), S(2, 0, 3), S(0, 3), S(3, 20), S(20, 3), S(2, 3, 2, 2),
                S(2, 1, 2, 1, 2, 2),
            ],
            "dim": DIM,
            "half_to_float": [False, True],
        }
    ],
    "topk": [
        {
            "self": [S(3, 5), S(5, 3), S(7), S(), S(1), S(0), S(0, 3), S(2, 3, 4), S(40)],
            "k": [2, 0, 1, 3, 5, 6, -1],
            "dim": [-1, 0, 1, -2, 2, -3],
            "largest": [True, False],
            "sorted": [True, False],
        }
    ],
    "arange.out": [{"end": [5, 0, 1, 10, 2.5, 0.3, 7.0, -1, -0.5, True, 37, NAN, INF, 0.1, 33.7]}],
    "arange.start_out": [
        {
            "start": [1, 0, -3, 0.5, -1.7, True, 5, 250, NAN],
            "end": [7, 0, 1, 5.5, 1.3, -4, 10, 260, 20.25, INF],
            "step": [1, 2, 3, 0.5, 0.3, 2.5, -1, -0.7, 0, 0.1, True, NAN],
        }
    ],
    "full": [{"size": SIZES, "fill_value": SCALARS}],
    "scalar_tensor": [{"s": SCALARS}],
    "fill.Tensor_out": [{"self": SHAPES, "value": [S(), S(1), S(2), S(0)]}],
    "var.out": [{"self": SHAPES, "dim": DIMS + [None], "unbiased": [True, False]}],
    "clone": [
        {"self": SHAPES, "memory_format": FORMATS},
        {"self": [S(2, 3, 2, 2), S(1, 3, 1, 1), S(2, 1, 2, 2)], "memory_format": FORMATS},
        {"self": [S(1, 2, 2, 1, 3)], "memory_format": FORMATS},
    ],
    "full_like": [
        {"self": SHAPES, "fill_value": SCALARS, "memory_format": FORMATS},
        {"self": [S(2, 3, 2, 2)], "fill_value": [1.5, 3], "memory_format": FORMATS},
    ],
    "empty": [{"size": SIZES, "memory_format": FORMATS}, {"size": [[2, 3, 2, 2]], "memory_format": FORMATS}],
    "empty_permuted": [
        {"size": SIZES, "physical_layout": [[0, 1], [1, 0], [0], [], [0, 1, 2], [2, 0, 1], [0, 0], [-1, 0], [0, 2]]},
        {"size": [[2, 3, 2, 2], [1, 3, 1, 2]], "physical_layout": [[0, 1, 2, 3], [0, 2, 3, 1], [3, 2, 1, 0], [2, 0, 3, 1]]},
    ],
    "empty_strided": [
        {"size": SIZES, "stride": [[3, 1], [1, 2], [], [1], [4, 1], [0, 1], [1, 1], [-1, 1], [12, 4, 1], [1, 2, 6], [3, 6, 1]]},
        {"size": [[2, 3, 2, 2], [1, 3, 1, 2]], "stride": [[12, 4, 2, 1], [12, 1, 6, 3], [1, 2, 6, 12], [12, 3, 1, 6], [6, 2, 2, 1]]},
    ],
    "_clone_dim_order": [
        {"self": SHAPES, "non_blocking": [False], "dim_order": [None, [0, 1, 2], [0, 2, 1], [0, 1], [1, 0, 2], []]},
        {
            "self": [S(2, 3, 2, 2), S(1, 3, 1, 2)],
            "non_blocking": [False],
            "dim_order": [None, [0, 1, 2, 3], [0, 2, 3, 1], [3, 2, 1, 0], [0, 1, 2]],
        },
    ],
    "_to_dim_order_copy": [
        {"self": SHAPES, "dim_order": [None, [0, 1, 2], [0, 2, 1], [0, 1], [1, 0, 2], []]},
        {
            "self": [S(2, 3, 2, 2), S(1, 3, 1, 2)],
            "dim_order": [None, [0, 1, 2, 3], [0, 2, 3, 1], [3, 2, 1, 0], [0, 1, 2]],
        },
    ],
    "_empty_dim_order": [
        {"size": SIZES, "dim_order": [None, [0, 1], [1, 0], [0], [], [0, 1, 2]]},
        {"size": [[2, 3, 2, 2], [1, 3, 1, 2]], "dim_order": [None, [0, 1, 2, 3], [0, 2, 3, 1], [3, 2, 1, 0]]},
    ],
    "quantize_per_tensor.out": [
        QUANT_RANGE
        | {
            "input": SHAPES,
            "scale": [0.1, 1.0, 0.5, 1 / 3, 2.0, 100.0, 1e-6, 0.0, -0.1, INF, NAN],
            "zero_point": [0, 3, -128, 127, 10, -5, 1000],
            "dtype": QUANT_DTYPES,
        },
        {
            "input": SHAPES,
            "scale": [0.25, 0.1],
            "zero_point": [128, 0, 255, 7],
            "quant_min": [0, -1],
            "quant_max": [255, 256, 15],
            "dtype": [torch.uint8, torch.int16, torch.int32],
        },
        {
            "input": SHAPES,
            "scale": [0.001, 1e-9],
            "zero_point": [0, 5],
            "quant_min": [-(2**15), -(2**31)],
            "quant_max": [2**15 - 1, 2**31 - 1],
            "dtype": [torch.int16, torch.int32],
        },
    ],
    "quantize_per_tensor.Tensor_out": [
        QUANT_RANGE
        | {
            "input": SHAPES,
            "scale": [F32(1, low=0.05, high=0.5), F32(low=0.1, high=1), F32(2), Shape((1,), torch.float64, 0.1, 1)],
            "zero_point": [I(1, low=-5, below=6), I(low=-5, below=6), I(1, dtype=torch.int32), I(2)],
            "dtype": QUANT_DTYPES,
        }
    ],
    "dequantize_per_tensor.out": [
        QUANT_RANGE
        | {
            "input": [Q(2, 3, 4), Q(), Q(0), Q(1), Q(37), Q(2, 0, 3), Q(2, 3, 2, 2), Q(1, 2, 1, 3, 2), F32(3)],
            "scale": [0.1, 1.0, 1 / 3, 1e-6, 0.0, -0.1, INF, NAN],
            "zero_point": [0, 3, -128, 127, 1000, -5],
            "dtype": QUANT_DTYPES,
            "out_dtype": OUT_DTYPES,
        },
        {
            "input": [Shape((2, 5), torch.uint8, 0, 256)],
            "scale": [0.1],
            "zero_point": [128, 7],
            "quant_min": [0],
            "quant_max": [255],
            "dtype": [torch.uint8],
            "out_dtype": OUT_DTYPES,
        },
        {
            "input": [Shape((2, 5), torch.int32, -(2**30), 2**30), Shape((3,), torch.int32, 2**24, 2**24 + 50)],
            "scale": [0.1],
            "zero_point": [0, 1, 2**30],
            "quant_min": [-(2**31)],
            "quant_max": [2**31 - 1],
            "dtype": [torch.int32],
            "out_dtype": OUT_DTYPES,
        },
        {
            "input": [Shape((2, 5), torch.int16, -(2**15), 2**15)],
            "scale": [0.1],
            "zero_point": [0, 77],
            "quant_min": [-(2**15)],
            "quant_max": [2**15 - 1],
            "dtype": [torch.int16],
            "out_dtype": OUT_DTYPES,
        },
    ],
    "dequantize_per_tensor.Tensor_out": [
        QUANT_RANGE
        | {
            "input": [Q(2, 3, 4), Q(), Q(0), Q(37), Q(2, 3, 2, 2), F32(3)],
            "scale": [F32(1, low=0.05, high=0.5), F32(low=0.1, high=1), F32(2), Shape((1,), torch.float64, 0.1, 1)],
            "zero_point": [I(1, low=-5, below=6), I(low=-5, below=6), I(1, dtype=torch.int32), I(2)],
            "dtype": QUANT_DTYPES,
            "out_dtype": OUT_DTYPES,
        }
    ],
    "quantize_per_channel": [
        QUANT_RANGE
        | {
            "input": [S(3, 4), S(3, 3), S(0, 4), S(3)],
            "scales": [
                F32(4, low=0.05, high=0.5), F32(3, low=0.05, high=0.5), F32(1), Shape((4,), torch.float64, 0.1, 1),
            ],
            "zero_points": [I(4, low=-5, below=6), I(3, low=-5, below=6), I(4, dtype=torch.int32), F32(4)],
            "axis": [1, 0, -1, -2, 2, -3],
            "dtype": QUANT_DTYPES,
        },
        QUANT_RANGE
        | {
            "input": [S(2, 3, 4)],
            "scales": [F32(3, low=0.05, high=0.5)],
            "zero_points": [I(3, low=-5, below=6)],
            "axis": [1, -2],
            "dtype": [torch.int8, torch.int16],
        },
        {
            "input": [S(2, 3, 2, 2)],
            "scales": [F32(2, low=0.05, high=0.5)],
            "zero_points": [I(2, low=100, below=140)],
            "axis": [0, 2, 3, -1],
            "quant_min": [0],
            "quant_max": [255, 15],
            "dtype": [torch.uint8],
        },
    ],
    "dequantize_per_channel": [
        QUANT_RANGE
        | {
            "input": [Q(3, 4), Q(3, 3), Q(0, 4), Q(3), F32(3, 4)],
            "scales": [
                F32(4, low=0.05, high=0.5), F32(3, low=0.05, high=0.5), F32(1), Shape((4,), torch.float64, 0.1, 1),
            ],
            "zero_points": [I(4, low=-5, below=6), None, I(3, low=-5, below=6), I(4, dtype=torch.int32), F32(4)],
            "axis": [1, 0, -1, -2, 2, -3],
            "dtype": QUANT_DTYPES,
            "out_dtype": OUT_DTYPES,
        },
        QUANT_RANGE
        | {
            "input": [Q(2, 3, 4)],
            "scales": [F32(3, low=0.05, high=0.5)],
            "zero_points": [I(3, low=-5, below=6), None],
            "axis": [1, -2],
            "dtype": [torch.int8],
            "out_dtype": OUT_DTYPES,
        },
        {
            "input": [Shape((2, 3, 2, 2), torch.uint8, 0, 256)],
            "scales": [F32(2, low=0.05, high=0.5)],
            "zero_points": [I(2, low=100, below=140), None],
            "axis": [0, 2, 3],
            "quant_min": [0],
            "quant_max": [255],
            "dtype": [torch.uint8],
            "out_dtype": OUT_DTYPES,
        },
    ],
    "quantize_per_token": [
        QUANT_RANGE
        | {
            "input": [S(3, 4), S(3, 1), S(0, 4), S(2, 4)],
            "scales": [
                F32(3, 1, low=0.05, high=0.5), F32(3, low=0.05, high=0.5), F32(2, 1),
                Shape((3, 1), torch.float64, 0.1, 1),
            ],
            "zero_points": [I(3, 1, low=-5, below=6), I(3, low=-5, below=6), I(3, 1, dtype=torch.int32), F32(3, 1)],
            "dtype": QUANT_DTYPES,
        },
        QUANT_RANGE
        | {
            "input": [S(2, 3, 4)],
            "scales": [F32(2, 3, 1, low=0.05, high=0.5), F32(6, 1, low=0.05, high=0.5)],
            "zero_points": [I(2, 3, 1, low=-5, below=6), I(6, 1)],
            "dtype": [torch.int8],
        },
    ],
    "dequantize_per_token": [
        QUANT_RANGE
        | {
            "input": [Q(3, 4), Q(3, 1), Q(0, 4), Q(2, 4), F32(3, 4)],
            "scales": [
                F32(3, 1, low=0.05, high=0.5), F32(3, low=0.05, high=0.5), F32(2, 1),
                Shape((3, 1), torch.float64, 0.1, 1),
            ],
            "zero_points": [I(3, 1, low=-5, below=6), I(3, low=-5, below=6), I(3, 1, dtype=torch.int32), F32(3, 1)],
            "dtype": QUANT_DTYPES,
            "output_dtype": OUT_DTYPES[1:],
        },
        QUANT_RANGE
        | {
            "input": [Q(2, 3, 4)],
            "scales": [F32(2, 3, 1, low=0.05, high=0.5)],
            "zero_points": [I(2, 3, 1, low=-5, below=6)],
            "dtype": [torch.int8],
            "output_dtype": OUT_DTYPES[1:],
        },
    ],
    "choose_qparams": [
        QUANT_RANGE | {"input": SHAPES, "eps": [1e-5, 0.0, 1e-12, 0.5, -1.0, NAN], "dtype": QUANT_DTYPES},
        {
            "input": SHAPES + [S(4, low=1, high=5), S(4, low=-5, high=-1)],
            "quant_min": [0, -1],
            "quant_max": [255, 15, 0],
            "eps": [1e-5, 1e-3],
            "dtype": [torch.uint8, torch.int32],
        },
    ],
    "choose_qparams_per_token_asymmetric": [
        {"input": SHAPES + [S(3, 4, low=1, high=5), S(3, 4, low=-5, high=-1)], "dtype": QUANT_DTYPES}
    ],
}

PLANS["scatter_add"] = PLANS["scatter"]
PLANS |= DENSE_PLANS | MOVEMENT_PLANS | SCAN_PLANS
PLANS["_embedding_bag_forward_only"] = PLANS["_embedding_bag"]
PLANS["round.decimals_out"] = PLANS["round_.decimals"] = [
    {
        # Halves that are exact and halves that are not; numbers that a power of ten moves out of the range.
        "self": SHAPES + [V(0.15, 0.25, 0.35, 2.675, -0.125, 0.5, -1.5), V(1250, 1350, -15, 25, 149.5), V(65504, 3e38, 1e-45, INF, NAN, -0.0)],
        "decimals": [1, 0, 2, -1, -2, 3, -3, 5, -5, 10, 38, 39, -39, 308, 309, -400, 2**40],
    }
]

# Operators whose tensors broadcast get these shapes in addition to the usual ones.
SHAPE_PAIRS = [
    [S(2, 1, 2, 1, 2), S(1, 3, 1, 2, 1)], [S(1, 2, 1, 2, 1, 2), S(2, 1, 2, 1, 2, 1)], [S(2, 0, 3), S(1, 1, 3)],
    [S(2, 0, 3), S(2, 1, 1)], [S(1, 2, 1, 1, 1, 2, 1, 2), S(2, 1, 1, 1)], [S(0), S()], [S(), S(0, 2)], [S(0), S(1)],
    [S(), S()], [S(1), S()], [S(37), S(37)], [S(37), S()], [S(), S(37)],
]
BROADCASTING = {
    "add",
    "sub",
    "mul",
    "div",
    "eq",
    "ne",
    "lt",
    "le",
    "gt",
    "ge",
    "pow",
    "copysign",
    "hypot",
    "fmod",
    "remainder",
    "maximum",
    "minimum",
    "floor_divide",
    "where",
    "clamp",
    "masked_fill",
    "copy",
    "logical_and",
    "logical_or",
    "logical_xor",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
}


def plans_of(operator):
    """The operator's plans, with a candidate list for every argument."""
    names = (operator.name, operator.overload_name, operator.base_name.removesuffix("_"))
    own = next((PLANS[n] for n in names if n in PLANS), [{}])
    return [_complete(operator, plan) for plan in own]


def _complete(operator, plan):
    return {a.name: plan.get(a.name) or _candidates(operator, a) for a in operator.inputs}


def _candidates(operator, argument):
    kind = type_name(argument)
    found = BY_NAME.get((argument.name, kind)) or BY_TYPE.get(kind)
    if found is None:
        if not argument.has_default_value():
            raise LookupError(f"{operator.name}: no candidates for {argument.name} of type {kind}")
        return [argument.default_value]
    if argument.has_default_value() and kind not in ("Tensor?", "int[]?", "int[]", "Scalar?"):
        return [argument.default_value] + [v for v in found if repr(v) != repr(argument.default_value)]
    return found


def shape_plans_of(operator):
    """Further plans, which vary only pairs of shapes."""
    if operator.base_name.removesuffix("_") not in BROADCASTING:
        return []
    plan = plans_of(operator)[0]
    names = [n for n, candidates in plan.items() if isinstance(candidates[0], Shape)]
    base = {n: candidates[:1] for n, candidates in plan.items()}
    return [base | {n: [_like(plan[n][0], pair[i % 2])] for i, n in enumerate(names)} for pair in SHAPE_PAIRS]


def _like(shape, sizes):
    return Shape(sizes.sizes, shape.dtype, shape.low, shape.high)
