"""Rules of integers and lists that are computations."""
from dtypes import BOOL, FLOATING, NUMBERS, PRECISIONS, integer_limits, largest_integer, least_integer, member
from formulas import all_of, any_of, in_int64, no, product
from shapes import first_counted, is_nothing, viewed
from values import wrap


def counts_to(n, dtype, dtypes):
    def holds(d):
        return n - 1 <= (2 ** PRECISIONS[d] if d in FLOATING else largest_integer(d))
    return any_of(no(member(dtype, dtypes)), *(all_of(dtype == d, holds(d)) for d in dtypes))


def in_range_of(n, tensor):
    def holds(d):
        return d == NUMBERS["uint64"] or all_of(n >= least_integer(d), n <= largest_integer(d))
    return any_of(integer_limits(tensor.dtype, holds), all_of(tensor.dtype == BOOL, n >= 0, n <= 1))


def sums_to_size(numbers, tensor, dim):
    return sum(numbers) == tensor.along(dim)


def is_view(size, tensor):
    view = viewed(tensor, size)
    return all_of(*(n >= 0 for n in view), product(view) == tensor.count)


def strides_within(tensor, size, stride, offset):
    last, exact = 0 if offset is None else offset, True
    for n, step in zip(size, stride):
        last += (n - 1) * step
        exact = all_of(exact, in_int64((n - 1) * step), in_int64(last))
    return any_of(*(n == 0 for n in size), all_of(exact, last < tensor.count))


def pads_to_something(pad, tensor):
    def leaves(n, before, after):
        return all_of(in_int64(n + before), in_int64(n + before + after), n + before + after >= 1)
    return any_of(*(leaves(*sizes) for sizes in zip(reversed(tensor.sizes), pad[::2], pad[1::2])))


def concatenable(tensors, dim):
    def joins(t, first):
        if t.rank != first.rank:
            return False
        return all_of(*(any_of(a == b, wrap(dim, t.rank) == d) for d, (a, b) in enumerate(zip(t.sizes, first.sizes))))

    def all_join(first):
        rank = max(first.rank, 1)
        return all_of(dim >= -rank, dim < rank, *(any_of(is_nothing(t), joins(t, first)) for t in tensors))

    return all_of(*(any_of(no(is_first), all_join(first)) for is_first, first in first_counted(tensors)))
