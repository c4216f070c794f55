#!/usr/bin/env python3
"""aten::convolution.out#a96f9548

aten::convolution.out(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, SymInt[] padding, SymInt[] dilation, bool transposed, SymInt[] output_padding, SymInt groups, *, Tensor(a!) out) -> Tensor(a!)

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
    # [[[[0.001,-2.5,20,2147483648,3.39e+38,-300],[1e-38,3.14,1.01,20,-0.5,-1.01],[89,1.5,2,708,-2,1.17e-38],[inf,-7,12.5,-744,10,-17.5],[-744,0.001,-88.5,2,1.9e+19,-3.14]],[[4294967296,0.001,…],…],…]](1,4,5,6):bf16
    "input": tensor(torch.bfloat16, (1, 4, 5, 6), (120, 30, 6, 1), "gzogwKBBAE9/f5bDbQBJQIE/oEEAv4G/skLAPwBAMUQAwH8AgH/gwEhBOsQgQYzBOsSDOrHCAECEX0nAgE+DOrLCf3+iDTJBIEBt"
        "AIAAAEUgQQC/gAAAT+DAIEEzz6BBQECAT4M6f38BgMNHzT0oNxVQAEDgQABAf38BAMk/gD+oQSBBgP8gQUBAbQAgQQGA//8APzJB"
        "gIAB34AAIMEot809og0yQQDAwD+yQoC/mj4ARUDAScCAT38/AADgQABPgT+oQQAA0MJtAAMAsUKEX7HCmj5AwIzBwL8AReBAAQB/"
        "AHpEgzrAvxVQqEGywhVQ"),
    # [[[[-1.01,3.14],[9.3e+18,1],[4294967296,-0.3]],[[-3.39e+38,-nan],[-2,3],[-1.01,0.001]],[[3,3],[-3,inf],[9e-41,-9e-41]],[[88.5,-3],[-0.5,-9.3e+18],[88.5,-nan]]],[[[2048,-3],[1e-38,10],[2,-300]],[[2,2],…],…],…](6,4,3,2):bf16
    "weight": tensor(torch.bfloat16, (6, 4, 3, 2), (24, 6, 2, 1), "gb9JQAFfgD+AT5q+f////wDAQECBv4M6QEBAQEDAgH8BAAGAsUJAwAC/Ad+xQv//AEVAwG0AIEEAQJbDAEAAQEDAekSMwUDAgL8g"
        "wIM6SEEARQFfM8/NPSBBwL+ywqINSEHJPyDBskIgwbFCAEcBgIC/gL8AwJo+oEF/vzrEmr4Av20Agb+DOgMAgP+WQ7FCoEGWw+DA"
        "gb8ARX8AQECywn9/skIAwP/////JQslCFVAgQIE/SnGDOrFCog1gQIRfw8egQck/yUJ/f7FCKDcAQM29SnGAR6hBScAAPyg3hF/A"
        "P4D/gL8zz4B/FVBtAAHfAQAgQQBH0MIBgIC/zT1/ANDC4ECAT+DAfz/DxwBPbQDAPwMAQECA/5ZDAMB/AKhB"),
    # [0.3,3.5,-3003121664,0.5,88.5,1e+30]:bf16
    "bias": tensor(torch.bfloat16, (6,), (1,), "mj5gQDPPAD+xQkpx"),
    "stride": [1, 1],
    "padding": [0, 0],
    "dilation": [1, 1],
    "transposed": False,
    "output_padding": [1],
    "groups": 1,
}

# For each result its name, how it is laid out, whether the sign of a zero counts, and of each element the expected, the
# lowest and the highest right answer; the first alone where it is the only one, none where any values are right.
RESULTS = [
    ("out", torch.bfloat16, (1, 6, 3, 5), (90, 15, 5, 1), False,
        "wP/A/8D/wP/A/8D/wP/A/8D/wP/A/8D/wP/A/8D/wP+u4oB/gP+Af8D/JmGA/4D/gd/A/znvgH+A/4dfwP/A/4B/gP+A/8D/gH+A"
        "/4B/gH/A/4D/gP+A/4D/wP/A/8D/wP/A/8D/wP/A/8D/wP/A/8D/wP/A/8D/wP/A/8D/wP/A/8D/wP+A/8D/wP/A/4B/wP/A/4B/"
        "wP+A/8D/gP+A/8D/wP+Af4D/gP/A/4B/gP+Af4B/",
        "wP/A/8D/wP/A/8D/wP/A/8D/wP/A/8D/wP/A/8D/wP+u4oB/gP+Af8D/JmGA/4D/gd/A/znvgH+A/4dfwP/A/4B/gP+A/8D/gH+A"
        "/4B/gH/A/4D/gP+A/4D/wP/A/8D/wP/A/8D/wP/A/8D/wP/A/8D/wP/A/8D/wP/A/8D/wP/A/8D/wP+A/8D/wP/A/4B/wP/A/4B/"
        "wP+A/8D/gP+A/8D/wP+Af4D/gP/A/4B/gP+Af4B/",
        "wP/A/8D/wP/A/8D/wP/A/8D/wP/A/8D/wP/A/8D/wP+u4oB/gH+Af8D/JmGA/4D/gd/A/znvgH+A/4dfwP/A/4B/gP+A/8D/gH+A"
        "/4B/gH/A/4D/gP+A/4D/wP/A/8D/wP/A/8D/wP/A/8D/wP/A/8D/wP/A/8D/wP/A/8D/wP/A/8D/wP+A/8D/wP/A/4B/wP/A/4B/"
        "wP+A/8D/gP+A/8D/wP+Af4D/gP/A/4B/gP+Af4B/"),
]

EXPECTED = "[[[[-nan,-nan,-nan,-nan,-nan],[-nan,-nan,-nan,-nan,-nan],[-nan,-nan,-nan,-nan,-nan]],[[-nan,-1.605e+21,inf,-inf,inf],[-nan,1.91e+20,-inf,-inf,-1.86e+19],[-nan,-5.73e+28,inf,-inf,1.95e+19]],[[-nan,-nan,\u2026],\u2026],\u2026]](1,6,3,5):bf16"
IS_VALID = True

# The call as a program: its one method has the tensors above as inputs and the call as its only instruction.
PROGRAM = """
PAAAAEVUMTJlaDAwIAAAAPgEAAAAAAAAAAUAAAAAAAC0AAAAAAAAABQAIAAAAAQACAAMABAAFAAYABwAFAAAAJAAAACIAAAAgAAAAFQAAAA8AAAADAAA
AAQAAAAAAAAAAQAAAAQAAAAs////AQAAAAQAAAACAAAAAAAAAAAAAAAAAAAAAAAAAAAAAADc/v//BAAAAAEAAAAAAAAAAAAAAAIAAAAgAAAADAAAAAgA
EAAAAAQACAAAALQAAAAAAAAAAAAAAAz9//8AAAAAAAAAAAEAAAAcAAAAGAAoAAQAAAAIAAwAEAAUABgAHAAgACQAGAAAAPgDAAAYAQAABAEAAPgAAABs
AAAALAAAACQAAAAMAAAABAAAAAAAAAACAAAAAAAAAAAAAAC0AAAAAAAAAAAAAAABAAAADAAAAAgADAAEAAgACAAAABAAAAAEAAAAAwAAAG91dAARAAAA
YXRlbjo6Y29udm9sdXRpb24AAAABAAAAEAAAAAwAFAAEAAgADAAQAAwAAABsAAAAZAAAAAwAAAAEAAAAAAAAAAEAAAAEAAAABP3//wAAAAEMAAAACAAI
AAAABAAIAAAABAAAAAsAAAAAAAAAAQAAAAIAAAAFAAAACAAAAAsAAAAMAAAADgAAAA8AAAAQAAAAEAAAAAAAAAAAAAAAAQAAABAAAAADAAAAAAAAAAEA
AAACAAAAEQAAAJQCAABQAgAAIAIAAPgBAADMAQAAmAEAAIABAABsAQAAPAEAACABAAAEAQAA2AAAAMQAAACoAAAAhAAAAGgAAAAEAAAASP7//wAAAAUc
AAAAAAAWABgABgAAAAgADAAAABAAFAAAAAcAFgAAAAAADwEgAAAAFAAAAAEAAAAEAAAAxv7//wEAAAAEAAAAAAECAwQAAAABAAAABgAAAAMAAAAFAAAA
GP7//wAAAAIEAAAAxv7//wEAAAAAAAAAMP7//wAAAAcEAAAADv///wQAAAABAAAADQAAAAAAAABQ/v//AAAAAgQAAAD+/v//AQAAAAAAAABo/v//AAAA
AwQAAABc////eP7//wAAAAcEAAAAVv///wQAAAACAAAACQAAAAAAAAAKAAAAAAAAAKD+//8AAAACBAAAAE7///8BAAAAAAAAALj+//8AAAACBAAAAGb/
//8BAAAAAAAAAND+//8AAAAHBAAAAK7///8EAAAAAgAAAAYAAAAAAAAABwAAAAAAAAAAAAAA/P7//wAAAAIEAAAA8P///wz///8AAAACCAAAAAQABAAE
AAAAsP///wAAAAcMAAAAAAAGAAgABAAGAAAABAAAAAIAAAADAAAAAAAAAAQAAAAAAAAA4P///wAAAAIMAAAAAAAGAAwABAAGAAAAAQAAAAAAAAAIAA4A
BwAIAAgAAAAAAAACDAAAAAAABgAQAAQABgAAAAEAAAAAAAAAAAAAAJz///8AAAAFBAAAAJT///8AAAAPEAAAAAQAAAABAAAAAAAAAAEAAAAGAAAAyP//
/wAAAAUEAAAAwP///wAAAA8QAAAABAAAAAQAAAAAAQIDBAAAAAYAAAAEAAAAAwAAAAIAAAAIAAwABwAIAAgAAAAAAAAFEAAAAAwAEAAHAAAACAAMAAwA
AAAAAAAPEAAAAAQAAAAEAAAAAAECAwQAAAABAAAABAAAAAUAAAAGAAAABwAAAGZvcndhcmQAAAAAAAAAAAC+vr6+vr6+vr6+vr6+vr6+vr6+vr6+vr6+
vr6+vr6+vr6+vr6+vr6+vr6+vr6+vr6+vr6+vr6+vr6+vr6+vr6+vr6+vr6+vr6+vr6+vr6+vr6+vr6+vr6+vr6+vr6+vr6+vr6+vr6+vr6+vr6+vr6+
vr6+vr6+vr6+vr6+vr6+vr6+vr6+vr6+vr6+vr6+vr6+vr6+vr6+vr6+vr6+vr6+vr6+vr6+vr6+vr6+vr6+vr6+vr4=
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
    torch.ops.aten.convolution.out(**ARGUMENTS, out=results[0])
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
