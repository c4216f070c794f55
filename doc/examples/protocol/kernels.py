"""Kernels behind the runtime protocol, in Python alone: assay kernels --operators relu,ceil -- python3 kernels.py

spec/runtime_protocol.md says what this is. Tensors keep their elements in a list, in the order in which they lie in memory.
"""
import dataclasses
import math
import os
import struct
import sys
import time
import zlib

HELLO, CAPS, RESET, KERNEL = range(1, 5)
OK, MALFORMED, INVALID, UNSUPPORTED = range(4)
MOST_BYTES = 1 << 24
HEADER = struct.Struct("<4sBBHII")
FORMATS = {0: "B", 1: "b", 2: "h", 3: "i", 4: "q", 5: "e", 6: "f", 7: "d", 11: "?"}  # by dtype


class Body:
    def __init__(self, data):
        self.data, self.at = data, 0

    def numbers(self, format, count):
        at, format = self.at, f"<{count}{format}"
        self.at += struct.calcsize(format)
        return struct.unpack_from(format, self.data, at)

    def number(self, format):
        return self.numbers(format, 1)[0]

    def bytes(self):
        data, = struct.unpack_from(f"{self.number('I')}s", self.data, self.at)
        self.at += len(data)
        return data

    def values(self):
        return [self.value() for _ in range(self.number("I"))]

    def value(self):
        kind = self.number("B")
        if kind == 1:
            return Tensor.read(self)
        if kind in (2, 3, 4):
            return self.number({2: "q", 3: "d", 4: "?"}[kind])
        if kind in (6, 7, 8):
            return self.numbers({6: "q", 7: "d", 8: "?"}[kind], self.number("I"))
        return {0: lambda: None, 5: self.bytes, 9: self.values}[kind]()


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


class Refused(Exception):
    """Of a status and a message."""


def with_length(data):
    return struct.pack("<I", len(data)) + data


def texts(*words):
    return struct.pack("<I", len(words)) + b"".join(with_length(word.encode()) for word in words)


def unary(function):
    """A kernel that does this with each element, in one dtype and layout."""

    def kernel(x, out):
        if x.dtype not in FORMATS or x.dtype == 11 or x.order != out.order:
            raise Refused(UNSUPPORTED, "tensors must be numbers and lie alike")
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
    KERNELS[operator](*values)  # which changes its outs
    return struct.pack("<I", outs) + b"".join(out.written() for out in values[len(values) - outs:])


def answer(kind, body):
    if kind == HELLO:
        return with_length(b"example in Python") + struct.pack("<QII", 10**9, MOST_BYTES, 0)
    if kind == CAPS:
        return texts() + texts(*KERNELS)
    if kind == RESET:
        return b""
    if kind == KERNEL:
        operator, _fill, outs = body.bytes().decode(), body.number("B"), body.number("I")
        return call(operator, outs, body.values())
    raise Refused(UNSUPPORTED, f"there is no request {kind}")


def replied(kind, body):
    begin, status, message, data = time.perf_counter_ns(), OK, "", b""
    try:
        data = answer(kind, Body(body))
    except Refused as refused:
        status, message = refused.args
    except struct.error as error:
        status, message = MALFORMED, str(error)
    return struct.pack("<BQQ", status, time.perf_counter_ns() - begin, 0) + with_length(b"") + with_length(message.encode()) + data


def framed(kind, number, body):
    begin = HEADER.pack(b"asay", 1, kind, number, len(body), 0)[:12]
    return begin + struct.pack("<I", zlib.crc32(body, zlib.crc32(begin))) + body


def requests(wire):
    while header := wire.read(HEADER.size):  # until the host ends
        mark, version, kind, number, length, _ = HEADER.unpack(header)
        if mark != b"asay" or version != 1 or length > MOST_BYTES:
            sys.exit("what came is no frame of version 1")
        yield kind, number, wire.read(length)


if __name__ == "__main__":
    wire_out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what is printed is no frame
    for kind, number, body in requests(sys.stdin.buffer):
        wire_out.write(framed(kind | 0x80, number, replied(kind, body)))
        wire_out.flush()
