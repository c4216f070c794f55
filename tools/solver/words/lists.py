"""Rules of integers and lists."""
from dtypes import BOOL, FLOATING, NUMBERS, PRECISIONS, integer_limits, largest_integer, least_integer, member
from formulas import all_of, any_of, equal, in_int64, minimum, no, pick, product, quotient
from promotion import named
from shapes import expanded, expands, first_counted, is_nothing, selected, sliced, viewed
from values import Scalar, wrap
from words.dims import is_dim
from words.data import nonzero_elements


def at_least(n, k):
    return n.compares(lambda twice: twice >= 2 * k) if isinstance(n, Scalar) else n >= k


def between(n, least, most):
    if isinstance(n, Scalar):
        return n.compares(lambda twice: all_of(twice >= 2 * least, twice <= 2 * most))
    return all_of(n >= least, n <= most)


def each_at_least(numbers, k):
    return all_of(*(n >= k for n in numbers))


def each_between(numbers, least, most):
    return all_of(*(between(n, least, most) for n in numbers))


def nonzero(n):
    if isinstance(n, Scalar):
        return no(n.equals(0))
    return n != 0 if not hasattr(n, "sizes") else nonzero_elements(n)


def differs(n, k):
    return n != k


def differ(a, b):
    return a != b


def counts_to(n, dtype, dtypes):
    def holds(d):
        return n - 1 <= (2 ** PRECISIONS[d] if d in FLOATING else largest_integer(d))
    return any_of(no(member(dtype, dtypes)), *(all_of(dtype == d, holds(d)) for d in dtypes))


def ordered(a, b):
    return a <= b


def in_range_of(n, tensor):
    def holds(d):
        return d == NUMBERS["uint64"] or all_of(n >= least_integer(d), n <= largest_integer(d))
    return any_of(integer_limits(tensor.dtype, holds), all_of(tensor.dtype == BOOL, n >= 0, n <= 1))


def at_least_lowest(n, dtype):
    return integer_limits(named(dtype), lambda d: n >= least_integer(d))


def at_most_largest(n, dtype):
    return integer_limits(named(dtype), lambda d: n <= largest_integer(d))


def length_is(entries, n):
    return len(entries) == n


def length_at_least(entries, n):
    return len(entries) >= n


def length_at_most(entries, n):
    return len(entries) <= n


def length_between(entries, least, most):
    return least <= len(entries) <= most


def even_length(entries):
    return len(entries) % 2 == 0


def same_length_or_flat(entries, dims):
    return len(entries) == len(dims) or (len(entries) == 1 and not dims)


def sums_to_size(numbers, tensor, dim):
    return sum(numbers) == tensor.along(dim)


def is_half_spectrum(tensor, dim, n):
    return pick(tensor.sizes, dim[-1]) == quotient(n, 2) + 1


def is_expansion(size, tensor):
    wanted = expanded(tensor, size)
    return all_of(*(n >= 0 for n in wanted), expands(tensor.sizes, wanted))


def is_view(size, tensor):
    view = viewed(tensor, size)
    return all_of(*(n >= 0 for n in view), product(view) == tensor.count)


def repeats(numbers, tensor):
    lead = len(numbers) - tensor.rank
    if lead < 0:
        return False
    return all_of(*(n >= 0 for n in numbers[:lead]), *(any_of(n >= 0, size == 0) for n, size in zip(numbers[lead:], tensor.sizes)))


def crops_within(pad, tensor):
    def crops(n, before, after):
        return all_of(before >= -n, after >= -n - minimum(before, 0))
    pairs = list(zip(pad[::2], pad[1::2]))
    return len(pairs) <= tensor.rank and all_of(*(crops(n, *pair) for n, pair in zip(reversed(tensor.sizes), pairs)))


def fills_slice(src, tensor, dim, start, end, step):
    return equal(src.sizes, sliced(tensor, dim, start, end, step))


def fills_selection(src, tensor, dim):
    return equal(src.sizes, selected(tensor, dim))


def same_length(a, b):
    return len(a) == len(b)


def strides_within(tensor, size, stride, offset):
    last, exact = 0 if offset is None else offset, True
    for n, step in zip(size, stride):
        last += (n - 1) * step
        exact = all_of(exact, in_int64((n - 1) * step), in_int64(last))
    return any_of(*(n == 0 for n in size), all_of(exact, last < tensor.count))


def no_negative_stride(size, stride):
    return any_of(*(n == 0 for n in size), all_of(*(any_of(n == 1, step >= 0) for n, step in zip(size, stride))))


def pads_below_sizes(pad, tensor):
    return all_of(*(n < tensor.sizes[-1 - k // 2] for k, n in enumerate(pad)))


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
        return all_of(is_dim(dim, first), *(any_of(is_nothing(t), joins(t, first)) for t in tensors))

    return all_of(*(any_of(no(is_first), all_join(first)) for is_first, first in first_counted(tensors)))
