#!/usr/bin/env python3
"""aten::native_layer_norm.out#85e429da

aten::native_layer_norm.out(Tensor input, SymInt[] normalized_shape, Tensor? weight, Tensor? bias, float eps, *, Tensor(a!) out0, Tensor(b!) out1, Tensor(c!) out2) -> (Tensor(a!), Tensor(b!), Tensor(c!))

Runs this call in the official ExecuTorch runtime and in eager PyTorch; needs torch and executorch. Exits with 1 where the
kernel's answer is wrong, with 0 where it is right.
"""

import base64
import ctypes
import io
import multiprocessing
import pathlib
import signal
import sys

import torch
import executorch
from executorch.runtime import Runtime


def tensor(dtype, sizes, strides, data):
    data = bytearray(base64.b64decode(data))
    elements = torch.frombuffer(data, dtype=dtype) if data else torch.empty(0, dtype=dtype)
    return elements.as_strided(sizes, strides)


ARGUMENTS = {
    # [-8.48]:f16
    "input": tensor(torch.float16, (1,), (1,), "Pcg="),
    "normalized_shape": [1],
    "weight": None,
    "bias": None,
    "eps": 1e-05,
}

# For each result its name, how it is laid out, whether the sign of a zero counts, and of each element the expected, the
# lowest and the highest right answer; the first alone where it is the only one, none where any values are right.
RESULTS = [
    ("out0", torch.float16, (1,), (1,), False,
        "AAA=",
        "2o8=",
        "2g8="),
    ("out1", torch.float16, (1,), (1,), False,
        "Pcg="),
    ("out2", torch.float16, (1,), (1,), False,
        "8Vw="),
]

EXPECTED = "[0]:f16\n[-8.48]:f16\n[316.2]:f16"
IS_VALID = True

# The call as a program: its one method has the tensors above as inputs and the call as its only instruction.
PROGRAM = """
PAAAAEVUMTJlaDAwIAAAACgEAAAAAAAAgAQAAAAAAAAiAAAAAAAAABQAIAAAAAQACAAMABAAFAAYABwAFAAAAKAAAACYAAAAkAAAAGQAAABMAAAADAAA
AAQAAAAAAAAAAQAAAAQAAAAM////AQAAAAQAAAAEAAAAAAAAAAAAAAAAAAAAAAAAABAAAAAAAAAAIAAAAAAAAAAAAAAAyP7//wQAAAABAAAAAAAAAAAA
AAACAAAAIAAAAAwAAAAIABAAAAAEAAgAAAAiAAAAAAAAAAAAAABU/f//AAAAAAAAAAABAAAAHAAAABgAKAAEAAAACAAMABAAFAAYABwAIAAkABgAAAAY
AwAAJAEAABgBAAAEAQAAgAAAADwAAAA0AAAADAAAAAQAAAAAAAAABAAAAAAAAAAAAAAAAgAAAAAAAAACAAAAAAAAAAIAAAAAAAAAAAAAAAEAAAAMAAAA
CAAMAAQACAAIAAAAEAAAAAQAAAADAAAAb3V0ABcAAABhdGVuOjpuYXRpdmVfbGF5ZXJfbm9ybQABAAAAEAAAAAwAFAAEAAgADAAQAAwAAABkAAAAXAAA
AAwAAAAEAAAAAAAAAAEAAAAEAAAA7P3//wAAAAEMAAAACAAIAAAABAAIAAAABAAAAAkAAAAAAAAAAgAAAAMAAAAEAAAABQAAAAYAAAAHAAAACAAAAAkA
AAAAAAAAAAAAAAMAAAAGAAAABwAAAAgAAAABAAAAAAAAAAoAAAC0AQAAhAEAAFABAAA4AQAAJAEAAAQBAACsAAAAbAAAACwAAAAEAAAAfP7//wAAAAoE
AAAAzv7//wQAAAADAAAABgAAAAcAAAAIAAAAoP7//wAAAAUEAAAAhv///wAABQEgAAAAFAAAAAMAAAAEAAAACv///wMAAAABAAAAAAAAAAEAAAABAAAA
3P7//wAAAAUEAAAAwv///wAABQEgAAAAFAAAAAIAAAAEAAAARv///wIAAAABAAAAAAAAAAEAAAABAAAARP///wAAAAUcAAAAAAAWABgABgAAAAgADAAA
ABAAFAAAAAcAFgAAAAAABQEgAAAAFAAAAAEAAAAEAAAAmv///wEAAAABAAAAAAAAAAEAAAABAAAAbP///wAAAAQEAAAAjv////Fo44i1+OQ+AAAAAIj/
//8AAAABBAAAAPD///+Y////AAAAAQgAAAAEAAQABAAAANj///8AAAAHDAAAAAAABgAIAAQABgAAAAQAAAABAAAAAQAAAAAAAAAIAA4ABwAIAAgAAAAA
AAACDAAAAAAABgAQAAQABgAAAAEAAAAAAAAAAAAAAAgADAAHAAgACAAAAAAAAAUQAAAADAAQAAcAAAAIAAwADAAAAAAAAAUQAAAABAAAAAEAAAAAAAAA
AQAAAAEAAAAHAAAAZm9yd2FyZAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA
AAAAAAAAAAAAAAAAAAAAAAAAAAAAvr4AAAAAAAAAAAAAAAAAAL6+AAAAAAAAAAAAAAAAAAC+vg==
"""


