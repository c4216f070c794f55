"""Words of the section Sizes of spec/rules.md: sizes that indices, masks and counts give."""
from dataclasses import dataclass

import formulas
from dtypes import NUMBERS, member
from formulas import Meaningless, all_of, any_of, choose, in_int64, known, maximum, no, quotient, require
from shapes import as_size, broadcast, broadcast_sizes, changed, saturated

@dataclass
class Indexed:
    block: list  # the sizes to which the indices broadcast
    first: int   # the position of the block in the result
    sizes: list
    whole: list  # the dimensions that no index takes


MASKS = frozenset({NUMBERS["bool"], NUMBERS["uint8"]})


def is_mask(index):
    masks = member(index.dtype, MASKS)
    return masks if known(masks) else index.marks


def indexed_sizes(indices, tensor_sizes, required=False):
    """Assumes that the indices broadcast, unless a rule requires it (`required`)."""
    along = []
    for index in indices:
        if index is not None and is_mask(index):
            along += [[index.set()]] * index.rank
        else:
            along.append(None if index is None else index.sizes)
    if len(along) > len(tensor_sizes):
        raise Meaningless
    along += [None] * (len(tensor_sizes) - len(along))
    block = broadcast_sizes(*(a for a in along if a is not None), required=required)
    taken, whole = ([d for d, a in enumerate(along) if (a is None) == free] for free in (False, True))
    first = taken[0] if taken and taken[-1] - taken[0] == len(taken) - 1 else 0
    result = [tensor_sizes[d] for d in whole]
    return Indexed(block, first, result[:first] + block + result[first:], whole)


def indexed(tensor, indices):
    return indexed_sizes(indices, tensor.sizes).sizes


def index_selected(tensor, dim, index):
    return changed(tensor.sizes, dim, index.count)


def embedded(weight, indices, codes=1):
    return [*indices.sizes, as_size(weight.sizes[1], codes)]


def nonzero(tensor):
    return [tensor.set(), tensor.rank]


def marked(tensor, mask):
    sizes = broadcast(tensor, mask)
    if known(mask.empty) and mask.empty:
        return 0
    return choose(mask.empty, 0, mask.set() * quotient(saturated(formulas.product(sizes)), maximum(mask.count, 1)))


def selected_by(tensor, mask):
    return [marked(tensor, mask)]


def runs(tensor, dim):
    """The first element is in the first slice, and all others are equal."""
    n = tensor.count if dim is None else tensor.along(dim)
    return choose(n == 0, 0, choose(any_of(n == 1, tensor.first == tensor.rest), 1, 2))


def unique(tensor, dim):
    return [runs(tensor, dim)] if dim is None else changed(tensor.sizes, dim, runs(tensor, dim))


def leaves_out(tensor, flag, dim):
    flat = dim is None or all_of(dim == 0, tensor.rank == 1)
    return all_of(no(flag), flat)


def inverse_of_unique(tensor, return_inverse, dim):
    left_out = leaves_out(tensor, return_inverse, dim)
    if dim is not None:
        return [choose(left_out, 0, tensor.along(dim))]
    if not tensor.sizes and known(left_out) and not left_out:
        return []
    return [choose(left_out, 0, n) for n in tensor.sizes or [1]]


def counts_of_unique(tensor, return_counts, dim):
    return [choose(leaves_out(tensor, return_counts, dim), 0, runs(tensor, dim))]


def repeated_each(numbers):
    n = numbers.sum()
    require(all_of(in_int64(n), n >= 0))
    return [n]


def largest_of_bags(offsets, include_last, weight, mode):
    n = offsets.count - choose(include_last, 1, 0)
    return [n, weight.sizes[1]] if known(mode) and mode == 2 else [n]


def largest_or_sizes_of_bags(offsets, include_last, weight, mode):
    if known(mode) and mode == 2:
        return largest_of_bags(offsets, include_last, weight, mode)
    return [offsets.count - choose(all_of(include_last, mode != 0), 1, 0)]


def bag_of_each(indices, weight, mode, padding_idx):
    rows = any_of(weight.order == (0, 1), weight.sizes[0] == 1)
    fast = all_of(mode == 0, padding_idx < 0, weight.dtype != NUMBERS["float64"], rows)
    return [choose(fast, 0, indices.count)]
