#!/usr/bin/env python3
"""aten::_softmax.out#58513da9

aten::_softmax.out(Tensor self, int dim, bool half_to_float, *, Tensor(a!) out) -> Tensor(a!)

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
    # [[[[-0.357,2.86],[-7.97,-0.00256]],[[2.52,1.62],[-2.45,1.61]],[[-3.39,-4.97],[2.55,3.16]]],[[[3.1,1.67],[0.785,1.2]],[[2.58,-3.78],[-3.36,1.984]],[[0.183,-1.24],[-3.19,0.63]]]]:bf16:(0,2,3,1)
    "self": tensor(torch.bfloat16, (2, 3, 2, 2), (12, 1, 6, 3), "t74hQFnAN0DPP5/A/8AdwCNAKLvOP0pARkAlQDs+1j9ywJ+/ST9XwEzAmj/+PyE/"),
    "dim": 1,
    "half_to_float": False,
}

# For each result its name, how it is laid out, whether the sign of a zero counts, and of each element the expected, the
# lowest and the highest right answer; the first alone where it is the only one, none where any values are right.
RESULTS = [
    ("out", torch.bfloat16, (2, 3, 2, 2), (12, 1, 6, 3), True,
        "Wz1yPyg7Rz9lPqI54jfbO34/Cz0uPkw/Gz+5Pgc9cj+FO1I9dz97PJU8iT4VPxo+",
        "Wj1xPyg7Rj9kPqE54TfaO30/Cj0tPks/Gj+4PgY9cT+EO1E9dj96PJQ8iD4VPxk+",
        "Wz1zPyk7Rz9mPqM54zfcO38/Cz0uPk0/HD+6Pgc9cz+FO1M9eD98PJY8iT4WPxo+"),
]

EXPECTED = "[[[[0.0535,0.777],[2.7e-05,0.034]],[[0.945,0.224],[0.00668,0.17]],[[0.00256,0.000309],[0.992,0.797]]],[[[0.605,0.945],[0.965,0.268]],[[0.361,0.00406],[0.0153,0.582]],[[0.033,0.0513],[0.0182,0.15]]]]:bf16:(0,2,3,1)"
IS_VALID = True

# The call as a program: its one method has the tensors above as inputs and the call as its only instruction.
PROGRAM = """
PAAAAEVUMTJlaDAwIAAAAAADAAAAAAAAAAMAAAAAAAAwAAAAAAAAABQAIAAAAAQACAAMABAAFAAYABwAFAAAAJAAAACIAAAAgAAAAFQAAAA8AAAADAAA
AAQAAAAAAAAAAQAAAAQAAAAo////AQAAAAQAAAACAAAAAAAAAAAAAAAAAAAAAAAAAAAAAADc/v//BAAAAAEAAAAAAAAAAAAAAAIAAAAgAAAADAAAAAgA
EAAAAAQACAAAADAAAAAAAAAAAAAAAEz+//8AAAAAAAAAAAEAAAAcAAAAGAAoAAQAAAAIAAwAEAAUABgAHAAgACQAGAAAAAACAAD4AAAA7AAAAOAAAABs
AAAAMAAAACgAAAAMAAAABAAAAAAAAAACAAAAAAAAAAAAAAAwAAAAAAAAAAAAAAAAAAAAAQAAAAwAAAAIAAwABAAIAAgAAAAQAAAABAAAAAMAAABvdXQA
DgAAAGF0ZW46Ol9zb2Z0bWF4AAABAAAAEAAAAAwAFAAEAAgADAAQAAwAAABUAAAATAAAAAwAAAAEAAAAAAAAAAEAAAAEAAAA/P7//wAAAAEMAAAACAAI
AAAABAAIAAAABAAAAAUAAAAAAAAAAQAAAAIAAAADAAAAAwAAAAAAAAAAAAAAAQAAAAMAAAABAAAAAAAAAAQAAAC8AAAAkAAAAHAAAAAEAAAAhP///wAA
AAUcAAAAAAAWABoABgAAAAgADAAAABAAFAAAAAcAFgAAAAAADwEoAAAAHAAAAAEAAAAMAAAAAAAGAAgABAAGAAAAAQAAAAQAAAAAAgMBBAAAAAIAAAAD
AAAAAgAAAAIAAADE////AAAAAwgAAAAEAAQABAAAAAgADgAHAAgACAAAAAAAAAIMAAAAAAAGAAwABAAGAAAAAQAAAAAAAAAIAAwABwAIAAgAAAAAAAAF
EAAAAAwAEAAHAAAACAAMAAwAAAAAAAAPEAAAAAQAAAAEAAAAAAIDAQQAAAACAAAAAwAAAAIAAAACAAAABwAAAGZvcndhcmQAvr6+vr6+vr6+vr6+vr6+
vr6+vr6+vr6+vr6+vr6+vr6+vr6+vr6+vr6+vr6+vr6+
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
    torch.ops.aten._softmax.out(**ARGUMENTS, out=results[0])
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
