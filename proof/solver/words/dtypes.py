"""Rules of dtypes, Scalars and flags that are computations."""
from dtypes import INTEGER, largest_integer, least_integer, member
from formulas import all_of, any_of, no
from scalars import fits


def limit_fits(limit, dtype):
    def whole_fits(d):
        return all_of(limit.finite, limit.twice > 2 * least_integer(d) - 2, limit.twice < 2 * largest_integer(d) + 2)
    integer = any_of(*(all_of(dtype == d, whole_fits(d)) for d in INTEGER))
    return any_of(integer, all_of(no(member(dtype, INTEGER)), fits(limit, dtype)))


def any_given(*arguments):
    return any(a is not None for a in arguments)
