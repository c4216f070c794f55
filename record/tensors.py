"""Dense tensors in the form of a recording, and their dtypes."""

import math
import pathlib
import sys
from dataclasses import dataclass

import torch

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "tools" / "specgen"))
import dtype_facts  # noqa: E402

# The number in the .pte format of each dtype that is recorded, in the order in which the generators walk them.
DTYPE_NUMBERS = {getattr(torch, name): dtype_facts.DTYPES[name]["number"] for name in dtype_facts.ORDERS["recorded"]}
DTYPE_OF_NUMBER = {number: d for d, number in DTYPE_NUMBERS.items()}
DTYPES = [d for d in DTYPE_NUMBERS if not d.is_complex]
COMPLEX_DTYPES = [d for d in DTYPE_NUMBERS if d.is_complex]
MEMORY_FORMAT_NUMBERS = {
    torch.contiguous_format: 0,
    torch.preserve_format: 1,
    torch.channels_last: 2,
    torch.channels_last_3d: 3,
}
MEMORY_FORMAT_OF_NUMBER = {number: f for f, number in MEMORY_FORMAT_NUMBERS.items()}
# Bytes before and after every tensor; a multiple of the allocator's alignment.
MARGIN = 256
CHANNELS_LAST = {4: (0, 2, 3, 1), 5: (0, 2, 3, 4, 1)}


@dataclass(frozen=True)
class Layout:
    """Dtype, sizes and dim_order (outermost dimension first) of a dense tensor."""

    dtype: torch.dtype
    sizes: tuple
    dim_order: tuple

    def allocate(self, fill):
        """A torch tensor of this layout between two margins, every byte `fill`, and the buffer it lies in."""
        size = math.prod(self.sizes) * self.dtype.itemsize
        buffer = torch.full((MARGIN + size + MARGIN,), fill, dtype=torch.uint8)
        physical = buffer[MARGIN : MARGIN + size].view(self.dtype).reshape([self.sizes[d] for d in self.dim_order])
        return physical.permute([self.dim_order.index(d) for d in range(len(self.sizes))]), buffer


@dataclass(frozen=True)
class Stored:
    """A layout and its elements, little endian in dim_order; `data` is None where the content is not defined."""

    layout: Layout
    data: bytes | None


def dim_order_of(tensor):
    """The dim_order of a dense tensor; None if its strides match no permutation."""
    if tensor.is_contiguous():
        return tuple(range(tensor.dim()))
    last = CHANNELS_LAST.get(tensor.dim())
    by_stride = tuple(sorted(range(tensor.dim()), key=lambda d: -tensor.stride(d)))
    candidates = [last, by_stride] if last else [by_stride]
    return next((order for order in candidates if tensor.permute(order).is_contiguous()), None)


def layout_of(tensor):
    """The tensor's layout; a tensor that is not dense counts as contiguous."""
    order = dim_order_of(tensor) or tuple(range(tensor.dim()))
    return Layout(tensor.dtype, tuple(tensor.shape), order)


def store(tensor, dim_order=None):
    """The tensor's values, in `dim_order` or its own."""
    tensor = tensor.detach().resolve_conj().resolve_neg()
    layout = layout_of(tensor)
    if dim_order is not None:
        layout = Layout(layout.dtype, layout.sizes, tuple(dim_order))
    physical = tensor.permute(layout.dim_order).contiguous()
    return Stored(layout, physical.reshape(-1).view(torch.uint8).numpy().tobytes())


def load(stored, fill=0):
    """A fresh torch tensor with the stored values and layout; the bytes around it are `fill`."""
    tensor, _ = stored.layout.allocate(fill)
    if stored.data:
        physical = tensor.permute(stored.layout.dim_order)
        values = torch.frombuffer(bytearray(stored.data), dtype=stored.layout.dtype)
        physical.copy_(values.reshape(physical.shape))
    return tensor


def margins_hold(buffer, fill):
    """Whether nothing was written outside the tensor that lies in the buffer."""
    return bool((buffer[:MARGIN] == fill).all() and (buffer[-MARGIN:] == fill).all())
