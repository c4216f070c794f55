"""Rules of index lists and data. A tensor has two numbers: its first element, and the number that all others are."""
from dtypes import BOOL, INTEGER, member
from formulas import all_of, any_of, choose, equal, no
from indexing import indexed_sizes, is_mask, marked
from scalars import zero_in
from values import Scalar


def taken(index):
    return index.rank if index is not None and is_mask(index) else 1


def index_count(indices, tensor):
    return sum(taken(index) for index in indices) <= tensor.rank


def takes_dims(indices):
    return any(index is not None and taken(index) > 0 for index in indices)


def masks_fit(indices, tensor):
    fits, at = True, 0
    for index in indices:
        if index is not None and is_mask(index):
            fits = all_of(fits, equal(index.sizes, tensor.sizes[at:at + index.rank]))
        at += taken(index)
    return fits


def indices_broadcast(indices, tensor):
    indexed_sizes(indices, tensor.sizes, required=True)
    return True


def indices_within(index, tensor, dim=None):
    if dim is not None:
        return index.each(lambda i: all_of(i >= 0, i < tensor.along(dim)))
    result, at, within = indexed_sizes(index, tensor.sizes).sizes, 0, True
    for one in index:
        if one is not None and not is_mask(one):
            n = tensor.sizes[at]
            nothing = all_of(n > 0, any_of(*(size == 0 for size in result)))
            within = all_of(within, any_of(nothing, one.each(lambda i, n=n: all_of(i >= -n, i < n))))
        at += taken(one)
    return within


def places_within(indices, tensor):
    plane = tensor.sizes[-2] * tensor.sizes[-1]
    return indices.each(lambda i: all_of(i >= 0, i < plane))


def no_zero(divisor, common):
    whole = member(common, INTEGER | {BOOL})
    zero_free = no(zero_in(divisor, common)) if isinstance(divisor, Scalar) else nonzero(divisor)
    return any_of(no(whole), zero_free)


def bags_cover(offsets, indices, include_last):
    end, n = indices.count, offsets.count
    covers = all_of(offsets.first == 0, any_of(n == 1, offsets.rest >= 0))
    last = choose(n == 1, offsets.first, offsets.rest)
    none = any_of(include_last, end == 0)  # without offsets there is no last one to include; the rule not_empty refuses that
    return choose(n == 0, none, all_of(covers, choose(include_last, last == end, last <= end)))


def nonzero(tensor):
    return tensor.each(lambda n: n != 0)


def none_negative(tensor):
    return tensor.each(lambda n: n >= 0)


def source_suffices(source, tensor, mask):
    return source.count >= marked(tensor, mask)
