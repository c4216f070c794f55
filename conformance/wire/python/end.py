"""A server of the wire protocol for functions over numpy arrays: python3 end.py MODULE[:ATTRIBUTE], as assay starts
it for python:MODULE.

The module is imported once; each block of cases is served by a fork of that process (--fork). That fails for a
module that starts threads while it is imported: `-- python3 end.py MODULE` starts a process for each block instead.
With --listen [HOST:]PORT this is a server for tcp:HOST:PORT, also from another machine.

ATTRIBUTE, by default `kernels`, is a dict from full names of operators to functions. A function receives the
arguments of the schema without the outs. It returns an array, a number, or a tuple of them. An array has the dtype of
its out; a number of Python is converted to it, unless that drops a fraction or an imaginary part. A function with a
parameter `out` also receives the outs; it may write to them and return None. bfloat16 and other dtypes that
numpy lacks are raw bytes, V1, V2 or V4. A function raises NotImplementedError where it has no kernel for such a call;
any other exception refuses the call.

A module with a function `load(program, data)`, which receives bytes, also runs programs: the object that it returns
is called with the name of a method and a list of inputs, and returns a list of outputs. The elements of an input have
their places whatever its dim order in the request is. `name` and `facts`, a dict,
are shown in the header of a run.

A program that shall be timed is not called if it has a method `prepared(method, inputs)`, which returns an object with
two functions: `run()` computes, and `outputs()` returns the list of outputs of the last run. The ticks of an EXECUTE
count its calls of `run` alone.
"""
import argparse
import contextlib
import functools
import importlib
import inspect
import itertools
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

try:
    import numpy
except ModuleNotFoundError as missing:
    if __name__ != "__main__":
        raise
    sys.exit(f"{sys.executable} cannot import numpy: {missing}")

# begin generated python from spec/protocol.yaml, by tools/specgen/blocks.py
HELLO, CAPS, RESET, KERNEL, LOAD, METHOD, SET_INPUT, EXECUTE, GET_OUTPUT, UNLOAD, PING, QUIT, STATE = range(1, 14)
OK, MALFORMED, INVALID, UNSUPPORTED, FAULT, EXHAUSTED, INTERNAL = range(0, 7)
NONE, TENSOR, INT, DOUBLE, BOOL, STRING, INTS, DOUBLES, BOOLS, TENSORS = range(0, 10)
# end generated python
HEADER = struct.Struct("<4sBBHII")
MOST_BYTES = 1 << 30
# By the number of a dtype, what numpy calls it; raw bytes where numpy has none.
# begin generated numpy_numbers from spec/dtypes.yaml, by tools/specgen/blocks.py
CODES = {
    0: "u1", 1: "i1", 2: "i2", 3: "i4", 4: "i8", 5: "f2", 6: "f4", 7: "f8", 8: "V4", 9: "c8", 10: "c16", 11: "b1",
    12: "V1", 13: "V1", 14: "V4", 15: "V2", 16: "V1", 17: "V1", 22: "V2", 23: "V1", 24: "V1", 25: "V1", 26: "V1",
    27: "u2", 28: "u4", 29: "u8",
}
# end generated numpy_numbers
NUMBERS = {numpy.dtype(text): number for number, text in reversed(CODES.items())}


class Body:
    """Reads a body."""

    def __init__(self, data):
        self.data, self.at = memoryview(data), 0

    def take(self, count):
        if count > len(self.data) - self.at:
            raise EOFError("the body of a frame ends too early")
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
    """A tensor of a body, as an array. Its elements lie in dim_order."""

    def __init__(self, body):
        self.dtype, rank = body.number("B"), body.number("B")
        sizes = [body.number("q") for _ in range(rank)]
        self.order = [body.number("B") for _ in range(rank)]
        flat = numpy.frombuffer(bytearray(body.bytes()), CODES[self.dtype])
        self.array = flat.reshape([sizes[d] for d in self.order]).transpose(numpy.argsort(self.order).tolist())


def tensor(array, dtype, order):
    """The bytes of an array in this dim order, or contiguous if the order is of another rank."""
    order = order if len(order) == array.ndim else list(range(array.ndim))
    data = numpy.ascontiguousarray(array.transpose(order)).tobytes()
    return struct.pack(f"<BB{array.ndim}q{array.ndim}B", dtype, array.ndim, *array.shape, *order) + sized(data)


def sized(data):
    return struct.pack("<I", len(data)) + data


def texts(*all_texts):
    return b"".join(sized(text.encode()) for text in all_texts)


