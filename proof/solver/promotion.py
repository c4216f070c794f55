"""Words of the section Dtypes of spec/rules.md that are computations."""
import functools

from dtypes import (ALL, BOOL, COMPLEX, COMPLEX_OF, HALF, NUMBERS, OPAQUE, PARTS, WIDE_UNSIGNED, choose_dtype, is_complex, is_floating,
                    mapped_dtype, member, of_higher_kind)
from formulas import all_of, any_of, known, no, require
from values import Scalar, Tensor
import values

FLOAT32, FLOAT64, INT16, INT32, INT64, UINT8 = (NUMBERS[n] for n in ("float32", "float64", "int16", "int32", "int64", "uint8"))


def meet(a, b):
    """(whether two dtypes have a common one, which)"""
    return meeting(a, b) if known(a, b) else meeting.__wrapped__(a, b)


@functools.cache
def meeting(a, b):
    wide = any_of(member(a, WIDE_UNSIGNED), member(b, WIDE_UNSIGNED))
    exists = any_of(a == b, all_of(no(member(a, OPAQUE)), no(member(b, OPAQUE)), any_of(no(wide), is_floating(a), is_floating(b))))
    becomes_complex = all_of(is_complex(a) != is_complex(b), any_of(is_floating(a), is_floating(b)))
    x, y = mapped_dtype(a, PARTS), mapped_dtype(b, PARTS)
    higher = choose_dtype(of_higher_kind(a, b), a, choose_dtype(of_higher_kind(b, a), b, wider(a, b)))
    return exists, choose_dtype(a == b, a, choose_dtype(becomes_complex, mapped_dtype(choose_dtype(x == y, x, wider(x, y)), COMPLEX_OF), higher))


def wider(a, b):
    """The common dtype of two different dtypes of one kind that have one."""
    halves = member(a, HALF), member(b, HALF)
    found = INT16  # of uint8 and int8
    for d in (INT16, INT32, INT64, FLOAT32, FLOAT64, *sorted(COMPLEX)):
        found = choose_dtype(any_of(a == d, b == d), d, found)
    return choose_dtype(all_of(*halves), FLOAT32, choose_dtype(halves[0], b, choose_dtype(halves[1], a, found)))


def raised(common, exists, dtype):
    """(common dtype, whether there is one) after one more dtype."""
    if common is None:
        return dtype, exists
    meets, both = meet(common, dtype)
    return both, all_of(exists, meets)


def of(scalar):
    return choose_dtype(scalar.floating, FLOAT32, choose_dtype(scalar.kind == values.BOOL, BOOL, INT64))


def promote(*operands):
    """The common dtype of tensors with dimensions, then scalar tensors, then Scalars. A category counts only where its dtype is of
    a higher kind than those of the categories before it."""
    classes, exists = [None, None, None], True
    for operand in flat(operands):
        k = 2 if isinstance(operand, Scalar) else 1 if isinstance(operand, Tensor) and operand.rank == 0 else 0
        dtype = of(operand) if k == 2 else operand.dtype if isinstance(operand, Tensor) else operand
        classes[k], exists = raised(classes[k], exists, dtype)
    common = None
    for next_class in classes:
        if next_class is None:
            continue
        if common is None:
            common = next_class
            continue
        joins = of_higher_kind(next_class, common)
        meets, both = meet(common, next_class)
        made_complex = choose_dtype(is_floating(common), mapped_dtype(common, COMPLEX_OF), next_class)
        exists = all_of(exists, any_of(no(joins), is_complex(next_class), meets))
        common = choose_dtype(joins, choose_dtype(is_complex(next_class), made_complex, both), common)
    require(exists)
    return FLOAT32 if common is None else common


def flat(operands):
    for operand in operands:
        if isinstance(operand, list):
            yield from flat(operand)
        elif operand is not None:
            yield operand


def dtype_in(tensor):
    return tensor.dtype if isinstance(tensor, Tensor) else tensor


def promote_floating(*operands):
    dtype = promote(*operands)
    return choose_dtype(any_of(is_floating(dtype), is_complex(dtype)), dtype, FLOAT32)


def first(*tensors):
    return next(t for t in tensors if t is not None).dtype


def part(tensor):
    return mapped_dtype(dtype_in(tensor), PARTS)


def complex(tensor):
    dtype = dtype_in(tensor)
    return choose_dtype(is_floating(dtype), mapped_dtype(dtype, COMPLEX_OF), dtype)


def unless_given_out(common, out, scalar, literal):
    if out is None:
        return common
    is_literal = all_of(scalar.kind != values.BOOL, scalar.equals(literal))
    return choose_dtype(all_of(is_literal, no(member(out.dtype, OPAQUE))), out.dtype, common)


def named(dtype, otherwise=None):
    if dtype is None:
        return otherwise
    require(is_dtype(dtype))
    return dtype


def is_dtype(number):
    return number in ALL if known(number) else any_of(*(number == d for d in sorted(ALL)))


def out_or_range(out, *scalars):
    return choose_dtype(any_of(*(s.floating for s in scalars)), FLOAT32, INT64) if out is None else out.dtype
