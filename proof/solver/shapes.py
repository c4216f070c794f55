"""Words of the section Sizes of spec/rules.md that are computations. A result that lacks dimensions, where it is open which,
keeps their places with size 1."""
import math

import formulas
from dtypes import BYTES, NUMBERS, fact
from formulas import Meaningless, all_of, any_of, ask, choose, clamp, in_int64, known, maximum, minimum, no, pick, quotient, require, unguarded, wrapped
from promotion import named
from values import Tensor, half, wrap


def as_size(a, b, c=0):
    """a * b + c as a size."""
    n = a * b + c
    require(all_of(in_int64(n), n >= 0))
    return n


def saturated(n):
    """A number of elements; 2^56 means 2^56 or more."""
    return minimum(n, 2**56)


# -- broadcasting -----------------------------------------------------------------------------------------------------


def broadcast_sizes(*operands, required=True):
    sizes = [1] * max(map(len, operands), default=0)
    for operand in operands:
        lead = len(sizes) - len(operand)
        for d, n in enumerate(operand):
            mine = sizes[lead + d]
            if required:
                require(any_of(n == mine, n == 1, mine == 1))
            sizes[lead + d] = choose(mine == 1, n, mine)
    return sizes


def broadcast(*tensors):
    return broadcast_sizes(*(t.sizes for t in tensors if t is not None))


def expands(sizes, to):
    lead = len(to) - len(sizes)
    return lead >= 0 and all_of(*(any_of(n == 1, n == wanted) for n, wanted in zip(sizes, to[lead:])))


# -- as they say --------------------------------------------------------------------------------------------------------


def sizes(numbers):
    require(all_of(*(n >= 0 for n in numbers)))
    return list(numbers)


# -- dimensions that go ---------------------------------------------------------------------------------------------------


def dims(tensor, dim=None):
    if dim is None or isinstance(dim, list) and not dim:
        return list(range(tensor.rank))
    named_dims = dim if isinstance(dim, list) else [dim]
    return [wrap(d, tensor.rank) for d in named_dims] if tensor.rank > 0 else []


def named_dims(tensor, dim):
    return [] if dim is not None and not dim else dims(tensor, dim)


def without(tensor, gone, keepdim=False):
    """The sizes without dimensions; where it is open whether a dimension goes, it stays with size 1."""
    left = [(any_of(*(d == g for g in gone)), n) for d, n in enumerate(tensor.sizes)]
    keeps = not known(keepdim) or keepdim or not all(known(is_gone) for is_gone, _ in left)
    return [choose(is_gone, 1, n) for is_gone, n in left if keeps or is_gone is not True]


# -- movement -------------------------------------------------------------------------------------------------------------


def permuted(tensor, order):
    return [pick(tensor.sizes, d) for d in order]


def changed(sizes, dim, n):
    """The sizes with n along a dimension."""
    return [choose(wrap(dim, len(sizes)) == d, n, old) for d, old in enumerate(sizes)]


def transposed(tensor, dim0=None, dim1=None):
    if dim0 is None:
        return tensor.sizes[::-1]
    return changed(changed(tensor.sizes, dim0, tensor.along(dim1)), dim1, tensor.along(dim0))


def inserted(sizes, dim, n):
    at, rank = wrap(dim, len(sizes) + 1), len(sizes)
    return [choose(at == d, n, choose(at < d, sizes[d - 1] if d > 0 else n, sizes[d] if d < rank else n)) for d in range(rank + 1)]


def unsqueezed(tensor, dim):
    return inserted(tensor.sizes, dim, 1)


def squeezed(tensor, dim):
    places = [wrap(d, tensor.rank) for d in (dim if isinstance(dim, list) else [dim])]
    gone = [all_of(n == 1, any_of(*(p == d for p in places))) for d, n in enumerate(tensor.sizes)]
    return [n for n, is_gone in zip(tensor.sizes, gone) if is_gone is not True]


def expanded(tensor, size):
    lead = len(size) - tensor.rank
    return [n if d < lead else choose(n == -1, tensor.sizes[d - lead], n) for d, n in enumerate(size)]


def viewed(tensor, size):
    view = list(size)
    for k, n in enumerate(size):
        others = [m for i, m in enumerate(size) if i != k]
        others_are_sizes = all_of(*(m > 0 for m in others))
        if known(others_are_sizes) and not others_are_sizes:
            continue
        count = formulas.product(others)
        view[k] = choose(all_of(n == -1, others_are_sizes), quotient(tensor.count, choose(others_are_sizes, count, 1)), n)
    return view


