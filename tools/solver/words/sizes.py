"""Rules of ranks and sizes."""
from dtypes import NUMBERS
from formulas import Meaningless, all_of, any_of, choose, divisible, equal, no, pick, product, remainder
from shapes import expands
from shapes import product as matrix_product


def rank_is(tensor, n):
    return tensor.rank == n


def rank_at_least(tensor, n):
    return tensor.rank >= n


def rank_at_most(tensor, n):
    return tensor.rank <= n


def rank_between(tensor, least, most):
    return least <= tensor.rank <= most


def each_rank_at_least(tensors, n):
    return all(t.rank >= n for t in tensors)


def same_rank(a, b):
    return a.rank == b.rank


def same_sizes(a, b):
    return equal(a.sizes, b.sizes)


def all_same_sizes(tensors):
    return all_of(*(equal(t.sizes, tensors[0].sizes) for t in tensors))


def sizes_are(tensor, sizes):
    return equal(tensor.sizes, sizes)


def sizes_equal(a, i, b, j):
    return a.sizes[i] == b.sizes[j]


def sizes_within(a, *rest):
    *dim, b = rest
    if max(a.rank, 1) != max(b.rank, 1):
        return False
    return all_of(*(any_of(*(any_of(d == k, d == k - max(b.rank, 1)) for d in dim), a.along(k) <= b.along(k)) for k in range(max(a.rank, 1))))


def sizes_from_at_least(tensor, i, n):
    first = i + tensor.rank if i < 0 else i
    if first < 0:
        raise Meaningless
    return all_of(*(size >= n for size in tensor.sizes[first:]))


def size_is(tensor, i, n):
    return tensor.along(i) == n


def size_at_least(tensor, i, n):
    return tensor.sizes[i] >= n


def last_size_at_least(tensor, n):
    return tensor.along(-1) >= n


def not_empty(tensor):
    return no(tensor.empty)


def one_element(tensor):
    return all_of(*(n == 1 for n in tensor.sizes))


def has_elements(tensor, *factors):
    return all_of(*(n >= 0 for n in factors), tensor.count == product(factors))


def count_is_size(a, b, i):
    return a.count == b.sizes[i]


def one_or_as_many(a, b):
    return any_of(one_element(a), a.count == b.count)


def positions_within(start, value, cache, i):
    return all_of(start >= 0, start + value.sizes[i] <= cache.sizes[i])


def quantizes_rows(scales, zero_points, codes):
    def is_row(parameter, dtype):
        return parameter is not None and all_of(parameter.dtype == NUMBERS[dtype], equal(parameter.sizes, [*codes.sizes[:-1], 1]))
    return all_of(is_row(scales, "float32"), is_row(zero_points, "int8"))


def divides_size(a, i, b, j):
    return divisible(b.sizes[j], a.sizes[i])


def has_hadamard_matrix(tensor):
    n = tensor.sizes[-1]
    powers = [2**k for k in range(63)]
    return any_of(n == 0, *(n == p for p in powers), *(n == 28 * p for p in powers[:58]))


def groups_fit(scales, weight, codes):
    columns = weight.sizes[1] * codes
    if scales.rank != 2:
        return columns > 1
    groups = scales.sizes[1]
    return all_of(divisible(columns, groups), columns >= 2 * groups)


def one_for_each_column(bias, tensor, weight):
    if weight.rank == 1:
        return bias.rank == 0 and tensor.rank != 2
    return bias.rank <= 2 and expands(bias.sizes, [1, weight.sizes[0]])


def one_for_each_row(a, b):
    return a.count == product(b.sizes[:-1])


def nonzero_along(tensor, dim):
    if dim is None or isinstance(dim, list) and not dim:
        return not_empty(tensor)
    if tensor.rank == 0:
        return True
    return all_of(*(pick(tensor.sizes, d) > 0 for d in (dim if isinstance(dim, list) else [dim])))


def maybe_batch(tensor, n):
    return n <= tensor.rank <= n + 1 and all_of(*(size != 0 for size in tensor.sizes[tensor.rank - n:]))


def ends_with(tensor, sizes):
    return len(sizes) <= tensor.rank and equal(tensor.sizes[tensor.rank - len(sizes):], sizes)


def vector_of(tensor, n):
    return equal(tensor.sizes, [n])


def sizes_equal_up_to(a, b, i):
    return a.rank == b.rank and equal(a.sizes[:i], b.sizes[:i])


def row_for_each(rows, tensor):
    return rows.rank > 0 and rows.count == tensor.count * rows.sizes[-1]


def statistics_of(tensor, normalised, normalized_shape):
    if len(normalized_shape) > normalised.rank:
        raise Meaningless
    return tensor.count == product(normalised.sizes[:normalised.rank - len(normalized_shape)])


def per_channel(vector, tensor):
    return vector.rank == 1 and vector.sizes[0] == tensor.sizes[1]


def broadcasts_to(tensor, to):
    return expands(tensor.sizes, to.sizes)


def expands_to_product(tensor, a, b):
    wanted = matrix_product(a, b)
    return expands(tensor.sizes, wanted)


def even_along(tensor, dim):
    return remainder(tensor.along(dim), 2) == 0


def square_divides(n, tensor, i):
    return remainder(tensor.along(i), n * n) == 0


def divides(divisor, n, *dim):
    if not dim:
        return divisible(n, divisor)
    return all_of(divisor != 0, remainder(n.sizes[dim[0]], choose(divisor != 0, divisor, 1)) == 0)
