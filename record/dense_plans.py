"""Plans of matrix products, normalisations, pools, resampling, quantized and random operators, and operators for
training
and for language models."""

import math

import torch

from shapes import F32, Derived, I, S, Shape

INF, NAN = math.inf, math.nan
DTYPE_ARGUMENTS = [torch.float32, torch.float16, torch.bfloat16, torch.float64, torch.int32, torch.uint8, None]
SIZES = [[2, 3], [], [1], [0], [3, 0, 2], [1, 1], [2, 3, 4], [37], [-1], [2, -3]]


def codes(*sizes, dtype=torch.uint8):
    """Any bytes."""
    info = torch.iinfo(dtype)
    return Shape(sizes, dtype, max(info.min, -128), min(info.max, 255) + 1)


def grid(batch, height, width, reach=1.0):
    """Positions on and around an image, whose edges are at -1 and 1."""
    return S(batch, height, width, 2, low=-reach, high=reach)


def embedding(low, high):
    """Rows of packed codes; groups of columns."""
    half = lambda *sizes: Shape(sizes, torch.float16, 0.05, 0.5)  # noqa: E731
    rows = {"weight_quant_min": [low, low - 1, 0], "weight_quant_max": [high, high + 1], "dtype": DTYPE_ARGUMENTS}
    return [
        rows
        | {
            "weight": [codes(5, 4), codes(5, 4, dtype=torch.int8), codes(5, 8), codes(5, 1), codes(4, 4), codes(4), S(5, 4)],
            "weight_scales": [
                F32(5, low=0.05, high=0.5), F32(5, 1, low=0.05, high=0.5), F32(5, 2, low=0.05, high=0.5), half(5),
                Shape((5,), torch.bfloat16, 0.05, 0.5), Shape((5,), torch.float64, 0.05, 0.5), F32(5, 3), F32(5, 4), F32(4),
                F32(5, 0), F32(5, 1, 1), F32(),
            ],
            "weight_zero_points": [None, F32(5, low=-8, high=8), F32(5, 1, low=-8, high=8), F32(5, 2, low=-8, high=8), half(5), F32(4), I(5), F32()],
            "indices": [I(2, 3, below=5), I(below=5), I(0), I(4, below=5, dtype=torch.int32), I(3, below=9), I(3, low=-3, below=1), I(3, below=5, dtype=torch.int16), F32(3)],
        },
        rows
        | {
            "weight": [codes(3, 8), codes(3, 8, dtype=torch.int8)],
            "weight_scales": [F32(3, 4, low=0.05, high=0.5), F32(3, 2, low=0.05, high=0.5), half(3, 2), half(3, 4)],
            "weight_zero_points": [None, F32(3, 4, low=-8, high=8), half(3, 2), F32(3, 2, low=-8, high=8), half(3, 4)],
            "indices": [I(2, 2, below=3), I(7, below=3)],
        },
    ]  # fmt: skip


def parameters(prefix, codes_of=()):
    """Scale, zero point and range of one operand."""
    return {
        f"{prefix}_scale": [0.1, 0.5, 1 / 3, 1.0, 7.5, *codes_of],
        f"{prefix}_zero_point": [10, 0, 3, 255, -4],
        f"{prefix}_quant_min": [0, 5, -1, 200],
        f"{prefix}_quant_max": [127, 255, 100, 256, 0],
    }


