"""When a rule is not asked."""
from dtypes import HALF, is_complex, is_floating, member
from formulas import all_of, any_of, choose, equal, maximum, no, or_else
from indexing import is_mask
from shapes import distances, linear, product, sampled, with_last
from values import wrap
import values


def no_element(sizes):
    return any_of(*(n == 0 for n in sizes))


def one_of(scalar, *literals):
    def is_literal(literal):
        if isinstance(literal, bool):
            return all_of(scalar.kind == values.BOOL, scalar.twice == 2 * literal)
        return all_of(scalar.kind != values.BOOL, scalar.equals(literal))
    return any_of(*(is_literal(literal) for literal in literals))


def any_none(*arguments):
    return any(a is None for a in arguments)


def given(argument):
    return argument is not None


def absent(argument):
    return argument is None


def empty(argument):
    return not argument if isinstance(argument, list) else argument.empty


def scalar(tensor):
    return tensor.rank == 0


def trivial(tensor):
    return any_of(tensor.empty, scalar(tensor))


def flag_is(flag, value):
    return flag == value


def all_ones(numbers, value):
    return all_of(*(n == 1 for n in numbers)) == value


def rank_at_least(tensor, n):
    return tensor.rank >= n


def none_positive(numbers):
    return all_of(*(n <= 0 for n in numbers))


def complex(tensor):
    return is_complex(tensor.dtype)


def floating(tensor):
    return is_floating(tensor.dtype)


def is_nan(argument):
    return argument is not None and argument.nan


def half(dtype):
    return member(dtype, HALF)


def one_half(size, dtype):
    sizes = size if isinstance(size, list) else size.sizes
    return all_of(half(dtype), *(n == 1 for n in sizes))


def keeps_innermost(dims, tensor):
    keeps = True
    for d in tensor.order:  # the innermost last: it decides where its size is not 1
        named = any_of(*(wrap(dim, tensor.rank) == d for dim in dims))
        keeps = choose(tensor.sizes[d] == 1, keeps, no(named))
    return any_of(tensor.empty, all_of(*(n == 1 for n in tensor.sizes)), keeps)


def fills_mask(values, indices, accumulate):
    given_ones = [index for index in indices if index is not None]
    masked = len(given_ones) == 1 and is_mask(given_ones[0])
    return all_of(no(accumulate), masked, *(n == 1 for n in values.sizes))


def no_products(a, b):
    return any_of(a.empty, b.empty)


def products_or_nothing(a, b):
    return any_of(a.sizes[1] > 0, no_element(product(a, b)))


def multiplies_or_nothing(a, b, p=None, compute_mode=None):
    if p is None:
        return any_of(a.sizes[-1] > 0, no_element(linear(a, b)))
    many = maximum(a.sizes[-2], b.sizes[-2]) > 25
    by_products = all_of(p.equals(2), many if compute_mode is None else any_of(compute_mode == 1, all_of(compute_mode == 0, many)))
    return any_of(compares_nothing(a, b), by_products)


def makes_nothing(size):
    return no_element(size)


def drops_nothing(tensor, train):
    return any_of(tensor.empty, train is not None and no(train))


def no_batch(tensor):
    return any_of(tensor.sizes[0] == 0, tensor.sizes[1] == 0)


def dilated(dilation, transposed):
    return all_of(no(transposed), any_of(*(n != 1 for n in dilation)))


def plain_or_no_batch(tensor, transposed):
    return any_of(no(transposed), no_batch(tensor))


def plain_convolution(tensor, dilation, transposed):
    return all_of(plain_or_no_batch(tensor, transposed), any_of(no_batch(tensor), no(dilated(dilation, transposed))))


def keeps_sizes(tensor, output_size):
    return equal(with_last(tensor, output_size), tensor.sizes)


def samples_nothing(tensor, grid):
    return no_element(sampled(tensor, grid))


def compares_nothing(tensor, *other):
    if not other:
        return any_of(tensor.sizes[0] < 2, tensor.sizes[1] == 0)
    (other,) = other
    if isinstance(other, values.Tensor):
        return or_else(tensor.sizes[-1] == 0, lambda: no_element(distances(tensor, other)))
    return any_of(tensor.empty, other is not None and tensor.rank > 0 and tensor.along(other) == 1)


def selects_nothing(tensor, mask):
    return any_of(tensor.empty, mask.set() == 0)


def names_no_row(indices, rows, without):
    return indices.each(lambda i: any_of(i < 0, i >= rows, i == without))


def pools_nothing(tensor, output_size):
    return any_of(tensor.empty, no_element(output_size))


def pools_nothing_or_all(tensor, output_size):
    return any_of(pools_nothing(tensor, output_size), all_ones(output_size, True))
