"""Words for dim orders: the section Dim orders of spec/rules.md. The dim orders of operands are always known. The dim
order of a result is computed only where its sizes are known, too."""
from dtypes import is_complex
from formulas import all_of, any_of, known
from indexing import indexed_sizes, is_mask
from values import wrap

PRESERVE = 1  # PyTorch's numbers of memory formats; 0 is contiguous
CHANNELS_LAST = (2, 3)


def counting(rank):
    return tuple(range(rank))


def channels_last(rank):
    return (0, *range(2, rank), 1)


def is_channels_last(tensor):
    return tensor.rank in (4, 5) and tensor.order == channels_last(tensor.rank)


def lies_contiguous(sizes, order):
    """Whether the order lays elements out as 0, 1, 2... does."""
    swapped = ((a, b) for i, a in enumerate(order) for b in order[i + 1:] if a > b)
    return any_of(*(n == 0 for n in sizes), all_of(*(any_of(sizes[a] == 1, sizes[b] == 1) for a, b in swapped)))


def normal(sizes, order):
    return counting(len(sizes)) if lies_contiguous(sizes, order) else tuple(order)


def contiguous(sizes):
    return counting(len(sizes))


def columns_first(sizes):
    return normal(sizes, (1, 0))


def steps(sizes, tensor):
    """The strides of an operand along the dimensions of a result; 0 where the operand is broadcast."""
    result, step = [0] * len(sizes), 1
    for d in reversed(tensor.order):
        n, at = tensor.sizes[d], d + len(sizes) - tensor.rank
        if n == sizes[at] or n > 1:
            result[at] = step
        step *= max(n, 1)
    return result


def nested(sizes, operands):
    """Sorts dimensions, innermost first: each moves outwards until it reaches a dimension that it lies inside of, past dimensions
    that no operand orders."""
    def compared(a, b):
        for step in operands:
            if step[a] == 0 or step[b] == 0:
                continue
            if step[a] != step[b]:
                return step[a] - step[b]
            if sizes[a] > sizes[b]:
                return 1
        return 0

    order = list(reversed(range(len(sizes))))
    for i in range(1, len(order)):
        at = i
        for k in range(i - 1, -1, -1):
            c = compared(order[k], order[at])
            if c < 0:
                break
            if c > 0:
                order[k], order[at], at = order[at], order[k], k
    return normal(sizes, tuple(reversed(order)))


def like(sizes, *tensors):
    given = [t for t in tensors if t is not None]
    order = nested(sizes, [steps(sizes, t) for t in given if t.rank <= len(sizes)])
    return next((t.order for t in given if t.sizes == sizes and normal(sizes, t.order) == order), order)


def format(sizes, memory_format, tensor=None):
    if tensor is not None and memory_format in (None, PRESERVE):
        return tensor.order
    return normal(sizes, channels_last(len(sizes))) if memory_format in CHANNELS_LAST else contiguous(sizes)


def ordered(sizes, dim_order, tensor=None):
    if dim_order is None:
        return tensor.order if tensor is not None else contiguous(sizes)
    return tuple(dim_order) if len(dim_order) == 4 and dim_order[1] == 2 else contiguous(sizes)


def permuted(sizes, order):
    return normal(sizes, tuple(order))


def strided(sizes, stride):
    order, step = sorted(range(len(sizes)), key=lambda d: -stride[d]), 1
    for d in reversed(order):
        if sizes[d] != 1 and stride[d] != step:
            return contiguous(sizes)
        step *= sizes[d]
    return normal(sizes, tuple(order))


def like_unless_complex(sizes, tensor):
    return contiguous(sizes) if is_complex(tensor.dtype) else like(sizes, tensor)


def suggested(sizes, *tensors):
    if len(tensors) == 1 and isinstance(tensors[0], list):
        moves = all(is_channels_last(t) for t in tensors[0])
    elif len(tensors) == 2:
        if len(sizes) == 3:
            return suggested_1d(sizes, tensors[1])
        moves = len(sizes) == 4 and any(is_channels_last(t) for t in tensors)
    else:
        moves = is_channels_last(tensors[0])
    return channels_last(len(sizes)) if moves else contiguous(sizes)


def suggested_1d(sizes, tensor):
    moves = tuple(tensor.order) == channels_last(3) and any_of(*(n != 1 for n in tensor.sizes[1:]))
    return channels_last(3) if moves else contiguous(sizes)


def stacked(sizes, tensors, dim):
    added = wrap(dim, len(sizes))
    if added == len(sizes) - 1:
        return contiguous(sizes)
    order = []
    for d in suggested(tensors[0].sizes, tensors):
        order += [added] * (d == added) + [d if d < added else d + 1]
    return normal(sizes, tuple(order))


def innermost(sizes, tensor, dim):
    return normal(sizes, sorted(tensor.order, key=lambda d: d in dim))


def last_innermost(sizes, tensor, dim):
    return normal(sizes, sorted(innermost(tensor.sizes, tensor, dim), key=lambda d: d == dim[-1]))


def outermost(sizes, dim):
    if dim is None or not known(dim):
        return tuple(range(len(sizes)))
    return normal(sizes, sorted(range(len(sizes)), key=lambda d: d != dim % len(sizes)))


def indexed(sizes, tensor, indices):
    x = indexed_sizes(indices, tensor.sizes)
    own = steps(tensor.sizes, tensor)
    kept = [own[d] for d in x.whole]
    operands = [kept[:x.first] + [0] * len(x.block) + kept[x.first:]]
    for index in indices:
        if index is not None and not is_mask(index):
            operand = [0] * len(sizes)
            operand[x.first:x.first + len(x.block)] = steps(x.block, index)
            operands.append(operand)
    return nested(sizes, operands)