QUANTIZED_PLANS = {
    "embedding_byte": embedding(-128, 127),
    "embedding_4bit": embedding(-8, 7),
    "embedding_2bit": embedding(-2, 1),
    "quantized_decomposed::add.out": [
        parameters("a")
        | parameters("b")
        | parameters("out", (0.0, NAN))
        | {
            "a": [codes(2, 3), codes(), codes(0), codes(37), codes(2, 3, 2, 2), codes(2, 3, dtype=torch.int8), S(2, 3)],
            "b": [codes(2, 3), lambda chosen: codes(*chosen["a"].sizes), codes(3), codes(2, 3, dtype=torch.int8)],
        },
        parameters("a")
        | parameters("b")
        | parameters("out")
        | {
            "a": [codes(5, 7, dtype=d) for d in (torch.uint8, torch.int8, torch.int32)],
            "b": [lambda chosen: codes(5, 7, dtype=chosen["a"].dtype)],
        },
    ],
    "mixed_mm": [
        {
            "input": [S(2, 5), S(1, 5), S(0, 5), S(5), S(2, 4)],
            "weight": [codes(5, 3, dtype=torch.int8), codes(5, 0, dtype=torch.int8), codes(5, 3), codes(5, dtype=torch.int8)],
            "weight_scales": [S(5, low=0.05, high=0.5), S(5, 1), S(4), F32(5, low=0.05, high=0.5)],
            "weight_zero_points": [None, S(5, low=-8, high=8), S(4), F32(5)],
        },
        {
            "input": [S(2, 40)],
            "weight": [codes(40, 3, dtype=torch.int8)],
            "weight_scales": [S(40, low=0.05, high=0.5)],
            "weight_zero_points": [None, S(40, low=-8, high=8)],
        },
    ],
    "mixed_linear": [
        {
            "input": [S(2, 5), S(1, 5), S(0, 5), S(5), S(2, 4)],
            "weight": [codes(3, 5, dtype=torch.int8), codes(3, 5), codes(5, dtype=torch.int8)],
            "weight_scales": [S(3, low=0.05, high=0.5), S(3, 1, low=0.05, high=0.5), S(3, 2, low=0.05, high=0.5), S(3, 3, low=0.05, high=0.5), S(4), S(3, 0), F32(3)],
            "weight_zero_points": [None, S(3, low=-8, high=8), S(3, 2, low=-8, high=8), F32(3)],
            "dtype": [None, torch.float32, torch.float16, torch.float64],
        },
        {
            "input": [S(2, 40)],
            "weight": [codes(3, 40, dtype=torch.int8)],
            "weight_scales": [S(3, 5, low=0.05, high=0.5), S(3, 8, low=0.05, high=0.5)],
            "weight_zero_points": [None, S(3, 5, low=-8, high=8)],
            "dtype": [None, torch.float32],
        },
    ],
}  # fmt: skip

PRODUCT_PLANS = {
    "linear": [
        {
            "input": [S(2, 3), S(3), S(2, 2, 3), S(0, 3), S(), S(2, 4), S(1, 2, 1, 3)],
            "weight": [S(4, 3), S(1, 3), S(0, 3), S(3), S(), S(2, 4, 3)],
            "bias": [None, S(4), S(1), S(), S(1, 4), S(3), S(1, 1, 4)],
        },
        {"input": [S(3, 70), S(70), S(2, 1, 70)], "weight": [S(5, 70), S(70)], "bias": [None, S(5), S()]},
        {"input": [S(2, 0), S(0)], "weight": [S(4, 0)], "bias": [None, S(4)]},
    ],
}

NORM_PLANS = {
    "_native_batch_norm_legit.no_stats_out": [
        {
            "input": [
                S(2, 3, 4), S(2, 3), S(2, 3, 2, 2), S(1, 3, 2, 1, 2), S(0, 3, 2), S(2, 3, 0), S(1, 3, 1), S(2, 3, 37), S(3), S(),
            ],
            "weight": [S(3), None],
            "bias": [S(3), None],
            "training": [True],
            "momentum": [0.1, NAN],
            "eps": [1e-5, 0.0, 1.0, -5.0, NAN],
        }
    ],
    # Eager reads past the end of statistics shorter than the channels, so only matching sizes are recorded.
    "_native_batch_norm_legit.out": [
        {
            "input": [
                S(2, 3, 4), S(2, 3), S(2, 3, 2, 2), S(1, 3, 2, 1, 2), S(0, 3, 2), S(2, 3, 0), S(1, 3, 1), S(2, 3, 37), S(3), S(),
            ],
            "weight": [S(3), None],
            "bias": [S(3), None],
            "running_mean": [S(3)],
            "running_var": [S(3, low=0.1, high=4), S(3)],
            "training": [True, False],
            "momentum": [0.1, 0.0, 1.0, 1.5, -0.5, NAN],
            "eps": [1e-5, 0.0, 1.0, -5.0, NAN],
        },
        {
            "input": [S(2, 3, 4), S(2, 3, 2, 2)],
            "weight": [F32(3), None],
            "bias": [F32(3), None],
            "running_mean": [F32(3)],
            "running_var": [F32(3, low=0.1, high=4)],
            "training": [True, False],
            "momentum": [0.1],
            "eps": [1e-5],
        },
    ],
}  # fmt: skip

