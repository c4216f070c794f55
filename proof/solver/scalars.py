"""Conversions of Scalars to dtypes."""
from dtypes import (BOOL, BYTES, COMPLEX, FLOATING, INTEGER, NUMBERS, OPAQUE, UNSIGNED, largest, largest_integer,
                    least_integer)
from formulas import all_of, any_of, choose, known, no, remainder
from values import Scalar
import values


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


def negated(scalar):
    """Minus the Scalar: a bool stays, and the least integer wraps."""
    stays = any_of(scalar.kind == values.BOOL, all_of(scalar.kind == values.INT, scalar.twice == -2**64))
    infinite = choose(scalar.special == values.MINUS_INFINITE, values.INFINITE, scalar.special)
    opposite = choose(scalar.special == values.INFINITE, values.MINUS_INFINITE, infinite)
    return Scalar(scalar.kind, choose(stays, scalar.twice, -scalar.twice), opposite)


def zero_in(scalar, dtype):
    """Whether a Scalar is 0 in an integer dtype or bool, in which it wraps."""
    wraps = any_of(*(all_of(dtype == d, remainder(scalar.truncated(), 2 ** (8 * BYTES[d])) == 0) for d in INTEGER))
    return any_of(wraps, all_of(dtype == BOOL, scalar.truncated() == 0))