def value(v):
    """The bytes of an output of a program."""
    if isinstance(v, (bool, numpy.bool_)):
        return struct.pack("<B?", BOOL, v)
    if isinstance(v, (int, float)):
        return struct.pack("<Bq", INT, v) if isinstance(v, int) else struct.pack("<Bd", DOUBLE, v)
    if isinstance(v, str):
        return bytes([STRING]) + texts(v)
    return bytes([NONE]) if v is None else bytes([TENSOR]) + tensor(v, NUMBERS[v.dtype], range(v.ndim))


def plain(v):
    """A value with arrays for tensors."""
    return v.array if isinstance(v, Tensor) else [plain(item) for item in v] if isinstance(v, list) else v


def written(result, out):
    """The bytes of a result. An array must have the dtype of its out, and a number of Python is converted to it. A number
    that an operator returns has no out: it is bool, int64 or float64."""
    if out is None:
        array = numpy.asarray(result, "?" if isinstance(result, bool) else "i8" if isinstance(result, int) else "f8")
        return tensor(array, NUMBERS[array.dtype], [])
    is_number = isinstance(result, (bool, int, float, complex)) and not isinstance(result, numpy.generic)
    is_kept = is_number and numpy.can_cast(numpy.min_scalar_type(result), CODES[out.dtype], "same_kind")
    array = numpy.asarray(result, CODES[out.dtype] if is_kept else None)
    if array.dtype != CODES[out.dtype]:
        raise TypeError(f"the result is {array.dtype}, but the out is {numpy.dtype(CODES[out.dtype])}")
    return tensor(array, out.dtype, out.order)


class Calls:
    """The runs of a program that is a function: calls with the same inputs."""

    def __init__(self, program, method, inputs):
        self.program, self.method, self.inputs = program, method, inputs

    def run(self):
        self.results = self.program(self.method, self.inputs)

    def outputs(self):
        return self.results


class Server:
    """Answers requests: `kernels` are functions by operator, `load` loads programs, `features` are further words of
    CAPS."""

    def __init__(self, name, kernels, load=None, features=(), facts=()):
        self.name, self.kernels, self.load, self.features = name, kernels, load, features
        self.facts = {"python": sys.version.split()[0], "numpy": numpy.__version__} | dict(facts)
        self.programs, self.handles = {}, 0

    def answer(self, kind, body):
        if kind == HELLO:
            facts = [text for fact in self.facts.items() for text in fact]
            return texts(self.name) + struct.pack("<QII", 10**9, MOST_BYTES, len(self.facts)) + texts(*facts)
        if kind == CAPS:
            features = ["ping", "quit", *self.features, *(["instances", "programs", "dim_orders"] if self.load else [])]
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
            raise NotImplementedError(f"the server does not know request {kind}")
        return self.of_program(kind, body.number("I"), body)

    def of_program(self, kind, handle, body):
        program = self.programs[handle]
        if kind == METHOD:
            program |= {"method": body.text(), "inputs": {}}
            program.pop("prepared", None)
        if kind == SET_INPUT:
            which = body.number("I")
            program["inputs"][which] = plain(body.value())
            program.pop("prepared", None)
        if kind == EXECUTE:
            self.execute(program, body.number("I"))
            return struct.pack("<I", len(program["outputs"]))
        if kind == GET_OUTPUT:
            return value(program["outputs"][body.number("I")])
        if kind == UNLOAD:
            del self.programs[handle]
        return b""

    def execute(self, program, times):
        if "prepared" not in program:
            loaded, inputs = program["run"], [v for _, v in sorted(program["inputs"].items())]
            prepare = getattr(loaded, "prepared", None) or functools.partial(Calls, loaded)
            program["prepared"] = prepare(program["method"], inputs)
        run, begin = program["prepared"].run, time.perf_counter_ns()
        for _ in itertools.repeat(None, times):
            run()
        self.ticks = time.perf_counter_ns() - begin
        program["outputs"] = program["prepared"].outputs()

    def kernel(self, operator, count, values):
        if operator not in self.kernels:
            raise NotImplementedError(f"the server has no kernel for {operator}")
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
        self.ticks = None
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
        ticks = time.perf_counter_ns() - begin if self.ticks is None else self.ticks
        return struct.pack("<BQQ", status, ticks, 0) + texts(rule, message) + data


def flat(values):
    return [item for v in values for item in (v if isinstance(v, (list, tuple)) else [v])]