POOL_1D = {
    "self": [S(1, 2, 7), S(2, 7), S(2, 1, 3), S(0, 2, 7), S(1, 0, 7), S(7), S(1, 2, 0), S(0, 7), S(3, 2, 40)],
    "kernel_size": [[2], [3], [1], [7], [8], [0], [2, 2], []],
    "stride": [[], [1], [2], [3], [0], [1, 1]],
    "padding": [[0], [1], [2], [-1], [0, 0]],
    "ceil_mode": [False, True],
}
POOL_3D = {
    "self": [S(1, 2, 3, 4, 5), S(2, 3, 4, 5), S(2, 1, 3, 3, 3), S(0, 2, 3, 4, 5), S(1, 0, 3, 4, 5), S(3, 4, 5), S(1, 1, 2, 2, 2), S(1, 2, 4, 1, 4)],
    "kernel_size": [[2, 2, 2], [1, 2, 3], [3], [1, 1, 1], [3, 4, 5], [4, 4, 4], [0, 1, 1], [2, 2], []],
    "stride": [[], [1], [2, 1, 1], [3, 3, 3], [1, 2, 3], [0, 1, 1], [1, 1], [-1, 1, 1]],
    "padding": [[0, 0, 0], [1, 1, 1], [0, 1, 0], [1], [1, 0, 1], [2, 2, 2], [-1, 0, 0], [1, 1]],
    "ceil_mode": [False, True],
}
POOL_PLANS = {
    "avg_pool1d": [POOL_1D | {"count_include_pad": [True, False]}],
    "avg_pool3d": [POOL_3D | {"count_include_pad": [True, False], "divisor_override": [None, 1, 3, -2, 0, 7]}],
    "max_pool3d_with_indices": [POOL_3D | {"dilation": [[1, 1, 1], [2, 1, 1], [1, 2, 2], [2], [0, 1, 1], [1, 1]]}],
    "adaptive_avg_pool1d": [
        {
            "self": [S(1, 2, 7), S(2, 7), S(0, 2, 3), S(1, 0, 3), S(1, 2, 0), S(7), S(1, 1, 2, 7), S(2, 1, 1), S(0, 7), S(1, 2, 40)],
            "output_size": [[2], [1], [7], [9], [0], [4], [-1], [1, 2], []],
        }
    ],
    "_adaptive_avg_pool3d": [
        {
            "self": [S(1, 2, 3, 4, 5), S(2, 3, 4, 5), S(0, 2, 3, 4, 5), S(1, 0, 3, 4, 5), S(0, 3, 4, 5), S(1, 2, 0, 4, 5), S(3, 4, 5), S(2, 1, 1, 1, 1)],
            "output_size": [[2, 3, 2], [1, 1, 1], [3, 4, 5], [4, 7, 6], [3], [0, 2, 1], [2, 2, 2], [-1, 2, 2], [1, 2], [1, 4, 1]],
        }
    ],
    "adaptive_max_pool2d": [
        {
            "self": [S(1, 2, 5, 6), S(2, 5, 6), S(0, 2, 3, 3), S(1, 0, 3, 3), S(0, 3, 3), S(1, 2, 0, 3), S(5, 6), S(2, 1, 1, 1), S(1, 2, 7, 4)],
            "output_size": [[2, 3], [1, 1], [5, 6], [7, 9], [3], [0, 2], [4, 4], [-1, 2], [1, 2, 3], [1, 6]],
        }
    ],
    "adaptive_max_pool3d": [
        {
            "self": [S(1, 2, 3, 4, 5), S(2, 3, 4, 5), S(0, 2, 3, 4, 5), S(1, 0, 3, 4, 5), S(0, 3, 4, 5), S(1, 2, 0, 4, 5), S(3, 4, 5), S(2, 1, 1, 1, 1)],
            "output_size": [[2, 3, 2], [1, 1, 1], [3, 4, 5], [4, 7, 6], [3], [0, 2, 1], [2, 2, 2], [-1, 2, 2], [1, 2], [1, 4, 1]],
        }
    ],
}

RANDOM_PLANS = {
    "rand": [{"size": SIZES}],
    "randn": [{"size": SIZES}],
    "randperm": [{"n": [5, 0, 1, 37, 128, 129, 256, 257, 300, -1]}],
    "native_dropout": [
        {
            "input": [S(2, 3, 4), S(), S(0, 3), S(37), S(2, 3, 2, 2)],
            "p": [0.5, 0.0, 1.0, 0.25, 0.1, 1.5, -0.5, NAN],
            "train": [True, False, None],
        }
    ],
}


def result_of(function, *names):
    """The sizes of a forward operator's result; its gradient must have the same sizes."""

    def shape(chosen):
        empty = lambda v: torch.empty(v.sizes, device="meta") if isinstance(v, Shape) else v  # noqa: E731
        try:
            result = function(*(empty(chosen[n]) for n in names))
        except (RuntimeError, ArithmeticError, IndexError, TypeError):
            return S(1)
        return S(*(result[0] if isinstance(result, tuple) else result).shape)

    return shape


