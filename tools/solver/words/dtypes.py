"""Rules of dtypes, Scalars and flags."""
from dtypes import (BOOL, BYTES, COMPLEX, COMPUTE, FLOATING, INTEGER, NUMBERS, OPAQUE, SETS, UNSIGNED, is_complex, is_floating, largest,
                    largest_integer, least_integer, mapped_dtype, member, of_higher_kind)
from formulas import all_of, any_of, choose, known, no, remainder
from promotion import named, of, promote
from values import Scalar
import values

FLOAT32, HALF = NUMBERS["float32"], SETS["half"]


def dtype_of(tensor, dtypes):
    tensors = tensor if isinstance(tensor, list) else [tensor]
    return all_of(*(member(t.dtype, dtypes) for t in tensors if t is not None))


def computes_in(dtype, dtypes):
    return member(dtype, dtypes)


def stays_complex(tensor, dtype):
    return any_of(no(is_complex(tensor.dtype)), is_complex(dtype))


def same_dtype(a, b):
    return a.dtype == b.dtype


def same_dtype_or_float32(a, b):
    return any_of(a.dtype == b.dtype, all_of(member(a.dtype, HALF), b.dtype == FLOAT32))


def promote_to(a, b, dtypes):
    return member(promote(a.dtype, b.dtype), dtypes)


def has_dtype(tensor, dtype):
    return tensor.dtype == named(dtype)


def named_dtype_of(dtype, dtypes):
    return member(named(dtype), dtypes)


def fits(scalar, dtype):
    def within(least, most):
        return all_of(scalar.finite, scalar.twice >= 2 * least, scalar.twice <= 2 * most)

    def holds(d):
        if d in OPAQUE:
            return False
        if d == BOOL:
            return True
        if d in FLOATING | COMPLEX:
            return any_of(no(scalar.finite), within(-largest(d), largest(d)))
        if d in UNSIGNED:
            return any_of(within(0, largest_integer(d)), all_of(no(scalar.floating), within(-largest_integer(d), 0)))
        return within(least_integer(d), largest_integer(d))

    return any_of(*(all_of(dtype == d, holds(d)) for d in ([dtype] if known(dtype) else NUMBERS.values())))


def scalar_fits(scalar, dtype, dtypes=SETS["any"]):
    return any_of(no(member(dtype, dtypes)), fits(scalar, dtype))


def negated_scalar_fits(scalar, dtype):
    stays = any_of(scalar.kind == values.BOOL, all_of(scalar.kind == values.INT, scalar.twice == -2**64))  # the least integer wraps
    opposite = choose(scalar.special == values.INFINITE, values.MINUS_INFINITE, choose(scalar.special == values.MINUS_INFINITE, values.INFINITE, scalar.special))
    return fits(Scalar(scalar.kind, choose(stays, scalar.twice, -scalar.twice), opposite), dtype)


def scalar_computes(scalar, dtype):
    return fits(scalar, mapped_dtype(dtype, COMPUTE))


def scalar_is_number(scalar):
    return scalar.kind != values.BOOL


def scalar_is_bool(scalar):
    return scalar.kind == values.BOOL


def same_kind(a, b):
    return a.kind == b.kind


def has_integer(n):
    return any_of(no(n.floating), all_of(n.finite, n.twice >= -2**64, n.twice < 2**64))


def scalar_kind(scalar, dtype):
    return all_of(any_of(no(scalar.floating), is_floating(dtype), is_complex(dtype)), any_of(scalar.kind != values.BOOL, dtype == BOOL))


def scales_within(factor, dtype):
    return any_of(factor.equals(0), no(of_higher_kind(of(factor), dtype)))


def limit_fits(limit, dtype):
    def whole_fits(d):
        return all_of(limit.finite, limit.twice > 2 * least_integer(d) - 2, limit.twice < 2 * largest_integer(d) + 2)
    integer = any_of(*(all_of(dtype == d, whole_fits(d)) for d in INTEGER))
    return any_of(integer, all_of(no(member(dtype, INTEGER)), fits(limit, dtype)))


def no_negative_power(tensor, exponent):
    integers = all_of(member(tensor.dtype, INTEGER | {BOOL}), no(exponent.floating))
    return any_of(no(integers), exponent.compares(lambda twice: twice >= 0))


def moves(step, dtype):
    return all_of(step.compares(lambda twice: twice != 0), any_of(dtype != NUMBERS["int64"], step.truncated() != 0))


def is_finite(n):
    return n.finite


def reaches(start, end, step):
    ordered = all_of(no(start.nan), no(end.nan))
    up = step.compares(lambda twice: twice > 0)
    return all_of(ordered, choose(up, end.order >= start.order, end.order <= start.order))


def no_extreme_of_complex(reduce, tensor):
    return reduce not in ("amax", "amin") or no(is_complex(tensor.dtype))


def has_mean(reduce, tensor):
    return reduce != "mean" or member(tensor.dtype, SETS["number"] | SETS["complex"])


def flag_is(flag, value):
    return flag == value


def one_of(word, *words):
    return word in words


def asked_only_with(output_mask, k, tensor):
    return tensor is not None or no(output_mask[k])


def any_given(*arguments):
    return any(a is not None for a in arguments)


def exactly_one(a, b):
    return (a is None) != (b is None)


def is_given(argument):
    return argument is not None


def zero_in(scalar, dtype):
    """Whether a Scalar is 0 in an integer dtype or bool, in which it wraps."""
    wraps = any_of(*(all_of(dtype == d, remainder(scalar.truncated(), 2 ** (8 * BYTES[d])) == 0) for d in INTEGER))
    return any_of(wraps, all_of(dtype == BOOL, scalar.truncated() == 0))