def serve(server, wire_in, wire_out):
    """Answers requests until the input ends, or QUIT."""
    while len(header := wire_in.read(HEADER.size)) == HEADER.size:
        mark, version, kind, number, length, checksum = HEADER.unpack(header)
        if mark != b"asay" or version != 1 or length > MOST_BYTES:
            raise ValueError("the input is not a frame of version 1")
        body = wire_in.read(length)
        if len(body) < length:
            return
        if checksum and checksum != zlib.crc32(body, zlib.crc32(header[:12])):
            raise ValueError("the checksum of a frame differs from the checksum of its bytes")
        reply = server.reply(kind, body)
        wire_out.write(HEADER.pack(b"asay", 1, kind | 0x80, number, len(reply), 0) + reply)
        wire_out.flush()
        if kind == QUIT:
            return


def binary_of(module):
    """A fact: the file of a module, with the digest that a run has of binaries: FNV-1a of 64 bits."""
    if not getattr(module, "__file__", None):
        return {}
    file, state = pathlib.Path(module.__file__), 0xcbf29ce484222325
    for byte in file.read_bytes():
        state = (state ^ byte) * 0x100000001b3 % 2**64
    return {f"file {file.name}": f"{state:016x}"}


def serve_in_forks(server, requests, take, until=None):
    """Answers each request with a fork of this process, so that a crash or a hang affects one connection alone. Returns
    when `requests` is closed or something is written to `until`. `take` receives a request from the socket `requests`:
    the wire, the descriptor for standard error, and a descriptor to watch. The fork is killed when the other side of
    that one is closed. If it is a pipe, the wait status of the fork is written to it."""
    sys.stdout.flush()  # else each fork would print what is buffered
    poll, forks = select.poll(), {}  # by two descriptors: the one tells that a fork has exited, the other that it must
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
                    serve_here(server, wire, errors, [requests.fileno(), watched, *forks])
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


def serve_here(server, wire, errors, of_others):
    """Serves one connection in a fork, and exits."""
    try:
        for descriptor in of_others:
            os.close(descriptor)
        os.dup2(errors, 1), os.dup2(errors, 2)
        serve(server, os.fdopen(wire, "rb", closefd=False), os.fdopen(wire, "wb", closefd=False))
        sys.stdout.flush()
        os._exit(0)
    except BaseException:
        traceback.print_exc()
    os._exit(1)


def listen(server, listener, until=None):
    """Serves each connection to a listening socket in a fork."""
    server.features = {*server.features, "connections"}

    def take():
        wire = listener.accept()[0].detach()
        return wire, os.dup(2), os.dup(wire)

    serve_in_forks(server, listener, take, until)


def fork(server, requests):
    """Serves in a fork each wire that is sent over the socket, with descriptors for errors and for the wait status."""
    serve_in_forks(server, requests, lambda: socket.recv_fds(requests, 1, 3)[1])


def imported(module):
    """The module. If it, or a module that it imports, is missing, the process ends with a sentence."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as missing:
        sys.exit(f"{sys.executable} cannot import {module}: {missing}")


def main():
    parser = argparse.ArgumentParser(description="Functions over numpy arrays as a testee.")
    parser.add_argument("module", metavar="MODULE[:ATTRIBUTE]")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--listen", metavar="[HOST:]PORT", help="answer over TCP, at 127.0.0.1 unless a host is named")
    how.add_argument("--fork", action="store_true", help="fork a server for each wire that is sent over the socket at the standard input")
    arguments = parser.parse_args()
    module, _, attribute = arguments.module.partition(":")
    sys.path.insert(0, os.getcwd())
    # The wire is for frames alone: what the module prints goes to standard error.
    wire_in, wire_out = os.dup(0), os.dup(1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0), os.dup2(2, 1)
    loaded = imported(module)
    facts = binary_of(loaded) | getattr(loaded, "facts", {})
    server = Server(getattr(loaded, "name", module), getattr(loaded, attribute or "kernels", {}), getattr(loaded, "load", None), facts=facts)
    if arguments.fork:
        return fork(server, socket.socket(fileno=wire_in))
    if not arguments.listen:
        return serve(server, os.fdopen(wire_in, "rb"), os.fdopen(wire_out, "wb"))
    host, _, port = arguments.listen.rpartition(":")
    with socket.create_server((host or "127.0.0.1", int(port))) as listener:
        os.write(wire_out, "listens at {}:{}\n".format(*listener.getsockname()).encode())
        listen(server, listener)


if __name__ == "__main__":
    main()
