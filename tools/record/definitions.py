"""Operators of which PyTorch has the schema only, defined by those that they stand for in programs."""

import torch
import executorch.exir.passes._quant_patterns_and_replacements  # noqa: F401  registers the schemas
import torch.ao.quantization.fx._decomposed  # noqa: F401
from torch.library import impl

QUANTIZED = torch.ops.quantized_decomposed
LIBRARY = torch.library.Library("quantized_decomposed", "IMPL")
DTYPES = (torch.uint8, torch.int8, torch.int32)


def require(condition, sentence):
    if not condition:
        raise ValueError(sentence)


@impl(LIBRARY, "add", "CompositeExplicitAutograd")
def add(a, a_scale, a_zero_point, a_min, a_max, b, b_scale, b_zero_point, b_min, b_max, scale, zero_point, low, high):
    """The sum of the numbers that stand for codes, as a code; ExecuTorch documents what it asks of them."""
    require(a.dtype == b.dtype and a.shape == b.shape, "a and b must have the same dtype and sizes")
    require(a.dtype in DTYPES, f"a is {a.dtype}")
    for least, most in ((a_min, a_max), (b_min, b_max), (low, high)):
        require(0 <= least <= most <= 255, f"the range {least} to {most} is not within 0 to 255")
    a = QUANTIZED.dequantize_per_tensor(a, a_scale, a_zero_point, a_min, min(a_max, torch.iinfo(a.dtype).max), a.dtype)
    code = b.dtype
    b = QUANTIZED.dequantize_per_tensor(b, b_scale, b_zero_point, b_min, min(b_max, torch.iinfo(b.dtype).max), b.dtype)
    return QUANTIZED.quantize_per_tensor(a + b, scale, zero_point, low, high, code)


def dequantized(weight, scales, zero_points):
    """The weight's numbers; scales: one for each row, or for each of a row's groups of columns."""
    scales = scales.reshape(len(scales), -1)
    size = -(-weight.shape[1] // scales.shape[1])
    spread = lambda x: x.reshape(len(x), -1).repeat_interleave(size, dim=1)[:, : weight.shape[1]]  # noqa: E731
    steps = weight if zero_points is None else weight - spread(zero_points)
    return steps * spread(scales)


def check_mixed(input, weight, scales, zero_points, scale_ranks):
    require(input.dtype in (torch.float16, torch.float32) and input.dim() == 2, "input must be a float16 or float32 matrix")
    require(weight.dtype == torch.int8 and weight.dim() == 2, "weight must be an int8 matrix")
    require(scales.dtype == input.dtype and scales.dim() in scale_ranks, "weight_scales has another dtype or rank")
    require(len(scales) == len(weight), "weight_scales must have a row for each row of weight")
    same = zero_points is None or (zero_points.dtype == input.dtype and zero_points.shape == scales.shape)
    require(same, "weight_zero_points must be like weight_scales")


@impl(LIBRARY, "mixed_mm", "CompositeExplicitAutograd")
def mixed_mm(input, weight, weight_scales, weight_zero_points):
    check_mixed(input, weight, weight_scales, weight_zero_points, (1,))
    return torch.mm(input, dequantized(weight, weight_scales, weight_zero_points))


@impl(LIBRARY, "mixed_linear", "CompositeExplicitAutograd")
def mixed_linear(input, weight, weight_scales, weight_zero_points, dtype=None):
    check_mixed(input, weight, weight_scales, weight_zero_points, (1, 2))
    require(dtype in (None, torch.float16, torch.float32), f"dtype is {dtype}")
    require(weight_scales.dim() == 1 or weight_scales.shape[1] > 0, "weight_scales has no group")
    zero_points = None if weight_zero_points is None else weight_zero_points.float()
    product = torch.mm(input.float(), dequantized(weight, weight_scales.float(), zero_points).t())
    return product.to(dtype or input.dtype)
