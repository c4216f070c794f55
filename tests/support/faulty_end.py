"""The example in Python, which does one thing wrong, named by its first argument, in calls whose input's bytes have a certain sum.

A second argument is how many elements the input must have, too: so that few other calls are slow."""
import os
import pathlib
import signal
import struct
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "doc" / "examples" / "protocol"))
import kernels
import wire

FAULT, *COUNT = sys.argv[1:]
HEADER = wire.HEADER
HEAD = struct.calcsize("<BQQII")  # of a reply without words
TENSOR = HEAD + 4  # where it stands behind the count of outs


def tensors(body):
    b = wire.Body(body)
    b.bytes(), b.number("B"), b.number("I")
    return kernels.values(b)


def is_chosen(x):
    if COUNT and len(x.elements) != int(COUNT[0]):
        return False
    return len(x.elements) > 1 and x.dtype == 6 and sum(struct.pack(f"{len(x.elements)}f", *x.elements)) % 7 == 3


# -- results that are wrong --------------------------------------------------------------------------------------------


def value(result, out):
    result.elements[-1] += 1000


def shape(result, out):
    result.sizes, result.order = (2, *result.sizes), (0, *(d + 1 for d in result.order))
    result.elements = result.elements * 2


def unwritten(result, out):
    result.elements[-1] = out.elements[-1]


def reads(result, out):
    result.elements[0] = 1 if out.elements[0] > 0 else 2


def differs(result, out):
    result.elements[0] = time.monotonic_ns() % 997


RESULTS = {f.__name__: f for f in (value, shape, unwritten, reads, differs)}


# -- replies that are none ---------------------------------------------------------------------------------------------


class Wire:
    def __init__(self):
        self.file = os.fdopen(os.dup(1), "wb")
        os.dup2(2, 1)

    def write(self, data):
        self.file.write(data)
        self.file.flush()

    def write_again_and_again(self, data):
        while True:
            self.write(data)

    def drip(self, data):
        for byte in data:
            self.write(bytes([byte]))
            time.sleep(0.3)

    def close(self):
        self.file.close()
        os.close(0)
        time.sleep(1000)

    def misbehave(self, kind, number, reply):
        def frame(body=reply, version=1, kind=kind | 0x80, number=number, length=None, checksum=0):
            return HEADER.pack(b"asay", version, kind, number, len(body) if length is None else length, checksum) + body

        def put(at, data):
            return frame(reply[:at] + data + reply[at + len(data):])

        {
            "hang": lambda: time.sleep(1000),
            "crash": lambda: os.kill(os.getpid(), signal.SIGSEGV),
            "abort": os.abort,
            "exit": lambda: (print("no such luck", file=sys.stderr, flush=True), os._exit(3)),
            "garbage": lambda: self.write(b"Traceback (most recent call last):"),
            "flood": lambda: self.write_again_and_again(bytes(1 << 16)),
            "log": lambda: self.write_again_and_again(HEADER.pack(b"asay", 1, 127, number, 4, 0) + b"blah"),
            "drip": lambda: self.drip(frame()),
            "half": lambda: (self.write(frame()[:-3]), os._exit(0)),
            "stalls": lambda: (self.write(frame()[:-3]), time.sleep(1000)),
            "close": self.close,
            "version": lambda: self.write(frame(version=2)),
            "length": lambda: self.write(frame(length=0xFFFFFFFF)),
            "checksum": lambda: self.write(frame(checksum=1)),
            "kind": lambda: self.write(frame(kind=0x85)),
            "number": lambda: self.write(frame(number=number ^ 1)),
            "twice": lambda: self.write(frame() * 2),
            "status": lambda: self.write(put(0, b"\x09")),
            "short": lambda: self.write(frame(reply[:-1])),
            "long": lambda: self.write(frame(reply + b"?")),
            "counts": lambda: self.write(put(HEAD, b"\xff" * 4)),
            "dtype": lambda: self.write(put(TENSOR, b"\x63")),
            "rank": lambda: self.write(put(TENSOR + 1, b"\x11")),
            "sizes": lambda: self.write(put(TENSOR + 2, b"\xff" * 8)),
            "outs": lambda: self.write(frame(reply[:HEAD] + struct.pack("<I", 2) + reply[TENSOR:] * 2)),
        }[FAULT]()


def main():
    line, spoilt_by = Wire(), None
    for kind, number, body in wire.requests(sys.stdin.buffer):
        reply = wire.replied(kernels.answer, kind, body)
        is_answer = kind == wire.KERNEL and reply[0] == wire.OK
        result = kernels.Tensor.read(wire.Body(reply[TENSOR:])) if is_answer else None
        x, out = tensors(body) if is_answer else (None, None)
        is_wrong = is_answer and is_chosen(x)
        if is_answer and spoilt_by and spoilt_by != x.elements:
            result.elements = [1000 for _ in result.elements]
        elif is_wrong and FAULT in RESULTS:
            RESULTS[FAULT](result, out)
        elif is_wrong and FAULT not in ("", "stale"):
            line.misbehave(kind, number, reply)
            continue
        if is_wrong and FAULT == "stale" and not spoilt_by:
            spoilt_by = x.elements
        line.write(wire.framed(kind | 0x80, number, reply[:TENSOR] + result.written() if is_answer else reply))


if __name__ == "__main__":
    main()
