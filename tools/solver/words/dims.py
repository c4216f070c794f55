"""Rules of dimensions and positions."""
from formulas import all_of, any_of, choose
from values import wrap


def in_rank(dim, rank):
    return all_of(dim >= -rank, dim < rank)


def is_dim(dim, tensor):
    return in_rank(dim, max(tensor.rank, 1))


def distinct(dims, rank):
    places = [wrap(d, rank) for d in dims]
    return all_of(*(places[i] != places[j] for j in range(len(places)) for i in range(j)))


def are_dims(dims, tensor):
    return all_of(*(is_dim(d, tensor) for d in dims), distinct(dims, tensor.rank))


def each_is_dim(dims, tensor):
    return all_of(*(tensor.rank > 0 and is_dim(d, tensor) for d in dims))


def is_new_dim(dim, tensor):
    return in_rank(dim, (tensor[0] if isinstance(tensor, list) else tensor).rank + 1)


def is_permutation(dims, tensor):
    return len(dims) == tensor.rank and are_dims(dims, tensor)


def is_index(n, tensor, dim):
    return in_rank(n, tensor.along(dim))


def at_most_size(n, tensor, dim):
    return all_of(n >= 0, n <= tensor.along(dim))


def is_start(n, tensor, dim):
    return all_of(n >= -tensor.along(dim), n <= tensor.along(dim))


def is_length_from(n, start, tensor, dim):
    return all_of(n >= 0, n <= choose(start < 0, -start, tensor.along(dim) - start))


def distinct_dims(a, b, tensor):
    return distinct([a, b], tensor.rank)


def nonzero_unless_empty(n, tensor, dim):
    return any_of(n != 0, tensor.along(dim) == 0)