aten = torch.ops.aten
POOL = ("self", "kernel_size", "stride", "padding")
POOLED = {
    "self": [S(1, 2, 5, 6), S(2, 5, 6), S(2, 1, 3, 3), S(0, 2, 5, 6), S(1, 0, 5, 6), S(5, 6), S(2, 2, 4, 5)],
    "kernel_size": [[2, 2], [3, 2], [3], [1, 1], [5, 6], [6, 6], [0, 1], [2, 2, 2], []],
    "stride": [[], [1], [2, 1], [3, 3], [0, 1], [1, 1, 1]],
    "padding": [[0, 0], [1, 1], [0, 1], [1], [2, 2], [-1, 0], [1, 1, 1]],
    "ceil_mode": [False, True],
}
average = result_of(aten.avg_pool2d, *POOL, "ceil_mode")
largest = result_of(aten.max_pool2d_with_indices, *POOL, "dilation", "ceil_mode")


def places(chosen):
    """A position in a plane for every window."""
    sizes = chosen["self"].sizes
    return I(*largest(chosen).sizes, below=max(math.prod(sizes[-2:]), 1))


MASKS = [[True, True, True], [False, True, True], [True, True, False], [True, False, False], [False, True, False]]
convolved = result_of(
    aten.convolution, "input", "weight", "bias_sizes", "stride", "padding", "dilation", "transposed", "output_padding", "groups"
)


def gradient(transposed, **plan):
    """A plan of convolution_backward."""
    usual = {
        "grad_output": [Derived(lambda chosen: convolved(chosen | {"bias_sizes": None}))],
        "bias_sizes": [None],
        "transposed": [transposed],
        "output_mask": MASKS,
    }
    return usual | plan


def rows_of(chosen):
    """One number for each part of the input that layer norm normalises separately."""
    sizes, last = chosen["input"].sizes, len(chosen["normalized_shape"])
    return S(*sizes[: len(sizes) - last], *[1] * min(last, len(sizes)))


normalized = lambda chosen: S(*chosen["normalized_shape"])  # noqa: E731
def of_input(chosen):
    shape = chosen["input"]
    return S(*(shape(chosen) if callable(shape) else shape).sizes)



of_groups = lambda chosen: S(max(chosen["N"], 0), max(chosen["group"], 0))  # noqa: E731

