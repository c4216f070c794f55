"""Rules of windows."""
from formulas import all_of, any_of, choose, clamp, equal, maximum, product, quotient, remainder
from shapes import saturated, scaled
from windows import ROOM, convolved, entry, pooled, window_axis


def one_or_each(entries, n):
    return len(entries) in (1, n)


def padding_at_most_half(padding, kernel_size):
    axes = [window_axis(d, kernel_size, [], padding, [1]) for d in range(max(len(padding), len(kernel_size)))]
    return all_of(*(axis.padding <= quotient(axis.kernel, 2) for axis in axes))


def window_fits(tensor, n, *window):
    sizes = pooled(tensor, n, *window)
    return all_of(*(size > 0 for size in sizes[len(sizes) - n:]))


def window_inside(tensor, n, kernel_size):
    return all_of(*(entry(kernel_size, d) <= tensor.sizes[tensor.rank - n + d] for d in range(n)))


def is_pooled(grad_output, tensor, n, *window):
    return equal(grad_output.sizes, pooled(tensor, n, *window))


def is_convolved(grad_output, *convolution):
    return equal(grad_output.sizes, convolved(*convolution))


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


def one_or_each_spatial(entries, tensor):
    return len(entries) in (1, tensor.rank - 2)


def holds_windows(columns, output_size, kernel_size, dilation, padding, stride):
    axes = [window_axis(d, kernel_size, stride, padding, dilation) for d in range(2)]
    places = [clamp(axis.places(clamp(n, -1, ROOM), False), 0, ROOM) for axis, n in zip(axes, output_size)]
    cells = saturated(product(kernel_size))
    return all_of(remainder(columns.sizes[-2], cells) == 0, columns.sizes[-1] == product(places))


def channels_fit(tensor, weight, transposed, groups):
    return tensor.sizes[1] == choose(transposed, weight.sizes[0], weight.sizes[1] * groups)


def bias_fits(bias, weight, transposed, groups):
    return equal(bias.sizes, [choose(transposed, weight.sizes[1] * groups, weight.sizes[0])])


def convolution_fits(tensor, weight, stride, padding, dilation, transposed, output_padding):
    sizes = convolved(tensor, weight, stride, padding, dilation, transposed, output_padding, 1)
    return all_of(*(n > 0 for n in sizes[2:]))


def output_padding_fits(output_padding, stride, dilation):
    spatial = max(len(output_padding), len(stride), len(dilation))
    return all_of(*(entry(output_padding, d) < maximum(entry(stride, d), entry(dilation, d)) for d in range(spatial)))
