"""A server of the wire protocol in Python: reads and writes bodies, answers frames. spec/runtime_protocol.md defines them."""
import os
import struct
import sys
import time
import zlib

# begin generated python from spec/protocol.yaml, by tools/specgen/blocks.py
HELLO, CAPS, RESET, KERNEL, LOAD, METHOD, SET_INPUT, EXECUTE, GET_OUTPUT, UNLOAD, PING, QUIT, STATE = range(1, 14)
OK, MALFORMED, INVALID, UNSUPPORTED, FAULT, EXHAUSTED, INTERNAL = range(0, 7)
NONE, TENSOR, INT, DOUBLE, BOOL, STRING, INTS, DOUBLES, BOOLS, TENSORS = range(0, 10)
# end generated python
MOST_BYTES = 1 << 28
HEADER = struct.Struct("<4sBBHII")


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


def with_length(data):
    return struct.pack("<I", len(data)) + data


def texts(*words):
    return struct.pack("<I", len(words)) + b"".join(with_length(word.encode()) for word in words)


class Refused(Exception):
    """Refuses a request, with a status and a message."""


def replied(answer, kind, body):
    """The body of the reply: what `answer(kind, body)` returns or raises."""
    begin, status, message, data = time.perf_counter_ns(), OK, "", b""
    try:
        data = body if kind == PING else b"" if kind == QUIT else answer(kind, Body(body))
    except Refused as refused:
        status, message = refused.args
    except struct.error as error:
        status, message = MALFORMED, str(error)
    except Exception as error:
        status, message = UNSUPPORTED if isinstance(error, NotImplementedError) else INVALID, f"{type(error).__name__}: {error}"
    return struct.pack("<BQQ", status, time.perf_counter_ns() - begin, 0) + with_length(b"") + with_length(message.encode()) + data


def framed(kind, number, body):
    begin = HEADER.pack(b"asay", 1, kind, number, len(body), 0)[:12]
    return begin + struct.pack("<I", zlib.crc32(body, zlib.crc32(begin))) + body


def requests(wire):
    kind = None
    while kind != QUIT and (header := wire.read(HEADER.size)):  # or until the input ends
        mark, version, kind, number, length, _ = HEADER.unpack(header)
        if mark != b"asay" or version != 1 or length > MOST_BYTES:
            sys.exit("the input is not a frame of version 1")
        yield kind, number, wire.read(length)


def serve(answer):
    """Answers requests until the input ends, or QUIT."""
    wire_out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # the standard output is for frames alone
    for kind, number, body in requests(sys.stdin.buffer):
        wire_out.write(framed(kind | 0x80, number, replied(answer, kind, body)))
        wire_out.flush()