TRAINING_PLANS = {
    "avg_pool2d_backward": [
        POOLED
        | {
            "grad_output": [Derived(average), S(1, 2, 2, 2), S(1, 2, 2, 3)],
            "count_include_pad": [True, False],
            "divisor_override": [None, 1, 3, -2, 0],
        }
    ],
    "max_pool2d_with_indices_backward": [
        POOLED
        | {
            "grad_output": [Derived(largest), S(1, 2, 2, 2), S(1, 2, 2, 3)],
            "dilation": [[1, 1], [2, 1], [2], [0, 1], [1, 1, 1]],
            "indices": [places, I(1, 2, 2, 2), I(1, 2, 2, 3, below=9, dtype=torch.int32)],
        }
    ],
    "_adaptive_avg_pool2d_backward": [
        {
            "grad_output": [S(1, 2, 2, 3), S(1, 2, 1, 1), S(1, 2, 7, 9), S(1, 2, 5, 6), S(1, 2, 0, 3)],
            "self": [S(1, 2, 5, 6), S(1, 2, 7, 4), S(1, 2, 1, 1)],
        },
        {"grad_output": [S(2, 2, 3), S(2, 5, 5)], "self": [S(2, 5, 6), S(2, 4, 4), S(5, 6)]},
        {"grad_output": [S(0, 2, 2, 3)], "self": [S(0, 2, 5, 6)]},
    ],
    "convolution_backward": [
        gradient(
            False,
            input=[S(2, 4, 7), S(1, 4, 3)],
            weight=[S(6, 4, 3), S(6, 2, 3), S(4, 1, 2), S(1, 4, 1)],
            stride=[[1], [2], [3], [0]],
            padding=[[0], [1], [2], [-1]],
            dilation=[[1], [2], [0]],
            output_padding=[[0]],
            groups=[1, 2, 4, 3, 0],
        ),
        gradient(
            False,
            input=[S(1, 4, 5, 6), S(2, 4, 5, 6)],
            weight=[S(6, 4, 3, 2), S(6, 4, 1, 1), S(2, 4, 2, 3)],
            bias_sizes=[[6], None],
            stride=[[1, 1], [2, 1], [1, 3], [2]],
            padding=[[0, 0], [1, 1], [0, 2]],
            dilation=[[1, 1], [2, 1]],
            output_padding=[[0, 0]],
            groups=[1],
        ),
        gradient(
            False,
            input=[S(1, 4, 5, 4)],
            weight=[S(4, 1, 3, 3), S(8, 1, 2, 2)],
            stride=[[1, 1], [2, 2]],
            padding=[[1, 1], [0, 0]],
            dilation=[[1, 1], [2, 1]],
            output_padding=[[0, 0]],
            groups=[4],
        ),
        gradient(
            True,
            input=[S(2, 4, 5), S(1, 4, 1)],
            weight=[S(4, 3, 3), S(4, 1, 2)],
            stride=[[2], [1], [3]],
            padding=[[0], [1]],
            dilation=[[1], [2]],
            output_padding=[[0], [1], [3]],
            groups=[1, 2, 4],
        ),
        gradient(
            False,
            input=[S(1, 2, 3, 4, 3)],
            weight=[S(2, 2, 2, 3, 2), S(3, 2, 1, 2, 1)],
            stride=[[1, 1, 1], [2, 1, 1]],
            padding=[[0, 0, 0], [1, 1, 1]],
            dilation=[[1, 1, 1]],
            output_padding=[[0, 0, 0]],
            groups=[1],
        ),
    ],
    "embedding_dense_backward": [
        {
            "grad_output": [Derived(lambda chosen: S(*chosen["indices"].sizes, 4)), Derived(lambda chosen: S(*chosen["indices"].sizes, 1)), S(2, 2, 4)],
            "indices": [I(2, 3, below=5), I(below=5), I(0), I(7, below=3), I(7, below=5, dtype=torch.int32), I(4, low=-2, below=8), I(3, dtype=torch.int16)],
            "num_weights": [5, 3, 1],
            "padding_idx": [-1, 0, 2, 7],
            "scale_grad_by_freq": [False],
        },
        {
            "grad_output": [Derived(lambda chosen: S(*chosen["indices"].sizes, 4))],
            "indices": [I(2, 3, below=5), I(below=5), I(7, below=3), I(9, below=5, dtype=torch.int32)],
            "num_weights": [5],
            "padding_idx": [-1, 2],
            "scale_grad_by_freq": [True],
        },
    ],
    "native_layer_norm_backward": [
        {
            "grad_out": [Derived(of_input)],
            "input": [S(2, 3, 4), S(4), S(1, 4), S(2, 2, 3, 4)],
            "normalized_shape": [[4], [3, 4], [3], []],
            "mean": [Derived(rows_of)],
            "rstd": [Derived(rows_of)],
            "weight": [Derived(normalized)],
            "bias": [Derived(normalized)],
            "output_mask": MASKS,
        },
        {
            "grad_out": [Derived(of_input)],
            "input": [S(2, 3, 4), S(2, 33)],
            "normalized_shape": [[4], [3, 4], [33]],
            "mean": [Derived(rows_of)],
            "rstd": [Derived(rows_of)],
            "weight": [None],
            "bias": [None],
            "output_mask": [[True, False, False]],
        },
    ],
    "native_group_norm_backward": [
        {
            "grad_out": [Derived(of_input)],
            # Eager reads the memory as contiguous or channels last, so no other dim orders are recorded.
            "input": [Derived(lambda _: S(2, 4, 3)), Derived(lambda _: S(2, 4, 1, 3))],
            "mean": [Derived(of_groups)],
            "rstd": [Derived(of_groups)],
            "weight": [Derived(lambda chosen: S(max(chosen["C"], 0))), None],
            "N": [2],
            "C": [4],
            "HxW": [3],
            "group": [2, 1, 4],
            "output_mask": [*MASKS, [True, False, True]],
        },
        {
            "grad_out": [Derived(of_input)],
            "input": [Derived(lambda _: S(3, 6, 2, 4)), Derived(lambda _: S(3, 6, 8))],
            "mean": [Derived(of_groups)],
            "rstd": [Derived(of_groups)],
            "weight": [Derived(lambda chosen: S(max(chosen["C"], 0))), None],
            "N": [3],
            "C": [6],
            "HxW": [8],
            "group": [3, 2, 6, 1],
            "output_mask": MASKS,
        },
    ],
}  # fmt: skip

attended_mask = lambda chosen: F32(chosen["query"].sizes[1], chosen.get("key_cache", chosen["key"]).sizes[1])  # noqa: E731


