"""A server of the wire protocol with kernels in plain Python: assay kernels --operators relu,ceil -- python3 kernels.py

spec/runtime_protocol.md defines the protocol. A tensor has its elements in a list, in the order in which they lie in memory.
"""
import dataclasses
import math
import struct

from wire import BOOL, BOOLS, DOUBLE, DOUBLES, INT, INTS, NONE, STRING, TENSOR, TENSORS  # kinds of values
from wire import CAPS, HELLO, INVALID, KERNEL, MOST_BYTES, RESET, UNSUPPORTED, Refused, serve, texts, with_length

FORMATS = {0: "B", 1: "b", 2: "h", 3: "i", 4: "q", 5: "e", 6: "f", 7: "d", 11: "?"}  # by dtype


def values(body):
    return [value(body) for _ in range(body.number("I"))]


def value(body):
    kind = body.number("B")
    if kind == TENSOR:
        return Tensor.read(body)
    if kind in (INT, DOUBLE, BOOL):
        return body.number({INT: "q", DOUBLE: "d", BOOL: "?"}[kind])
    if kind in (INTS, DOUBLES, BOOLS):
        return body.numbers({INTS: "q", DOUBLES: "d", BOOLS: "?"}[kind], body.number("I"))
    return {NONE: lambda: None, STRING: body.bytes, TENSORS: lambda: values(body)}[kind]()


@dataclasses.dataclass
class Tensor:
    dtype: int
    sizes: tuple
    order: tuple
    elements: list

    @staticmethod
    def read(body):
        dtype, rank = body.number("B"), body.number("B")
        sizes, order, data = body.numbers("q", rank), body.numbers("B", rank), body.bytes()
        elements = [element for element, in struct.iter_unpack("<" + FORMATS.get(dtype, "c"), data)]
        return Tensor(dtype, sizes, order, elements)

    def written(self):
        rank, data = len(self.sizes), struct.pack(f"<{len(self.elements)}{FORMATS[self.dtype]}", *self.elements)
        return struct.pack(f"<BB{rank}q{rank}B", self.dtype, rank, *self.sizes, *self.order) + with_length(data)


def unary(function):
    """A kernel that applies a function to each element, in one dtype and layout."""

    def kernel(x, out):
        if x.dtype not in FORMATS or x.dtype == 11 or x.order != out.order:
            raise Refused(UNSUPPORTED, "the tensors must hold numbers and have one layout")
        if x.dtype != out.dtype:
            raise Refused(INVALID, "out has another dtype than the result")
        out.sizes, out.elements = x.sizes, [function(element) for element in x.elements]

    return kernel


KERNELS = {
    "aten::relu.out": unary(lambda x: 0 if x < 0 else x),
    "aten::ceil.out": unary(lambda x: x if isinstance(x, int) or not math.isfinite(x) else math.copysign(math.ceil(x), x)),
}


def call(operator, outs, values):
    if operator not in KERNELS:
        raise Refused(UNSUPPORTED, f"there is no kernel for {operator}")
    KERNELS[operator](*values)  # it changes its outs
    return struct.pack("<I", outs) + b"".join(out.written() for out in values[len(values) - outs:])


def answer(kind, body):
    if kind == HELLO:
        return with_length(b"example in Python") + struct.pack("<QII", 10**9, MOST_BYTES, 0)
    if kind == CAPS:
        return texts("ping", "quit") + texts(*KERNELS)
    if kind == RESET:
        return b""
    if kind == KERNEL:
        operator, _fill, outs = body.bytes().decode(), body.number("B"), body.number("I")
        return call(operator, outs, values(body))
    raise Refused(UNSUPPORTED, f"there is no request {kind}")


if __name__ == "__main__":
    serve(answer)
