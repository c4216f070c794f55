"""Definitions of operators for which PyTorch has only a schema, by the operators that they replace in programs."""

import torch
import executorch.exir.passes._quant_patterns_and_replacements  # noqa: F401  registers the schemas
import executorch.extension.llm.custom_ops.custom_ops  # noqa: F401  registers the operators for language models
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
    """The sum of quantized numbers as a code. ExecuTorch documents the conditions on the arguments."""
    require(a.dtype == b.dtype and a.shape == b.shape, "a and b must have the same dtype and sizes")
    require(a.dtype in DTYPES, f"a is {a.dtype}")
    for least, most in ((a_min, a_max), (b_min, b_max), (low, high)):
        require(0 <= least <= most <= 255, f"the range {least} to {most} is not within 0 to 255")
    a = QUANTIZED.dequantize_per_tensor(a, a_scale, a_zero_point, a_min, min(a_max, torch.iinfo(a.dtype).max), a.dtype)
    code = b.dtype
    b = QUANTIZED.dequantize_per_tensor(b, b_scale, b_zero_point, b_min, min(b_max, torch.iinfo(b.dtype).max), b.dtype)
    return QUANTIZED.quantize_per_tensor(a + b, scale, zero_point, low, high, code)


def dequantized(weight, scales, zero_points):
    """The dequantized weight. There is one scale for each row, or for each group of columns of a row."""
    columns = lambda x: x if x.dim() == 2 else x.unsqueeze(1)  # noqa: E731
    size = -(-weight.shape[1] // columns(scales).shape[1])
    spread = lambda x: columns(x).repeat_interleave(size, dim=1)[:, : weight.shape[1]]  # noqa: E731
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


# For a wrong argument, the kernels of operators for language models end the process or leave the results unchanged.
LLAMA = torch.ops.llama
ATTENTION_DTYPES = (torch.float16, torch.bfloat16, torch.float32)


def check_cache(value, cache, positions):
    """`positions`: whether the positions of value lie within the cache."""
    require(value.dim() == cache.dim() == 4 and value.dtype == cache.dtype, "value and cache must be of one dtype and rank 4")
    require(all(value.shape[d] == cache.shape[d] for d in (0, 2, 3)), "value and cache may differ in their positions only")
    require(value.numel() > 0 and value.is_contiguous() and cache.is_contiguous(), "value or cache is empty or not contiguous")
    require(positions, "value has positions outside of cache")


def within(start, value, cache):
    return 0 <= start and start + value.shape[1] <= cache.shape[1]


def update_cache(value, cache, start_pos):
    check_cache(value, cache, cache.dim() > 1 and value.dim() > 1 and within(start_pos, value, cache))
    LLAMA.update_cache(value, cache, start_pos)
    return torch.zeros(1, dtype=value.dtype)


def update_cache_with_indices(value, cache, start_pos, indices):
    check_cache(value, cache, True)
    require(indices.dtype == torch.int64 and indices.shape == value.shape[:2], "indices must be int64, one for each position")
    require(indices.is_contiguous(), "indices are not contiguous")
    require((indices >= 0).all() and (indices < cache.shape[1]).all(), "an index is outside of cache")
    LLAMA.update_cache_with_indices(value, cache, start_pos, indices)
    return torch.zeros(1, dtype=value.dtype)


def check_attention(query, keys, values, start, mask, is_causal, dtypes=ATTENTION_DTYPES):
    """Checks a query and the caches that it attends to."""
    require(query.dtype in dtypes and query.dtype == keys.dtype == values.dtype, f"query is {query.dtype}")
    require(query.dim() == keys.dim() == 4 and keys.shape == values.shape, "query, keys and values must be of rank 4")
    require(query.shape[0] == keys.shape[0] and query.shape[3] == keys.shape[3], "query and keys differ in batches or sizes of heads")
    require(query.numel() > 0 and keys.shape[2] > 0 and query.shape[2] % keys.shape[2] == 0, "heads do not divide")
    require(within(start, query, keys), "query has positions beyond the keys")
    shape = (query.shape[1], keys.shape[1])
    require(mask is None or (mask.dtype == torch.float32 and mask.shape == shape and not is_causal), "attn_mask does not fit")


def custom_sdpa(query, key, value, start_pos, attn_mask, drpout_p, is_causal, scale):
    check_attention(query, key, value, start_pos, attn_mask, is_causal)
    return LLAMA.custom_sdpa(query, key, value, start_pos, attn_mask, drpout_p, is_causal, scale)


def custom_quantized_sdpa(query, key, value, start_pos, attn_mask, drpout_p, is_causal, scale, is_seq_at_dim_2, **parameters):
    """`parameters`: the zero points and scales of each, in the schema's order."""
    codes = (query, key, value)
    require(all(t.dim() == 4 for t in codes), "query, key and value must be of rank 4")
    positions_first = [t.transpose(1, 2) if is_seq_at_dim_2 else t for t in codes]
    check_attention(*positions_first, start_pos, attn_mask, is_causal, (torch.int8,))
    given = list(parameters.values())
    for rows, zero_points, scales in zip(codes, given[::2], given[1::2]):
        require(zero_points is not None and scales is not None, "a scale or zero point is None")
        require(zero_points.dtype == torch.int8 and scales.dtype == torch.float32, "a scale or zero point has another dtype")
        require(zero_points.shape == scales.shape == (*rows.shape[:3], 1), "a row has no scale or zero point of its own")
    return LLAMA.custom_quantized_sdpa(*codes, start_pos, attn_mask, drpout_p, is_causal, scale, *given, is_seq_at_dim_2)


def sdpa_with_kv_cache(query, key, value, key_cache, value_cache, start_pos, seq_len, attn_mask, drpout_p, is_causal, scale):
    check_attention(query, key_cache, value_cache, start_pos, attn_mask, is_causal)
    require(key.dtype == value.dtype == query.dtype, "key and value must have the dtype of query")
    heads = (*query.shape[:2], *key_cache.shape[2:])
    require(key.shape == value.shape == heads, "key and value must have a position for each of query")
    require(all(t.is_contiguous() for t in (key, value, key_cache, value_cache)), "keys, values or caches are not contiguous")
    arguments = (query, key, value, key_cache, value_cache, start_pos, seq_len, attn_mask, drpout_p, is_causal, scale)
    return LLAMA.sdpa_with_kv_cache(*arguments)


def fast_hadamard_transform(mat):
    require(mat.dim() > 0 and mat.dtype in (torch.float16, torch.float32, torch.float64), f"mat is {mat.dtype}, of rank {mat.dim()}")
    rows = mat.shape[-1] // 28 if mat.shape[-1] % 28 == 0 else mat.shape[-1]
    require(rows & (rows - 1) == 0, f"there is no matrix of {mat.shape[-1]} rows")
    return LLAMA.fast_hadamard_transform(mat)


CHECKED = {
    f"llama::{f.__name__}": f
    for f in (update_cache, update_cache_with_indices, custom_sdpa, custom_quantized_sdpa, sdpa_with_kv_cache, fast_hadamard_transform)
}
