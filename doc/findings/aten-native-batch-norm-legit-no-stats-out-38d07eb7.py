#!/usr/bin/env python3
"""aten::_native_batch_norm_legit.no_stats_out#5740db37

aten::_native_batch_norm_legit.no_stats_out(Tensor input, Tensor? weight, Tensor? bias, bool training, float momentum, float eps, *, Tensor(a!) out, Tensor(b!) save_mean, Tensor(c!) save_invstd) -> (Tensor(a!), Tensor(b!), Tensor(c!))

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
    # [[[-4.826984902407649,-7.582430495695129,-0.6046891126565539],[-1.5411692216498662,-1.9719097652168658,-4.146041530864057]]]:f64
    "input": tensor(torch.float64, (1, 2, 3), (6, 3, 1), "pYFYIdVOE8CJ0OyoaFQewNhtY/ucWeO/P2jJDqGo+L/HTwRB8Yz/v/SsO+mLlRDA"),
    "weight": None,
    "bias": None,
    "training": True,
    "momentum": 0.5,
    "eps": 1e-05,
}

# For each result its name, how it is laid out, whether the sign of a zero counts, and of each element the expected, the
# lowest and the highest right answer; the first alone where it is the only one, none where any values are right.
RESULTS = [
    ("out", torch.float64, (1, 2, 3), (6, 3, 1), False,
        "ws2qFGnPxb86Tm8rCxfyv/KnBE740PQ/KAU0o9Jm7D/iW6vzuU/gP4Swb0tGW/a/",
        "Gc6qFGnPxb9PTm8rCxfyv96nBE740PQ/9gQ0o9Jm7D+6W6vzuU/gP6awb0tGW/a/",
        "a82qFGnPxb8lTm8rCxfyvwaoBE740PQ/WgU0o9Jm7D8KXKvzuU/gP2Kwb0tGW/a/"),
    ("save_mean", torch.float64, (2,), (1,), False,
        "o+rlzSVaEcCkvHRToGwEwA==",
        "purlzSVaEcCnvHRToGwEwA==",
        "oOrlzSVaEcChvHRToGwEwA=="),
    ("save_invstd", torch.float64, (2,), (1,), False,
        "ZduseZdN1j+2AekXhhHsPw==",
        "W9useZdN1j+hAekXhhHsPw==",
        "b9useZdN1j/LAekXhhHsPw=="),
]

EXPECTED = "[[[-0.17039216527119377,-1.1306258865996726,1.3010180518708663],[0.8875516116678783,0.5097322234313391,-1.3972838350992172]]]:f64\n[-4.338034836919777,-2.55304017257693]:f64\n[0.348485821555576,0.8771391360278844]:f64"
IS_VALID = True

# The call as a program: its one method has the tensors above as inputs and the call as its only instruction.
PROGRAM = """
PAAAAEVUMTJlaDAwIAAAAGgEAAAAAAAAgAQAAAAAAABQAAAAAAAAABQAIAAAAAQACAAMABAAFAAYABwAFAAAAKAAAACYAAAAkAAAAGQAAABMAAAADAAA
AAQAAAAAAAAAAQAAAAQAAAAM////AQAAAAQAAAAEAAAAAAAAAAAAAAAAAAAAAAAAADAAAAAAAAAAQAAAAAAAAAAAAAAAtP7//wQAAAABAAAAAAAAAAAA
AAACAAAAIAAAAAwAAAAIABAAAAAEAAgAAABQAAAAAAAAAAAAAADI/P//AAAAAAAAAAABAAAAHAAAABgAKAAEAAAACAAMABAAFAAYABwAIAAkABgAAABY
AwAAPAEAADABAAAcAQAAlAAAADwAAAA0AAAADAAAAAQAAAAAAAAABAAAAAAAAAAAAAAAMAAAAAAAAAAQAAAAAAAAABAAAAAAAAAAAAAAAAEAAAAMAAAA
CAAMAAQACAAIAAAAHAAAAAQAAAAMAAAAbm9fc3RhdHNfb3V0AAAAAB4AAABhdGVuOjpfbmF0aXZlX2JhdGNoX25vcm1fbGVnaXQAAAEAAAAQAAAADAAU
AAQACAAMABAADAAAAGgAAABgAAAADAAAAAQAAAAAAAAAAQAAAAQAAADI/f//AAAAAQwAAAAIAAgAAAAEAAgAAAAEAAAACgAAAAAAAAABAAAAAgAAAAMA
AAAEAAAABQAAAAYAAAAHAAAACAAAAAkAAAAAAAAAAAAAAAMAAAAGAAAABwAAAAgAAAABAAAAAAAAAAoAAADUAQAAtAEAAKABAACAAQAAUAEAACwBAADE
AAAAbAAAACwAAAAEAAAAXP7//wAAAAoEAAAAGv///wQAAAADAAAABgAAAAcAAAAIAAAAgP7//wAAAAUEAAAAwv///wAABwEgAAAAFAAAAAMAAAAEAAAA
Vv///wMAAAABAAAAAAAAAAEAAAACAAAABP///wAAAAUcAAAAAAAWABgABgAAAAgADAAAABAAFAAAAAcAFgAAAAAABwEgAAAAFAAAAAIAAAAEAAAAqv//
/wIAAAABAAAAAAAAAAEAAAACAAAAWP///wAAAAUcAAAAAAAWABoABgAAAAgADAAAABAAFAAAAAcAFgAAAAAABwEoAAAAHAAAAAEAAAAMAAAAAAAGAAgA
BAAGAAAAAQAAAAMAAAAAAQIAAwAAAAEAAAACAAAAAwAAALz///8AAAAEDAAAAAAABgAMAAQABgAAAPFo44i1+OQ+3P///wAAAAQMAAAAAAAGABAABAAG
AAAAAAAAAAAA4D8AAAAACAAOAAcACAAIAAAAAAAAAwwAAAAAAAYACAAHAAYAAAAAAAAB3P///wAAAAEEAAAA8P///+z///8AAAABCAAAAAQABAAEAAAA
CAAMAAcACAAIAAAAAAAABRAAAAAMABAABwAAAAgADAAMAAAAAAAABxAAAAAEAAAAAwAAAAABAgADAAAAAQAAAAIAAAADAAAABwAAAGZvcndhcmQAAAAA
AAAAAAAAAAAAAAAAAAAAAAAAAAAAvr6+vr6+vr6+vr6+vr6+vr6+vr6+vr6+vr6+vr6+vr6+vr6+vr6+vr6+vr6+vr6+vr6+vr6+vr6+vr6+vr6+vr6+
vr6+vr6+vr6+vr6+vr4=
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
    torch.ops.aten._native_batch_norm_legit.no_stats_out(**ARGUMENTS, out=results[0], save_mean=results[1], save_invstd=results[2])
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
