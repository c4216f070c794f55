"""The runtime protocol in Python: python3 end.py MODULE[:ATTRIBUTE] judges functions over numpy arrays, as assay starts it for python:MODULE.
The module is imported once: each block of cases has a fork of that process (--fork). A module that starts threads as it is imported does not take that:
`-- python3 end.py MODULE` is a process for each block. With --listen [HOST:]PORT this is an end for tcp:HOST:PORT, of another machine, too.

ATTRIBUTE, `kernels` where none is named, is a dict from operators' full names to functions. A function takes the arguments of the schema but the out
arguments, and returns an array, a number, or a tuple of them, which are converted to the dtypes of the outs. One that has a parameter `out` is also given
the outs, and may write to them and return None. bfloat16 and other dtypes that numpy lacks are raw bits, V1 or V2. NotImplementedError says
that there is no kernel for such a call; another exception refuses it. A module with a function `load(program, data)`, of bytes, runs programs, too:
what it returns is called with a method's name and a list of inputs, and returns a list of outputs. `name` and `facts`, a dict, are what a run
is to say of it.
"""
import argparse
import contextlib
import importlib
import inspect
import os
import pathlib
import select
import signal
import socket
import stat
import struct
import sys
import time
import traceback
import zlib

import numpy

HELLO, CAPS, RESET, KERNEL, LOAD, METHOD, SET_INPUT, EXECUTE, GET_OUTPUT, UNLOAD, PING, QUIT = range(1, 13)
OK, MALFORMED, INVALID, UNSUPPORTED, FAULT, EXHAUSTED, INTERNAL = range(7)
NONE, TENSOR, INT, DOUBLE, BOOL, STRING, INTS, DOUBLES, BOOLS, TENSORS = range(10)
HEADER = struct.Struct("<4sBBHII")
MOST_BYTES = 1 << 30
DTYPES = dict(enumerate("u1 i1 i2 i4 i8 f2 f4 f8 V4 c8 c16".split())) | {11: "?", 12: "V1", 13: "V1", 14: "V4", 15: "V2", 16: "V1", 17: "V1", 22: "V2", 23: "V1", 24: "V1", 25: "V1", 26: "V1", 27: "u2", 28: "u4", 29: "u8"}
NUMBERS = {numpy.dtype(text): number for number, text in reversed(DTYPES.items())}


class Body:
    def __init__(self, data):
        self.data, self.at = memoryview(data), 0

    def take(self, count):
        if count > len(self.data) - self.at:
            raise EOFError("a body ends too early")
        self.at += count
        return self.data[self.at - count:self.at]

    def number(self, kind):
        return struct.unpack("<" + kind, self.take(struct.calcsize("<" + kind)))[0]

    def bytes(self):
        return self.take(self.number("I"))

    def text(self):
        return str(self.bytes(), "utf-8")

    def list(self, read):
        return [read() for _ in range(self.number("I"))]

    def value(self):
        kind = self.number("B")
        if kind == TENSOR:
            return Tensor(self)
        plain = {INT: "q", DOUBLE: "d", BOOL: "?"}
        lists = {INTS: "q", DOUBLES: "d", BOOLS: "?"}
        if kind in plain:
            return self.number(plain[kind])
        if kind in lists:
            return self.list(lambda: self.number(lists[kind]))
        return {NONE: lambda: None, STRING: self.text, TENSORS: lambda: self.list(self.value)}[kind]()


class Tensor:
    """What came, as an array: elements lie in dim_order."""

    def __init__(self, body):
        self.dtype, rank = body.number("B"), body.number("B")
        sizes = [body.number("q") for _ in range(rank)]
        self.order = [body.number("B") for _ in range(rank)]
        flat = numpy.frombuffer(bytearray(body.bytes()), DTYPES[self.dtype])
        self.array = flat.reshape([sizes[d] for d in self.order]).transpose(numpy.argsort(self.order).tolist())


def tensor(array, dtype, order):
    """As it is sent: in this dim order, where it has as many dimensions."""
    order = order if len(order) == array.ndim else list(range(array.ndim))
    data = numpy.ascontiguousarray(array.transpose(order)).tobytes()
    return struct.pack(f"<BB{array.ndim}q{array.ndim}B", dtype, array.ndim, *array.shape, *order) + sized(data)


def sized(data):
    return struct.pack("<I", len(data)) + data


def texts(*all_texts):
    return b"".join(sized(text.encode()) for text in all_texts)


def value(v):
    """Of a program's outputs."""
    if isinstance(v, (bool, numpy.bool_)):
        return struct.pack("<B?", BOOL, v)
    if isinstance(v, (int, float)):
        return struct.pack("<Bq", INT, v) if isinstance(v, int) else struct.pack("<Bd", DOUBLE, v)
    if isinstance(v, str):
        return bytes([STRING]) + texts(v)
    return bytes([NONE]) if v is None else bytes([TENSOR]) + tensor(v, NUMBERS[v.dtype], range(v.ndim))


