"""Conditions that are computations: when a rule is not asked."""
from formulas import all_of, any_of, choose, maximum, no
from indexing import is_mask
from values import wrap
import values


def one_of(scalar, *literals):
    def is_literal(literal):
        if isinstance(literal, bool):
            return all_of(scalar.kind == values.BOOL, scalar.twice == 2 * literal)
        return all_of(scalar.kind != values.BOOL, scalar.equals(literal))
    return any_of(*(is_literal(literal) for literal in literals))


def any_none(*arguments):
    return any(a is None for a in arguments)


def keeps_innermost(dims, tensor):
    keeps = True
    for d in tensor.order:  # outermost first: the last dimension whose size is not 1 decides
        named = any_of(*(wrap(dim, tensor.rank) == d for dim in dims))
        keeps = choose(tensor.sizes[d] == 1, keeps, no(named))
    return any_of(tensor.empty, all_of(*(n == 1 for n in tensor.sizes)), keeps)


def fills_mask(values, indices, accumulate):
    given_ones = [index for index in indices if index is not None]
    masked = len(given_ones) == 1 and is_mask(given_ones[0])
    return all_of(no(accumulate), masked, *(n == 1 for n in values.sizes))


def selects_nothing(tensor, mask):
    return any_of(tensor.empty, mask.set() == 0)


def names_no_row(indices, rows, without):
    return indices.each(lambda i: any_of(i < 0, i >= rows, i == without))


def by_products(a, b, p, compute_mode):
    """Whether PyTorch makes the distances between the rows of a and b of a matrix product."""
    many = maximum(a.sizes[-2], b.sizes[-2]) > 25
    return all_of(p.equals(2), many if compute_mode is None else any_of(compute_mode == 1, all_of(compute_mode == 0, many)))