def kernel():
    package = pathlib.Path(executorch.__path__[0])
    for library in []:
        ctypes.CDLL(str(package / "lib" / library))
    inputs = [t for a in ARGUMENTS.values() for t in (a if isinstance(a, list) else [a]) if isinstance(t, torch.Tensor)]
    program = Runtime.get().load_program(base64.b64decode(PROGRAM))
    return list(program.load_method("forward").execute(inputs))


def eager():
    results = [torch.empty(sizes, dtype=dtype) for _, dtype, sizes, *_ in RESULTS]
    torch.ops.aten.native_layer_norm.out(**ARGUMENTS, out0=results[0], out1=results[1], out2=results[2])
    return results


def tell(function, pipe):
    try:
        answer = [torch.as_tensor(a, dtype=torch.float64 if isinstance(a, float) else None) for a in function()]
    except Exception as error:
        answer = f"refuses: {error}"
    file = io.BytesIO()
    torch.save(answer, file)
    pipe.send_bytes(file.getvalue())


def in_child(function):
    """The results of a function that may take its process down, or a sentence on why there are none."""
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=tell, args=(function, sender))
    child.start()
    sender.close()
    try:
        return torch.load(io.BytesIO(receiver.recv_bytes()))
    except EOFError:
        child.join()
        return f"dies: {signal.Signals(-child.exitcode).name if child.exitcode < 0 else child.exitcode}"


def is_right(got, zeros_have_signs, expected, lowest, highest):
    if not got.is_floating_point():
        return got.to(torch.int64) == expected.to(torch.int64)
    anything = lowest.isinf() & (lowest == -highest)
    zeros = (got == 0) & (expected == 0) & zeros_have_signs
    between = (lowest <= got) & (got <= highest) & ~(zeros & (got.signbit() != expected.signbit()))
    return anything | between | (expected.isnan() & got.isnan())


def difference(name, index, got, expected, lowest, highest):
    value, want, low, high = (t[tuple(index)].item() for t in (got, expected, lowest, highest))
    return f"{name}{index or ''} is {value}, but must be {want}" + (f", or from {low} to {high}" if low < high else "")


def fault(answer):
    """What is wrong with an answer in one sentence, None where nothing is."""
    if isinstance(answer, str):
        return None if answer.startswith("refuses") and not IS_VALID else answer
    if not IS_VALID:
        return "answers a call that is to be refused"
    for (name, dtype, sizes, strides, zeros_have_signs, *right), got in zip(RESULTS, answer):
        if (got.dtype, tuple(got.shape)) != (dtype, sizes):
            return f"{name} is {got.dtype} {tuple(got.shape)}, but must be {dtype} {sizes}"
        if not right:
            continue
        right = [tensor(dtype, sizes, strides, data) for data in (right if len(right) == 3 else 3 * right)]
        wrong = (~is_right(got, zeros_have_signs, *right)).nonzero().tolist()
        if wrong:
            return "; ".join(difference(name, index, got, *right) for index in wrong[:8])
    return None


def report(who, answer):
    print(f"{who}: {answer}")
    wrong = fault(answer)
    print(f"{who} is {'right' if wrong is None else 'WRONG: ' + wrong}", flush=True)
    return wrong is None


print(f"expected: {EXPECTED}", flush=True)
report("eager PyTorch", in_child(eager))
sys.exit(0 if report("executorch", in_child(kernel)) else 1)