def plain(v):
    return v.array if isinstance(v, Tensor) else [plain(item) for item in v] if isinstance(v, list) else v


def written(result, out):
    """A result, of the dtype of its out; a number that an operator returns has none, and is bool, int64 or float64."""
    if out is None:
        array = numpy.asarray(result, "?" if isinstance(result, bool) else "i8" if isinstance(result, int) else "f8")
        return tensor(array, NUMBERS[array.dtype], [])
    array = numpy.asarray(result)
    if array.dtype != DTYPES[out.dtype]:
        raise TypeError(f"the result is {array.dtype}, but the out is {numpy.dtype(DTYPES[out.dtype])}")
    return tensor(array, out.dtype, out.order)


class End:
    """What answers: functions by operator, `load` where there are programs, and words of CAPS beside those."""

    def __init__(self, name, kernels, load=None, features=(), facts=()):
        self.name, self.kernels, self.load, self.features = name, kernels, load, features
        self.facts = {"python": sys.version.split()[0], "numpy": numpy.__version__} | dict(facts)
        self.programs, self.handles = {}, 0

    def answer(self, kind, body):
        if kind == HELLO:
            facts = [text for fact in self.facts.items() for text in fact]
            return texts(self.name) + struct.pack("<QII", 10**9, MOST_BYTES, len(self.facts)) + texts(*facts)
        if kind == CAPS:
            features = ["ping", "quit", *self.features, *(["instances", "programs"] if self.load else [])]
            return struct.pack("<I", len(features)) + texts(*features) + struct.pack("<I", len(self.kernels)) + texts(*self.kernels)
        if kind in (RESET, QUIT):
            self.programs.clear()
            return b""
        if kind == PING:
            return sized(bytes(body.bytes()))
        if kind == KERNEL:
            operator, _fill, outs = body.text(), body.number("B"), body.number("I")
            return self.kernel(operator, outs, body.list(body.value))
        if kind == LOAD and self.load:
            program, data = bytes(body.bytes()), body.list(lambda: bytes(body.bytes()))
            self.handles += 1
            self.programs[self.handles] = {"run": self.load(program, data)}
            return struct.pack("<I", self.handles)
        if not METHOD <= kind <= UNLOAD:
            raise NotImplementedError(f"there is no request {kind}")
        return self.of_program(kind, body.number("I"), body)

    def of_program(self, kind, handle, body):
        program = self.programs[handle]
        if kind == METHOD:
            program |= {"method": body.text(), "inputs": {}}
        if kind == SET_INPUT:
            which = body.number("I")
            program["inputs"][which] = plain(body.value())
        if kind == EXECUTE:
            inputs = [v for _, v in sorted(program["inputs"].items())]
            for _ in range(body.number("I")):
                program["outputs"] = program["run"](program["method"], inputs)
            return struct.pack("<I", len(program["outputs"]))
        if kind == GET_OUTPUT:
            return value(program["outputs"][body.number("I")])
        if kind == UNLOAD:
            del self.programs[handle]
        return b""

    def kernel(self, operator, count, values):
        if operator not in self.kernels:
            raise NotImplementedError(f"there is no kernel for {operator}")
        function, inputs, outs = self.kernels[operator], map(plain, values[:-count]), values[-count:]
        arrays = plain(outs)
        to = {"out": arrays if count > 1 else arrays[0]} if "out" in inspect.signature(function).parameters else {}
        results = function(*inputs, **to)
        if results is None:
            results = arrays
        elif count == 1:
            results = [results]
        results = [written(r, out) for r, out in zip(flat(results), flat(outs), strict=True)]
        return struct.pack("<I", len(results)) + b"".join(results)

    def reply(self, kind, body):
        begin, rule, message, data = time.perf_counter_ns(), "", "", b""
        try:
            status, data = OK, self.answer(kind, Body(body))
        except NotImplementedError as error:
            status, message = UNSUPPORTED, str(error)
        except MemoryError as error:
            status, message = EXHAUSTED, str(error)
        except EOFError as error:
            status, rule, message = MALFORMED, "protocol.body", str(error)
        except Exception as error:
            status, message = INVALID, f"{type(error).__name__}: {error}"
            traceback.print_exc()
        return struct.pack("<BQQ", status, time.perf_counter_ns() - begin, 0) + texts(rule, message) + data


def flat(values):
    return [item for v in values for item in (v if isinstance(v, (list, tuple)) else [v])]


def serve(end, wire_in, wire_out):
    """Answers until there is nothing more to read, or QUIT."""
    while len(header := wire_in.read(HEADER.size)) == HEADER.size:
        mark, version, kind, number, length, checksum = HEADER.unpack(header)
        if mark != b"asay" or version != 1 or length > MOST_BYTES:
            raise ValueError("what came is no frame of version 1")
        body = wire_in.read(length)
        if len(body) < length:
            return
        if checksum and checksum != zlib.crc32(body, zlib.crc32(header[:12])):
            raise ValueError("the checksum of a frame is not that of its bytes")
        reply = end.reply(kind, body)
        wire_out.write(HEADER.pack(b"asay", 1, kind | 0x80, number, len(reply), 0) + reply)
        wire_out.flush()
        if kind == QUIT:
            return


