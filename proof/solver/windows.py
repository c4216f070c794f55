"""Words of the section Sizes of spec/rules.md: sizes that windows give. A list has one entry for each of the last dimensions,
or one for all."""
from dataclasses import dataclass

from formulas import Meaningless, all_of, any_of, choose, clamp, in_int64, known, no, quotient, require, unguarded

ROOM = 2**30  # larger than any size with elements: a larger parameter of a window only has to stay larger


def entry(numbers, d):
    return numbers[0 if len(numbers) == 1 else d]


def within_window(n):
    return clamp(n, -ROOM, ROOM)


@dataclass
class WindowAxis:
    kernel: object
    stride: object
    padding: object
    dilation: object

    @property
    def extent(self):
        return self.dilation * (self.kernel - 1) + 1

    def places(self, n, ceil_mode):
        if known(self.stride) and self.stride <= 0:
            raise Meaningless
        stride = self.stride if known(self.stride) else choose(self.stride > 0, self.stride, 1)
        places = quotient(unguarded(n + 2 * self.padding - self.extent + choose(ceil_mode, stride - 1, 0)), stride) + 1
        outside = all_of(ceil_mode, (places - 1) * stride - self.padding >= n)
        return choose(outside, places - 1, places)


def window_axis(d, kernel_size, stride, padding, dilation):
    return WindowAxis(*(within_window(entry(numbers, d)) for numbers in (kernel_size, stride or kernel_size, padding, dilation)))


def require_room(tensor):
    require(all_of(*(n <= 2**62 for n in tensor.sizes)))


def pooled(tensor, n, kernel_size, stride, padding, *rest):
    *dilation, ceil_mode = rest
    require_room(tensor)
    if tensor.rank < n:
        raise Meaningless
    axes = [window_axis(d, kernel_size, stride, padding, dilation[0] if dilation else [1]) for d in range(n)]
    lead = tensor.rank - n
    return [*tensor.sizes[:lead], *(axis.places(size, ceil_mode) for axis, size in zip(axes, tensor.sizes[lead:]))]


def convolved(tensor, weight, stride, padding, dilation, transposed, output_padding, groups):
    require_room(tensor)
    result = list(tensor.sizes)
    joined = weight.sizes[1] * groups
    require(any_of(no(transposed), result[1] == 0, all_of(in_int64(joined), joined >= 0)))
    channels = choose(transposed, joined, weight.sizes[0])
    result[1] = choose(result[1] > 0, channels, result[1])
    for d, n in enumerate(tensor.sizes[2:]):
        axis = window_axis(d, [weight.sizes[d + 2]], stride, padding, dilation)
        more = axis.extent - 2 * axis.padding + within_window(entry(output_padding, d))
        grown = (n - 1) * axis.stride + more
        require(any_of(no(transposed), all_of(in_int64(grown), grown >= 0)))
        result[d + 2] = grown if known(transposed) and transposed else choose(transposed, grown, axis.places(n, False))
    return result