def attention(**plan):
    """A plan of attention: positions, flags, scale."""
    return plan | {
        "start_pos": [2, 0, 5, 6, -1],
        "attn_mask": [None],
        "drpout_p": [0.0, 0.5],
        "is_causal": [False, True],
        "scale": [None, 0.3, 0.0, -1.0],
    }


def offsets(*parts, dtype=torch.int64):
    """The start of each bag in the indices, and the end of the last bag if it is included."""

    def bounds(chosen):
        number = chosen["indices"].sizes[0] if len(chosen["indices"].sizes) else 0
        return torch.tensor([int(p * number) for p in parts] + [number] * chosen["include_last_offset"], dtype=dtype)

    return bounds


# Offsets that contradict each other or the indices give meaningless results or crash eager, so only consistent offsets
# are recorded.
BAG_PLANS = {
    "_embedding_bag": [
        {
            "weight": [S(5, 3), S(1, 2), S(5), S(5, 3, 2), S(4, 9)],
            "indices": [I(7, below=4), I(1, below=1), I(0), I(7, below=4, dtype=torch.int32), I(7, low=-2, below=3), I(7, low=2, below=8), F32(7)],
            "offsets": [offsets(0, 0.4, 0.4, 0.9), offsets(0), offsets(0, 0, 1, 1), offsets(0, 0.5, dtype=torch.int32)],
            "mode": [mode, 3, -1],
            "per_sample_weights": [None, *fitting],
            "include_last_offset": [False, True],
            "padding_idx": [-1, 0, 2, 7, -5],
        }
        for mode, fitting in ((0, [Derived(lambda chosen: S(*chosen["indices"].sizes)), S(6), S(7, 1)]), (1, []), (1, [S(7)]), (2, []), (2, [S(7)]))
    ],
}


def int8_codes(*sizes):
    """Codes of int8."""
    return codes(*sizes, dtype=torch.int8)


def quantized_attention(**plan):
    """A plan of attention over codes: a scale and zero point for each of their rows."""
    rows = lambda name, dtype, low, high: lambda chosen: Shape((*chosen[name].sizes[:-1], 1), dtype, low, high)  # noqa: E731
    parameters = {
        f"{letter}_{kind}": [rows(name, dtype, low, high), None, Shape((1, 3, 2), dtype, low, high)]
        for letter, name in (("q", "query"), ("k", "key"), ("v", "key"))
        for kind, dtype, low, high in (("zero_points", torch.int8, -10, 11), ("scales", torch.float32, 0.001, 0.03))
    }
    return attention(value=[lambda chosen: chosen["key"]], **plan) | parameters


