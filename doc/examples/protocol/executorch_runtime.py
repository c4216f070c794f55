"""The official runtime behind the runtime protocol: assay runtime -- python3 executorch_runtime.py, where Python has executorch.

spec/runtime_protocol.md says what this is. Programs are run by executorch.runtime, on tensors of torch.
"""
import os
import struct
import sys
import tempfile
import time
import zlib

import executorch.version
import torch
from executorch.runtime import Runtime

HELLO, CAPS, RESET, _KERNEL, LOAD, METHOD, SET_INPUT, EXECUTE, GET_OUTPUT, UNLOAD = range(1, 11)
OK, MALFORMED, INVALID, UNSUPPORTED = range(4)
NONE, TENSOR, INT, DOUBLE, BOOL, STRING = range(6)
MOST_BYTES = 1 << 28
HEADER = struct.Struct("<4sBBHII")
DTYPES = {0: torch.uint8, 1: torch.int8, 2: torch.int16, 3: torch.int32, 4: torch.int64, 5: torch.float16, 6: torch.float32, 7: torch.float64,
          11: torch.bool, 15: torch.bfloat16, 27: torch.uint16, 28: torch.uint32, 29: torch.uint64}
NUMBERS = {dtype: number for number, dtype in DTYPES.items()}


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

    def value(self):
        kind = self.number("B")
        if kind == TENSOR:
            return self.tensor()
        if kind == STRING:
            return self.bytes().decode()
        return None if kind == NONE else self.number({INT: "q", DOUBLE: "d", BOOL: "?"}[kind])

    def tensor(self):
        dtype, rank = self.number("B"), self.number("B")
        sizes, order, data = self.numbers("q", rank), self.numbers("B", rank), bytearray(self.bytes())
        if dtype not in DTYPES:
            raise NotImplementedError(f"there are no tensors of dtype {dtype}")
        flat = torch.frombuffer(data, dtype=DTYPES[dtype]) if data else torch.empty(0, dtype=DTYPES[dtype])
        inverse = [order.index(d) for d in range(rank)]
        return flat.reshape([sizes[d] for d in order]).permute(inverse)  # elements lie in dim order


def with_length(data):
    return struct.pack("<I", len(data)) + data


def texts(*words):
    return b"".join(with_length(word.encode()) for word in words)


def written(value):
    if isinstance(value, torch.Tensor):
        rank, flat = value.dim(), value.contiguous().flatten()
        data = flat.view(torch.uint8).numpy().tobytes() if flat.numel() else b""
        return struct.pack(f"<BBB{rank}q{rank}B", TENSOR, NUMBERS[value.dtype], rank, *value.shape, *range(rank)) + with_length(data)
    if isinstance(value, str):
        return bytes([STRING]) + texts(value)
    if value is None:
        return bytes([NONE])
    kind, format = (BOOL, "?") if isinstance(value, bool) else (INT, "q") if isinstance(value, int) else (DOUBLE, "d")
    return struct.pack("<B" + format, kind, value)


class Loaded:
    def __init__(self, program, data):
        if len(data) > 1:
            raise NotImplementedError("executorch.runtime takes one data file")
        self.file = tempfile.NamedTemporaryFile(suffix=".ptd")  # as long as the program
        self.file.write(b"".join(data)), self.file.flush()
        self.program = Runtime.get().load_program(program, **({"data_path": self.file.name} if data else {}))

    def choose(self, name):
        if name not in self.program.method_names:
            raise KeyError(f"there is no method {name}")
        self.method, self.inputs = self.program.load_method(name), {}

    def execute(self, times):
        if sorted(self.inputs) != list(range(self.method.metadata.num_inputs())):
            raise ValueError(f"{self.method.metadata.num_inputs()} inputs are to be set")
        for _ in range(times):
            self.outputs = self.method.execute([self.inputs[i] for i in sorted(self.inputs)])
        return struct.pack("<I", len(self.outputs))


programs, handles = {}, iter(range(1, 1 << 32))


def answer(kind, body):
    if kind == HELLO:
        return texts("executorch.runtime") + struct.pack("<QII", 10**9, MOST_BYTES, 1) + texts("executorch", executorch.version.__version__)
    if kind == CAPS:
        return struct.pack("<I", 2) + texts("instances", "programs") + struct.pack("<I", 0)
    if kind == RESET:
        return programs.clear() or b""
    if kind == LOAD:
        handle, program = next(handles), body.bytes()
        programs[handle] = Loaded(program, [body.bytes() for _ in range(body.number("I"))])
        return struct.pack("<I", handle)
    if not METHOD <= kind <= UNLOAD:
        raise NotImplementedError(f"there is no request {kind}")
    handle = body.number("I")
    loaded = programs[handle]
    if kind == METHOD:
        loaded.choose(body.bytes().decode())
    if kind == SET_INPUT:
        loaded.inputs[body.number("I")] = body.value()
    if kind == UNLOAD:
        del programs[handle]
    return loaded.execute(body.number("I")) if kind == EXECUTE else written(loaded.outputs[body.number("I")]) if kind == GET_OUTPUT else b""


def replied(kind, body):
    begin, status, message, data = time.perf_counter_ns(), OK, "", b""
    try:
        data = answer(kind, Body(body))
    except Exception as error:
        is_missing = isinstance(error, NotImplementedError) or "0x14" in str(error)  # a missing operator
        status, message = UNSUPPORTED if is_missing else INVALID, f"{type(error).__name__}: {error}"
    return struct.pack("<BQQ", status, time.perf_counter_ns() - begin, 0) + texts("", message) + data


if __name__ == "__main__":
    wire_out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what is printed is no frame
    while header := sys.stdin.buffer.read(HEADER.size):  # until the host ends
        mark, version, kind, number, length, _ = HEADER.unpack(header)
        if mark != b"asay" or version != 1 or length > MOST_BYTES:
            sys.exit("what came is no frame of version 1")
        reply = replied(kind, sys.stdin.buffer.read(length))
        begin = HEADER.pack(b"asay", 1, kind | 0x80, number, len(reply), 0)[:12]
        wire_out.write(begin + struct.pack("<I", zlib.crc32(reply, zlib.crc32(begin))) + reply)
        wire_out.flush()
