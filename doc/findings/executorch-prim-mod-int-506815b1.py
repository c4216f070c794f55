#!/usr/bin/env python3
"""executorch_prim::mod.int#e7f395a5

executorch_prim::mod.int(int a, int b) -> int

Makes this call in the official ExecuTorch runtime and in eager PyTorch. It needs torch and executorch. Exits with 0 if the
kernel's answer is right and with 1 if it is wrong.
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
    "a": -9223372036854775808,
    "b": -1,
}

# For each result: its name, its layout, whether the sign of a zero counts, and the expected, the lowest and the highest
# right values of the elements. If only the expected values are right, the other two are missing; if any values are right,
# all three are missing.
RESULTS = [
    ("result", torch.int64, (), (), True,
        "AAAAAAAAAAA="),
]

EXPECTED = "0:i64"
IS_VALID = True

# The call as a program. Its only method has the tensors above as inputs and the call as its only instruction.
PROGRAM = """
HAAAAEVUMTIUACAAAAAEAAgADAAQABQAGAAcABQAAABQAAAASAAAAEAAAAAwAAAAFAAAAAwAAAAEAAAAAAAAAAAAAAD0/v//BAAAAAEAAAAAAAAAAAAA
AAAAAAABAAAABAAAALz+//8AAAAAAAAAAAEAAAAcAAAAGAAoAAQAAAAIAAwAEAAUABgAHAAgACQAGAAAAGgBAADsAAAA5AAAANgAAABsAAAAKAAAACAA
AAAMAAAABAAAAAAAAAABAAAAAAAAAAAAAAAAAAAAAAAAAAEAAAAMAAAACAAMAAQACAAIAAAAEAAAAAQAAAADAAAAaW50ABQAAABleGVjdXRvcmNoX3By
aW06Om1vZAAAAAABAAAAEAAAAAwAFAAEAAgADAAQAAwAAABMAAAARAAAAAwAAAAEAAAAAAAAAAEAAAAEAAAAsP///wAAAAEMAAAACAAIAAAABAAIAAAA
BAAAAAMAAAAAAAAAAQAAAAIAAAAAAAAAAAAAAAEAAAACAAAAAAAAAAMAAABQAAAAJAAAAAwAAAAIAAwABwAIAAgAAAAAAAABCAAAAAQABAAEAAAA4P//
/wAAAAIMAAAAAAAGAAwABAAGAAAA//////////8IAA4ABwAIAAgAAAAAAAACDAAAAAAABgAQAAQABgAAAAAAAAAAAACAAAAAAAcAAABmb3J3YXJkAA==
"""


def kernel():
    package = pathlib.Path(executorch.__path__[0])
    for library in ["libexecutorch_kernels_quantized.so"]:
        ctypes.CDLL(str(package / "lib" / library))
    inputs = [t for a in ARGUMENTS.values() for t in (a if isinstance(a, list) else [a]) if isinstance(t, torch.Tensor)]
    program = Runtime.get().load_program(base64.b64decode(PROGRAM))
    return list(program.load_method("forward").execute(inputs))


def tell(function, pipe):
    try:
        answer = [torch.as_tensor(a, dtype=torch.float64 if isinstance(a, float) else None) for a in function()]
    except Exception as error:
        answer = f"refuses: {error}"
    file = io.BytesIO()
    torch.save(answer, file)
    pipe.send_bytes(file.getvalue())


def in_child(function):
    """Returns the results of a function that may crash its process, or a sentence that tells why there are none."""
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=tell, args=(function, sender))
    child.start()
    sender.close()
    try:
        return torch.load(io.BytesIO(receiver.recv_bytes()))
    except EOFError:
        child.join()
        return f"crashes: {signal.Signals(-child.exitcode).name if child.exitcode < 0 else child.exitcode}"


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
    """Returns a sentence about the error in an answer, or None if the answer is right."""
    if isinstance(answer, str):
        return None if answer.startswith("refuses") and not IS_VALID else answer
    if not IS_VALID:
        return "answers a call that must be refused"
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
sys.exit(0 if report("executorch", in_child(kernel)) else 1)