LANGUAGE_PLANS = {
    "update_cache": [
        {
            "value": [S(1, 3, 2, 4), S(1, 1, 2, 4), S(1, 8, 2, 4), S(1, 9, 2, 4), S(1, 2, 1, 4), S(2, 3, 2, 4), S(3, 2, 4), S(1, 0, 2, 4)],
            "cache": [S(1, 8, 2, 4), S(2, 8, 2, 4), S(1, 8, 2, 5), S(8, 2, 4)],
            "start_pos": [2, 0, 5, 6, 8, -1],
        },
        {"value": [S(2, 3, 1, 2)], "cache": [S(2, 5, 1, 2)], "start_pos": [1, 0, 2, 3]},
    ],
    "update_cache_with_indices": [
        {
            "value": [S(1, 3, 2, 4), S(1, 2, 1, 4), S(2, 3, 2, 4), S(3, 2, 4), S(1, 0, 2, 4)],
            "cache": [S(1, 8, 2, 4), S(2, 8, 2, 4), S(1, 8, 2, 5), S(8, 2, 4), S(1, 2, 2, 4)],
            "start_pos": [0, 2, -1],
            "indices": [I(1, 3, below=8), I(1, 3, below=2), I(2, 3, below=8), I(1, 2), I(3), I(1, 3, dtype=torch.int32), I(1, 3, low=-3, below=12)],
        },
        {"value": [S(2, 3, 1, 2)], "cache": [S(2, 5, 1, 2)], "start_pos": [1], "indices": [I(2, 3, below=5), I(2, 3, below=1)]},
    ],
    "custom_sdpa": [
        attention(
            query=[S(1, 3, 2, 4), S(1, 1, 4, 4), S(2, 3, 2, 4), S(1, 3, 3, 4), S(1, 3, 2, 5), S(3, 2, 4), S(1, 0, 2, 4)],
            key=[S(1, 8, 2, 4), S(2, 8, 2, 4), S(1, 8, 1, 4), S(1, 2, 2, 4), S(1, 8, 0, 4), S(8, 2, 4)],
            value=[Derived(lambda chosen: S(*chosen["key"].sizes)), S(1, 8, 2, 4), S(1, 6, 2, 4)],
        ),
        attention(query=[S(1, 3, 2, 4), S(1, 5, 4, 4)], key=[S(1, 8, 2, 4)], value=[S(1, 8, 2, 4)])
        | {"attn_mask": [attended_mask, F32(3, 8), F32(3, 5), F32(8), Shape((3, 8), torch.float16)]},
        attention(query=[S(1, 6, 2, 16)], key=[S(1, 20, 2, 16)], value=[S(1, 20, 2, 16)]),
    ],
    "custom_quantized_sdpa": [
        quantized_attention(
            query=[int8_codes(1, 3, 2, 4), int8_codes(1, 1, 4, 4), int8_codes(2, 3, 2, 4), int8_codes(1, 3, 3, 4), int8_codes(3, 2, 4), int8_codes(1, 0, 2, 4), S(1, 3, 2, 4), codes(1, 3, 2, 4)],
            key=[int8_codes(1, 8, 2, 4), int8_codes(2, 8, 2, 4), int8_codes(1, 8, 1, 4), int8_codes(1, 8, 2, 5), S(1, 8, 2, 4)],
            is_seq_at_dim_2=[False],
        ),
        quantized_attention(query=[int8_codes(1, 3, 2, 4), int8_codes(1, 5, 4, 4)], key=[int8_codes(1, 8, 2, 4)], is_seq_at_dim_2=[False])
        | {"attn_mask": [attended_mask, F32(3, 8), F32(3, 5), F32(8), Shape((3, 8), torch.float16)]},
        quantized_attention(
            query=[int8_codes(1, 4, 3, 8), int8_codes(1, 2, 1, 8), int8_codes(2, 2, 6, 8)], key=[int8_codes(1, 2, 8, 8), int8_codes(2, 2, 8, 8), int8_codes(1, 1, 8, 8)], is_seq_at_dim_2=[True]
        ),
        quantized_attention(query=[int8_codes(1, 2, 3, 16)], key=[int8_codes(1, 2, 8, 16)], is_seq_at_dim_2=[True]) | {"attn_mask": [F32(3, 8), F32(2, 8), None]},
    ],
    "sdpa_with_kv_cache": [
        attention(
            query=[S(1, 3, 2, 4), S(1, 1, 4, 4), S(2, 3, 2, 4), S(1, 3, 3, 4), S(3, 2, 4), S(1, 0, 2, 4)],
            key=[S(1, 3, 2, 4), S(1, 1, 2, 4), S(2, 3, 2, 4), S(1, 3, 2, 5), S(3, 2, 4)],
            value=[Derived(lambda chosen: S(*chosen["key"].sizes)), S(1, 2, 2, 4)],
            key_cache=[S(1, 8, 2, 4), S(2, 8, 2, 4), S(1, 8, 1, 4), S(8, 2, 4)],
            value_cache=[Derived(lambda chosen: S(*chosen["key_cache"].sizes)), S(1, 7, 2, 4)],
            seq_len=[3, 1],
        ),
        attention(query=[S(1, 3, 4, 4)], key=[S(1, 3, 2, 4)], value=[S(1, 3, 2, 4)], key_cache=[S(1, 8, 2, 4)], value_cache=[S(1, 8, 2, 4)], seq_len=[3])
        | {"attn_mask": [attended_mask, F32(3, 5), F32(2, 8), F32(8), Shape((3, 8), torch.float16)]},
        attention(query=[S(2, 1, 2, 8)], key=[S(2, 1, 2, 8)], value=[S(2, 1, 2, 8)], key_cache=[S(2, 8, 2, 8)], value_cache=[S(2, 8, 2, 8)], seq_len=[1]),
    ],
    "fast_hadamard_transform": [
        {"mat": [S(2, 4), S(), S(1), S(2), S(8), S(3, 16), S(128), S(28), S(2, 56), S(112), S(2, 2, 4), S(0, 4), S(4, 0), S(3), S(12), S(0, 3)]}
    ],
}  # fmt: skip