def reinterpreted(tensor, dtype):
    if tensor.rank == 0:
        return []
    width, last = fact(tensor.dtype, BYTES), tensor.sizes[-1]
    for wanted in set(BYTES.values()):
        last = choose(fact(named(dtype), BYTES) == wanted, quotient(tensor.sizes[-1] * width, wanted), last)
    return [*tensor.sizes[:-1], as_size(last, 1)]


def with_parts(tensor):
    return [*tensor.sizes, 2]


def without_parts(tensor):
    return tensor.sizes[:-1]


def spectrum(tensor, dim, onesided):
    n = pick(tensor.sizes, dim[-1])
    return changed(tensor.sizes, dim[-1], choose(onesided, quotient(n, 2) + 1, n))


def from_half_spectrum(tensor, dim, n):
    return changed(tensor.sizes, dim[-1], n)


def repeated(tensor, numbers):
    lead = len(numbers) - tensor.rank
    if lead < 0:
        raise Meaningless
    return [*numbers[:lead], *(as_size(n, m) for n, m in zip(numbers[lead:], tensor.sizes))]


def padded(tensor, pad):
    result = list(tensor.sizes)
    for k in range(len(pad) // 2):
        before, after = pad[2 * k], pad[2 * k + 1]
        result[-1 - k] = as_size(as_size(result[-1 - k], 1, maximum(before, after)), 1, minimum(before, after))
    return result


def slice_length(n, start, end, step):
    def inside(i):
        return clamp(choose(i < 0, i + n, i), 0, n)
    span = maximum(inside(n if end is None else end) - inside(0 if start is None else start), 0)
    return quotient(span, step) + choose(formulas.remainder(span, step) != 0, 1, 0)


def sliced(tensor, dim, start, end, step):
    return changed(tensor.sizes, dim, slice_length(tensor.along(dim), start, end, step))


def selected(tensor, dim):
    at = wrap(dim, tensor.rank)
    return [choose(at <= d, tensor.sizes[d + 1], tensor.sizes[d]) for d in range(tensor.rank - 1)]


def pixel_shuffled(tensor, factor):
    lead, (channels, height, width) = tensor.sizes[:-3], [tensor.sizes[d] for d in (-3, -2, -1)]
    return [*lead, quotient(channels, choose(factor > 0, unguarded(factor * factor), 1)), as_size(height, factor), as_size(width, factor)]


def pixel_unshuffled(tensor, factor):
    lead, (channels, height, width) = tensor.sizes[:-3], [tensor.sizes[d] for d in (-3, -2, -1)]
    if known(tensor.empty) and tensor.empty:
        return tensor.sizes
    positive = choose(factor > 0, factor, 1)
    n = channels * unguarded(factor * factor)
    require(any_of(tensor.empty, all_of(in_int64(n), n >= 0)))
    made = [n, quotient(height, positive), quotient(width, positive)]
    return [*lead, *(choose(tensor.empty, old, new) for old, new in zip((channels, height, width), made))]


def halved(tensor, dim):
    return changed(tensor.sizes, dim, quotient(tensor.along(dim), 2))


def diagonal(tensor, offset, dim1, dim2):
    rows, columns = tensor.along(dim1), tensor.along(dim2)
    length = choose(offset < 0, minimum(rows + offset, columns), choose(columns < offset, 0, minimum(rows, columns - offset)))
    return [*without(tensor, [wrap(dim1, tensor.rank), wrap(dim2, tensor.rank)]), maximum(length, 0)]


def unfolded(tensor, dimension, n, step):
    if tensor.rank == 0:
        return [n]
    if known(step) and step <= 0:
        raise Meaningless
    return [*changed(tensor.sizes, dimension, as_size(quotient(tensor.along(dimension) - n, choose(step > 0, step, 1)), 1, 1)), n]


def folded(columns, output_size, kernel_size):
    cells = saturated(formulas.product(kernel_size))
    return [*columns.sizes[:-2], quotient(columns.sizes[-2], cells if known(cells) else choose(cells > 0, cells, 1)), *output_size]


def resized(tensor, dim, n):
    if dim is None and n is None:
        raise Meaningless
    if isinstance(dim, list):  # output_size
        return with_last(tensor, dim)
    if isinstance(n, list):  # scale_factors
        return with_last(tensor, [scaled(old, factor) for old, factor in zip(tensor.sizes[tensor.rank - len(n):], n)])
    return changed(tensor.sizes, dim, n)


def scaled(n, factor):
    return half(n * factor.twice)


def with_last(tensor, last):
    if len(last) > tensor.rank:
        raise Meaningless
    return [*tensor.sizes[:tensor.rank - len(last)], *last]


def last_as_one(tensor):
    return [*tensor.sizes[:-1], 1] if tensor.sizes else []


def ones_at_end(tensor, last):
    return with_last(tensor, [1] * len(last))


# -- lists of tensors -----------------------------------------------------------------------------------------------------


def is_nothing(tensor):
    return tensor.rank == 1 and tensor.sizes[0] == 0


def first_counted(tensors):
    """(whether it is the first tensor that cat does not leave out, the tensor), for each tensor"""
    before = True
    for t in tensors:
        yield all_of(before, no(is_nothing(t))), t
        before = all_of(before, is_nothing(t))


def concatenated(tensors, dim):
    result = [0]
    for is_first, first in reversed(list(first_counted(tensors))):
        if is_first is False:
            continue
        along = 0
        for t in tensors:
            if t.rank == first.rank:
                along = along + choose(is_nothing(t), 0, t.along(dim))
        require(any_of(no(is_first), in_int64(along)))
        made = changed(first.sizes, dim, along)
        if is_first is True or len(made) != len(result):
            result = made
        else:
            result = [choose(is_first, a, b) for a, b in zip(made, result)]
    return result


def stacked(tensors, dim):
    return inserted(tensors[0].sizes, dim, len(tensors))


def split(tensor, n, dim):
    """The sizes of each piece."""
    if isinstance(n, list):
        return [changed(tensor.sizes, dim, piece) for piece in n]
    whole = tensor.along(dim)
    if not known(n, whole):
        return [changed(tensor.sizes, dim, minimum(n, whole))]
    return [changed(tensor.sizes, dim, min(n, whole - start)) for start in range(0, whole or 1, n or 1)]


def unbound(tensor, dim):
    n = tensor.along(dim)
    return [selected(tensor, dim)] * (n if known(n) else 1)


# -- ranges -----------------------------------------------------------------------------------------------------------------


def arange(start, end, step, dtype):
    is_int64 = dtype == NUMBERS["int64"]
    ways = [ask(way, start, end, step) for way in (counted, measured)]
    if known(is_int64):
        holds, n, _ = ways[0 if is_int64 else 1]
        if holds is None:
            raise Meaningless
        require(holds)
        return [n]
    (counts, n, _), (measures, m, _) = ways
    require(choose(is_int64, counts, measures))
    return [choose(is_int64, n, m)]


def counted(start, end, step):
    by, span = step.truncated(), wrapped(end.truncated() - start.truncated())
    reach = wrapped(span + wrapped(by - choose(by > 0, 1, -1)))
    n = choose(by > 0, quotient(reach, choose(by > 0, by, 1)), quotient(-reach, choose(by < 0, -by, 1)))
    if known(by, reach):
        if by == 0:
            raise Meaningless
        n = -(abs(reach) // abs(by)) if (reach < 0) != (by < 0) else abs(reach) // abs(by)
    require(all_of(in_int64(n), n >= 0))
    return n


def measured(start, end, step):
    """Computed in double where all is known."""
    def double(s):
        return {0: s.twice / 2, 1: math.nan, 2: math.inf, 3: -math.inf}[s.special]
    if known(*(x for s in (start, end, step) for x in (s.twice, s.special))):
        by = double(step)
        n = (double(end) - double(start)) / by if by else math.nan
        require(n <= 2**62)
        if n == -math.inf:
            raise Meaningless
        return math.ceil(n)
    span = end.order - start.order
    n = choose(step.order > 0, -quotient(-span, choose(step.order > 0, step.order, 1)), -quotient(span, choose(step.order < 0, -step.order, 1)))
    require(n <= 2**62)
    return choose(step.finite, n, 0)


# -- results that may not be asked for ---------------------------------------------------------------------------------------


def asked(output_mask, k, of):
    return optional(output_mask[k], sizes(of) if isinstance(of, list) else of.sizes if isinstance(of, Tensor) else [of])


def optional(flag, made):
    if known(flag):
        return made if flag else [0]
    return [choose(flag, n, 0) for n in made]


def asked_channels(flag, *rest):
    tensor = rest[-1]
    return optional(flag[rest[0]] if len(rest) == 2 else flag, [tensor.sizes[1]])


# -- rows, matrices, windows, channels -----------------------------------------------------------------------------------------


def distances(a, b):
    return [*broadcast_sizes(a.sizes[:-2], b.sizes[:-2]), a.sizes[-2], b.sizes[-2]]


def pairs(tensor):
    n = tensor.sizes[0]
    return [quotient(as_size(n, maximum(n - 1, 0)), 2)]


def linear(tensor, weight):
    if tensor.rank == 0:
        raise Meaningless
    return [*tensor.sizes[:-1], *(weight.sizes[:1] if weight.rank == 2 else [])]


def per_channel(tensor, channels, axis):
    n = channels.sizes[0]
    return broadcast_sizes(tensor.sizes, [choose(wrap(axis, tensor.rank) == d, n, 1) for d in range(tensor.rank)])
