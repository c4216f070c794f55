"""Rules of windows that are computations."""
from formulas import all_of, any_of, choose, clamp, maximum, product, quotient, remainder
from shapes import saturated, scaled
from windows import ROOM, window_axis


def padding_at_most_half(padding, kernel_size):
    axes = [window_axis(d, kernel_size, [], padding, [1]) for d in range(max(len(padding), len(kernel_size)))]
    return all_of(*(axis.padding <= quotient(axis.kernel, 2) for axis in axes))


def windows_reach(tensor, output_size, align_corners, scales_h, scales_w):
    def reaches(n, m, scale):  # the step between places is a / b
        a, b = n, m
        if scale is not None:
            positive = scale.compares(lambda twice: twice > 0)
            a, b = choose(positive, choose(scale.finite, 2, 0), a), choose(all_of(positive, scale.finite), scale.twice, choose(positive, 1, b))
        a, b = choose(align_corners, choose(m > 1, n - 1, 0), a), choose(align_corners, choose(m > 1, m - 1, 1), b)
        has_a_cell = a * (2 * m - 1) - 2 * maximum(a, b) + b < 2 * n * b
        return any_of(n == m, all_of(a <= ROOM * b, has_a_cell))
    return all_of(reaches(tensor.sizes[2], output_size[0], scales_h), reaches(tensor.sizes[3], output_size[1], scales_w))


def scales_to_at_least(tensor, scale_factors, least):
    def holds(n, factor):
        return all_of(factor.finite, scaled(n, factor) >= least, scaled(n, factor) < 2**62)
    sizes = tensor.sizes[tensor.rank - len(scale_factors):]
    return all_of(*(holds(n, factor) for n, factor in zip(sizes, scale_factors)))


def holds_windows(columns, output_size, kernel_size, dilation, padding, stride):
    axes = [window_axis(d, kernel_size, stride, padding, dilation) for d in range(2)]
    places = [clamp(axis.places(clamp(n, -1, ROOM), False), 0, ROOM) for axis, n in zip(axes, output_size)]
    cells = saturated(product(kernel_size))
    return all_of(remainder(columns.sizes[-2], cells) == 0, columns.sizes[-1] == product(places))