# PyTorch reads out of bounds if a window has no cell, gives wrong results of one column, and has no other sampling
# modes.
SAMPLING_PLANS = {
    "_cdist_forward": [
        {
            "x1": [S(4, 3), S(1, 3), S(0, 3), S(2, 4, 3), S(2, 1, 2, 3), S(0, 4, 3), S(4, 1), S(4, 0), S(3), S(30, 3)],
            "x2": [S(5, 3), S(1, 3), S(0, 3), S(2, 5, 3), S(3, 1, 3), S(1, 5, 3), S(5, 1), S(5, 0), S(3), S(28, 3)],
            "p": [2.0, 1.0, 0.0, INF, 3.0, 0.5, 1.7, 40.0, 1e-3, 1e300, 1e-300, -1.0, NAN],
            "compute_mode": [None, 0, 1, 2, 3, -1],
        },
        {"x1": [S(6, 37), S(6, 70)], "x2": [S(3, 37), S(3, 70)], "p": [2.0, 1.0, 0.0, INF, 3.0], "compute_mode": [1, None, 2]},
        {"x1": [S(2, 5, 4)], "x2": [Derived(lambda chosen: S(*chosen["x1"].sizes))], "p": [2.0, 1.0, INF, 3.0], "compute_mode": [1, None]},
        {"x1": [S(26, 2), S(2, 30, 4)], "x2": [S(26, 2), S(2, 3, 4)], "p": [2.0], "compute_mode": [None, 0, 2]},
    ],
    "_pdist_forward": [
        {
            "self": [S(4, 3), S(1, 3), S(0, 3), S(2, 1), S(5, 37), S(9, 2), S(4, 0), S(1, 0)],
            "p": [2.0, 1.0, 0.0, INF, 3.0, 0.5, 1.7, 40.0, 1e-3, 1e300, 1e-300],
        }
    ],
    "_upsample_bilinear2d_aa": [
        {
            "self": [S(1, 2, 4, 5), S(2, 1, 7, 3), S(1, 1, 1, 1), S(1, 5, 3, 4), S(0, 2, 4, 5), S(1, 0, 4, 5), S(1, 2, 0, 5), S(2, 4, 5)],
            "output_size": [[2, 3], [4, 5], [1, 1], [7, 9], [4, 3], [2, 5], [3, 2], [0, 2], [-1, 3], [3], [2, 2, 2]],
            "align_corners": [False, True],
            "scales_h": [None],
            "scales_w": [None],
        },
        {
            "self": [S(1, 2, 4, 5)],
            "output_size": [[2, 3], [3, 4], [1, 2], [4, 3]],
            "align_corners": [False, True],
            "scales_h": [None, 0.5, 0.75, 1.3, 0.0, -1.0, NAN, INF],
            "scales_w": [None, 0.7, 1.0, 2.5],
        },
        {
            "self": [codes(1, 2, 9, 8), codes(1, 5, 9, 8), codes(2, 1, 4, 20)],
            "output_size": [[3, 3], [4, 11], [9, 3], [5, 8], [13, 17], [9, 8]],
            "align_corners": [False, True],
            "scales_h": [None],
            "scales_w": [None],
        },
        {
            "self": [S(1, 1, 2, 37), S(1, 1, 37, 2)],
            "output_size": [[1, 5], [2, 5], [5, 2], [2, 36], [2, 50]],
            "align_corners": [False, True],
            "scales_h": [None],
            "scales_w": [None],
        },
    ],
    "grid_sampler_2d": [
        {
            "input": [S(1, 2, 3, 4), S(2, 1, 1, 1), S(1, 1, 5, 2), S(0, 2, 3, 4), S(1, 0, 3, 4), S(1, 2, 0, 4), S(2, 3, 4)],
            "grid": [
                grid(1, 4, 5), grid(1, 4, 5, 4), grid(2, 3, 2), grid(1, 1, 37, 9), S(1, 4, 5, 2), grid(1, 0, 5), grid(0, 4, 5), S(1, 4, 5, 3), S(1, 5, 2),
            ],
            "interpolation_mode": [0, 1, 2],
            "padding_mode": [0, 1, 2],
            "align_corners": [False, True],
        },
        *(
            {"input": [S(1, 2, 3, 4)], "grid": [grid(1, 3, 4, 1.5)], "interpolation_mode": [i], "padding_mode": [p], "align_corners": [False, True]}
            for i in range(3)
            for p in range(3)
        ),
    ],
}  # fmt: skip

DENSE_PLANS = LANGUAGE_PLANS | BAG_PLANS | SAMPLING_PLANS | QUANTIZED_PLANS | PRODUCT_PLANS | NORM_PLANS | POOL_PLANS | RANDOM_PLANS | TRAINING_PLANS