def binary_of(module):
    """The file of a module, with the digest that a run names binaries by: FNV-1a of 64 bits."""
    if not getattr(module, "__file__", None):
        return {}
    file, state = pathlib.Path(module.__file__), 0xcbf29ce484222325
    for byte in file.read_bytes():
        state = (state ^ byte) * 0x100000001b3 % 2**64
    return {f"file {file.name}": f"{state:016x}"}


def serve_in_forks(end, requests, take, until=None):
    """Serves each end that is asked for in a fork of this process, so that what crashes or hangs harms no other, as long as there are requests, or nobody
    writes to `until`. What `take` takes from the socket `requests` is the wire, where errors go, and a descriptor to watch: when nobody is there behind it,
    the fork is ended. Where that is a pipe, its wait status is told there."""
    sys.stdout.flush()  # or each fork would say it again
    poll, forks = select.poll(), {}  # by the two descriptors that say that one is to end, or has
    for descriptor in requests, *filter(None, [until]):
        poll.register(descriptor, select.POLLIN)
    try:
        while True:
            ready = {descriptor for descriptor, _ in poll.poll()}
            for child, exited, watched in {forks[descriptor] for descriptor in ready & forks.keys()}:
                signal.pidfd_send_signal(exited, signal.SIGKILL)
                tell(watched, os.waitpid(child, 0)[1])
                for descriptor in exited, watched:
                    poll.unregister(descriptor), forks.pop(descriptor), os.close(descriptor)
            if until in ready or requests.fileno() in ready and not (taken := take()):
                return
            if requests.fileno() in ready:
                wire, errors, watched = taken
                if (child := os.fork()) == 0:
                    serve_here(end, wire, errors, [requests.fileno(), watched, *forks])
                os.close(wire), os.close(errors)
                exited = os.pidfd_open(child)
                forks[exited] = forks[watched] = child, exited, watched
                poll.register(exited, select.POLLIN), poll.register(watched, select.POLLRDHUP)
    finally:
        for child, *_ in forks.values():
            os.kill(child, signal.SIGKILL)


def tell(watched, status):
    if stat.S_ISFIFO(os.fstat(watched).st_mode):
        with contextlib.suppress(BrokenPipeError):
            os.write(watched, struct.pack("=i", status))


def serve_here(end, wire, errors, of_others):
    """What ends this fork."""
    try:
        for descriptor in of_others:
            os.close(descriptor)
        os.dup2(errors, 1), os.dup2(errors, 2)
        serve(end, os.fdopen(wire, "rb", closefd=False), os.fdopen(wire, "wb", closefd=False))
        sys.stdout.flush()
        os._exit(0)
    except BaseException:
        traceback.print_exc()
    os._exit(1)


def listen(end, listener, until=None):
    """Serves each connection in a fork."""
    end.features = {*end.features, "connections"}

    def take():
        wire = listener.accept()[0].detach()
        return wire, os.dup(2), os.dup(wire)

    serve_in_forks(end, listener, take, until)


def fork(end, requests):
    """Serves in a fork each wire that comes over the socket, with where errors go and the status is told, until that is closed."""
    serve_in_forks(end, requests, lambda: socket.recv_fds(requests, 1, 3)[1])


def main():
    parser = argparse.ArgumentParser(description="Functions over numpy arrays as a testee.")
    parser.add_argument("module", metavar="MODULE[:ATTRIBUTE]")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--listen", metavar="[HOST:]PORT", help="answer over TCP, at 127.0.0.1 where no host is named")
    how.add_argument("--fork", action="store_true", help="fork an end for each wire that comes over the socket that is the standard input")
    arguments = parser.parse_args()
    module, _, attribute = arguments.module.partition(":")
    sys.path.insert(0, os.getcwd())
    # Nobody else has the wire: what is printed goes to the errors.
    wire_in, wire_out = os.dup(0), os.dup(1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0), os.dup2(2, 1)
    loaded = importlib.import_module(module)
    facts = binary_of(loaded) | getattr(loaded, "facts", {})
    end = End(getattr(loaded, "name", module), getattr(loaded, attribute or "kernels", {}), getattr(loaded, "load", None), facts=facts)
    if arguments.fork:
        return fork(end, socket.socket(fileno=wire_in))
    if not arguments.listen:
        return serve(end, os.fdopen(wire_in, "rb"), os.fdopen(wire_out, "wb"))
    host, _, port = arguments.listen.rpartition(":")
    with socket.create_server((host or "127.0.0.1", int(port))) as listener:
        os.write(wire_out, "listens at {}:{}\n".format(*listener.getsockname()).encode())
        listen(end, listener)


if __name__ == "__main__":
    main()
