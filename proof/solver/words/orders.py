"""Rules of dim orders that are computations."""
from dtypes import BYTES, fact
from formulas import all_of, any_of, maximum, remainder
from layouts import channels_last, is_channels_last, lies_contiguous
from promotion import named

WIDTHS = sorted(set(BYTES.values()))


def is_contiguous(tensor):
    return lies_contiguous(tensor.sizes, tensor.order)


def reinterprets(tensor, dtype):
    width, wanted = fact(tensor.dtype, BYTES), fact(named(dtype), BYTES)

    def whole(n):
        return all_of(*(any_of(width != a, wanted != b, remainder(n * a, b) == 0) for a in WIDTHS for b in WIDTHS if a < b))
    fits, step = tensor.rank > 0, 1
    for d in reversed(tensor.order):
        last = d == tensor.rank - 1
        fits = all_of(fits, not last or step == 1, whole(tensor.sizes[d] if last else step))
        step = step * maximum(tensor.sizes[d], 1)
    return any_of(width == wanted, fits)


def has_pairs(tensor):
    inside = tensor.order[tensor.order.index(tensor.rank - 1) + 1:]
    return all_of(*(tensor.sizes[d] == 1 for d in inside))


def has_memory_format(tensor):
    return any_of(is_channels_last(tensor), is_contiguous(tensor))


def is_order(order, size):
    inside = all_of(*(d >= 0 for d in order), *(d < len(order) for d in order))
    return len(order) == len(size) and all_of(inside, *(order[i] != order[j] for j in range(len(order)) for i in range(j)))


def not_channels_last(tensor, n):
    return tensor.order != channels_last(n)
