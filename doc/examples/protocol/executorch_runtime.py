"""The official runtime behind the runtime protocol: assay runtime -- python3 executorch_runtime.py, where Python has executorch.

spec/runtime_protocol.md says what this is. Programs are run by executorch.runtime, on tensors of torch, which are imported when the first is loaded, since
that takes longer than to say who this is.
"""
import importlib.metadata
import struct
import tempfile

from wire import (BOOL, CAPS, DOUBLE, EXECUTE, GET_OUTPUT, HELLO, INT, INVALID, LOAD, METHOD, MOST_BYTES, NONE, RESET, SET_INPUT, STRING, TENSOR, UNLOAD,
                  Refused, serve, texts, with_length)

DTYPES = {0: "uint8", 1: "int8", 2: "int16", 3: "int32", 4: "int64", 5: "float16", 6: "float32", 7: "float64", 11: "bool", 15: "bfloat16", 27: "uint16",
          28: "uint32", 29: "uint64"}
NUMBERS = {f"torch.{name}": number for number, name in DTYPES.items()}


def read_value(body):
    kind = body.number("B")
    if kind == TENSOR:
        return read_tensor(body)
    if kind == STRING:
        return body.bytes().decode()
    if kind not in (NONE, INT, DOUBLE, BOOL):
        raise NotImplementedError(f"values of kind {kind} are not taken")
    return None if kind == NONE else body.number({INT: "q", DOUBLE: "d", BOOL: "?"}[kind])


def read_tensor(body):
    import torch
    dtype, rank = body.number("B"), body.number("B")
    sizes, order, data = body.numbers("q", rank), body.numbers("B", rank), bytearray(body.bytes())
    if dtype not in DTYPES:
        raise NotImplementedError(f"there are no tensors of dtype {dtype}")
    dtype = getattr(torch, DTYPES[dtype])
    flat = torch.frombuffer(data, dtype=dtype) if data else torch.empty(0, dtype=dtype)
    inverse = [order.index(d) for d in range(rank)]
    return flat.reshape([sizes[d] for d in order]).permute(inverse)  # elements lie in dim order


def written(value):
    import torch
    if isinstance(value, torch.Tensor):
        rank, flat = value.dim(), value.contiguous().flatten()
        data = flat.view(torch.uint8).numpy().tobytes() if flat.numel() else b""
        return struct.pack(f"<BBB{rank}q{rank}B", TENSOR, NUMBERS[str(value.dtype)], rank, *value.shape, *range(rank)) + with_length(data)
    if isinstance(value, str):
        return bytes([STRING]) + with_length(value.encode())
    if value is None:
        return bytes([NONE])
    kind, format = (BOOL, "?") if isinstance(value, bool) else (INT, "q") if isinstance(value, int) else (DOUBLE, "d")
    return struct.pack("<B" + format, kind, value)


class Loaded:
    def __init__(self, program, data):
        from executorch.runtime import Runtime
        if len(data) > 1:
            raise NotImplementedError("executorch.runtime takes one data file")
        self.file = tempfile.NamedTemporaryFile(suffix=".ptd")  # as long as the program
        self.file.write(b"".join(data)), self.file.flush()
        self.program, self.methods = Runtime.get().load_program(program, **({"data_path": self.file.name} if data else {})), {}

    def choose(self, name):
        if name not in self.program.method_names:
            raise Refused(INVALID, f"there is no method {name}")
        if name not in self.methods:  # which has its state from then on
            self.methods[name] = self.done(self.program.load_method, name)
        self.method, self.inputs, self.outputs = self.methods[name], {}, []

    def execute(self, times):
        if sorted(self.inputs) != list(range(self.method.metadata.num_inputs())):
            raise Refused(INVALID, f"{self.method.metadata.num_inputs()} inputs are to be set")
        for _ in range(times):
            self.outputs = self.done(self.method.execute, [self.inputs[i] for i in sorted(self.inputs)])
        return struct.pack("<I", len(self.outputs))

    @staticmethod
    def done(do, what):
        try:
            return do(what)
        except RuntimeError as error:
            if "0x14" in str(error):
                raise NotImplementedError(f"an operator is missing: {error}") from error
            raise


programs, handles = {}, iter(range(1, 1 << 32))


def answer(kind, body):
    if kind == HELLO:
        fact = with_length(b"executorch") + with_length(importlib.metadata.version("executorch").encode())
        return with_length(b"executorch.runtime") + struct.pack("<QII", 10**9, MOST_BYTES, 1) + fact
    if kind == CAPS:
        return texts("instances", "ping", "programs", "quit") + texts()
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
        which = body.number("I")
        loaded.inputs[which] = read_value(body)
    if kind == UNLOAD:
        del programs[handle]
    return loaded.execute(body.number("I")) if kind == EXECUTE else written(loaded.outputs[body.number("I")]) if kind == GET_OUTPUT else b""


if __name__ == "__main__":
    serve(answer)
