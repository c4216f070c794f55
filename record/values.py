"""Element values: random ones and the special ones of each dtype."""

import math

import torch

# Where functions of the operator set change branch, lose accuracy or leave a type's range.
FLOAT_TROUBLE = [
    0.5, 1.5, 2.5, 3.5, -0.5, -1.5, -2.5, -0.3, 0.3, 1.0, -1.0, 2.0, -2.0, 3.0, -3.0, 0.1, -0.1, 1e-5, -1e-5,
    1e-3, 7.0, -7.0, math.pi / 2, math.pi, -math.pi, 10.0, -10.0, 11.1, 12.5, -17.5, 20.0, 21.0, 88.7, -88.7, 89.0,
    -89.0, -104.0, 100.5, 300.7, -300.7, 709.8, -746.0, 1000.0, 2049.0, 32767.5, 65504.0, 65519.0, 65520.0, 1e5,
    -1e5, 2147483647.0, 2147483648.0, 4294967301.0, -3e9, 1e10, 9.3e18, -9.3e18, 1.9e19, 1e30, 3e38, 1e-38, 1e-30,
]  # fmt: skip
INT_TROUBLE = [0, 1, -1, 2, -2, 3, -3, 7, -7, 8, 10, 15, 16, 31, 32, 63, 64, 100, -100, 127, 255, 256, 2049, 65520,
               2**24 + 1, 2**31 - 1, 2**53 + 1]  # fmt: skip


def special(dtype):
    """Every special value of a dtype, as a 1-d tensor."""
    if dtype == torch.bool:
        return torch.tensor([False, True])
    if dtype.is_complex:
        return _special_complex(dtype)
    if dtype.is_floating_point:
        return _special_floats(dtype)
    limits = torch.iinfo(dtype)
    wanted = [limits.min, limits.min + 1, limits.max, limits.max - 1] + INT_TROUBLE
    return torch.tensor([v for v in dict.fromkeys(wanted) if limits.min <= v <= limits.max], dtype=dtype)


def _special_floats(dtype):
    limits = torch.finfo(dtype)
    subnormal = limits.smallest_normal * limits.eps
    edges = [
        math.nan, math.inf, -math.inf, 0.0, -0.0, limits.max, limits.min, limits.smallest_normal,
        -limits.smallest_normal, limits.smallest_normal - subnormal, subnormal, -subnormal, 3 * subnormal,
        1 + limits.eps, 1 - limits.eps / 2, -1 + limits.eps / 2, -1 - limits.eps,
    ]  # fmt: skip
    values = torch.tensor(edges + FLOAT_TROUBLE, dtype=torch.float64).to(dtype)
    numbers = list(dict.fromkeys(repr(v) for v in values.tolist()))
    return torch.tensor([float(n) for n in numbers], dtype=torch.float64).to(dtype)


def _special_complex(dtype):
    """Pairs of a few numbers, and each special number once as either part."""
    component = dtype.to_real()
    numbers, parts = _special_floats(component), torch.tensor(grid_values(component)[:12], dtype=component)
    pairs = [torch.cartesian_prod(parts, parts)]
    pairs += [torch.stack([numbers, numbers.roll(k)], 1) for k in (7, 20)]
    return torch.cat(pairs).reshape(-1).view(dtype)


def grid_values(dtype):
    """A short list of special values; all pairs of them are recorded."""
    if dtype == torch.bool:
        return [False, True]
    if dtype.is_complex:
        top = torch.finfo(dtype).max
        tiny = torch.finfo(dtype).smallest_normal
        return [
            0, 1, -1, 1j, -1j, 2 + 3j, -0.5 + 0.1j, complex(0.0, -0.0), complex(math.nan, 1), complex(2, math.nan),
            complex(math.inf, 0), complex(-math.inf, math.inf), complex(1, -math.inf), complex(top, 1), complex(-top, top),
            complex(tiny, -tiny), complex(math.inf, math.nan),
        ]  # fmt: skip
    if dtype.is_floating_point:
        top = torch.finfo(dtype).max
        tiny = torch.finfo(dtype).smallest_normal * torch.finfo(dtype).eps
        return [math.nan, math.inf, -math.inf, 0.0, -0.0, 1.0, -1.0, 0.5, 2.0, -3.0, 2.5, 0.1, 6.0, tiny, top, -top]
    limits = torch.iinfo(dtype)
    wanted = [limits.min, limits.max, 0, 1, -1, 2, -2, 3, 7, -7, 8, 31, 63, 100]
    return [v for v in dict.fromkeys(wanted) if limits.min <= v <= limits.max]


def random(shape, dtype, generator, low=None, high=None):
    """Random elements: normal with deviation 3 for floats and both parts of complex numbers, small integers, or uniform
    in [low, high)."""
    if dtype.is_complex:
        parts = random((*shape, 2), torch.float64, generator, low, high)
        return torch.view_as_complex(parts).to(dtype)
    if dtype.is_floating_point:
        if low is None:
            return (torch.randn(shape, generator=generator, dtype=torch.float64) * 3).to(dtype)
        span = torch.rand(shape, generator=generator, dtype=torch.float64)
        return (low + span * (high - low)).to(dtype)
    if dtype == torch.bool:
        return torch.randint(0, 2, shape, generator=generator).to(dtype)
    signed = torch.iinfo(dtype).min < 0
    low = (-9 if signed else 0) if low is None else low
    high = 10 if high is None else high
    return torch.randint(int(low), max(int(high), int(low) + 1), shape, generator=generator).to(dtype)


def random_special(shape, dtype, generator):
    """Elements drawn from the special values."""
    choices = special(dtype)
    index = torch.randint(0, len(choices), shape, generator=generator)
    # PyTorch cannot index unsigned types wider than a byte, so their bytes are indexed.
    return choices.view(torch.uint8).reshape(len(choices), -1)[index].view(dtype).reshape(shape)
