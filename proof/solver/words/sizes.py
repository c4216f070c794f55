"""Rules of ranks and sizes that are computations."""
from dtypes import NUMBERS
from formulas import all_of, any_of, equal


def quantizes_rows(scales, zero_points, codes):
    def is_row(parameter, dtype):
        return parameter is not None and all_of(parameter.dtype == NUMBERS[dtype], equal(parameter.sizes, [*codes.sizes[:-1], 1]))
    return all_of(is_row(scales, "float32"), is_row(zero_points, "int8"))


def has_hadamard_matrix(tensor):
    n = tensor.sizes[-1]
    powers = [2**k for k in range(63)]
    return any_of(n == 0, *(n == p for p in powers), *(n == 28 * p for p in powers[:58]))
