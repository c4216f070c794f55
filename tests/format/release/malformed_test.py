"""Attacks on each format with deep, wide, shared, huge, quadratic and contradictory content."""
import json
import struct
import unittest

import flat_programs as flat
from flat_programs import INT_LIST, STRING, TENSOR_LIST, bundled, delegate, delegate_call, integer, items, jump, kernel, operator, tensor
from hostile import Hostile
from source import PROGRAMS

MANY = 100_000
MLP, MLP_INPUT = PROGRAMS / "mlp" / "program.pte", PROGRAMS / "mlp" / "call0_input0.npy"
ADD = [operator("aten::add", "out")]
X, Y, ONE, ZERO = tensor([2, 3], 1, 0), tensor([2, 3], 1, 32), integer(1), integer(0)
DOUBLED = kernel(0, [0, 0, 2, 1, 1])
CONDITION = tensor([], 1, 60, dtype=11)


def method(values=(), calls=(DOUBLED,), inputs=(0,), outputs=(1,), operators=ADD, sizes=(0, 64), **more):
    return flat.plan("forward", flat.List([X, Y, ONE, *values]), flat.List(calls), inputs, outputs, operators, sizes=sizes, **more)


def program(*arguments, segments=None, **more):
    return flat.program([method(*arguments, **more)], segments=segments)


def lists_of(kind, name, code, calls):
    """Calls that share one list."""
    listed = items(kind, [0 if kind == TENSOR_LIST else 2] * MANY, code)
    arguments = [3, 2, 1, 1] if kind == TENSOR_LIST else [0, 3, 1, 1]
    return program([listed], [kernel(0, arguments) for _ in range(calls)], operators=[operator(name, "out")], sizes=[0, 8 * MANY])


def results(methods, calls):
    """Calls with so many results that each pair of them must be compared."""

    def one(name):
        parts = [tensor([1], 1, 64 + 4 * i) for i in range(9000)]
        values = [tensor([9000], 1, 80_000), Y, ONE, integer(0), *parts, items(TENSOR_LIST, range(4, 9004))]
        chain = flat.List([kernel(0, [0, 2, 3, 9004, 9004])] * calls)
        return flat.plan(name, values, chain, [0], [4], [operator("aten::split_copy", "Tensor_out")], sizes=[0, 200_000])

    return flat.program([one(f"method {i}") for i in range(methods)])


def handles(sources):
    """Two handles that each may refer to many tensors, compared with each other again and again."""
    base = [tensor([2, 3], 1, 32 * i) for i in range(2 * sources)]
    first, second = 4 + 2 * sources, 5 + 2 * sources
    moves = [flat.move(4 + i, first if i < sources else second) for i in range(2 * sources)]
    inputs = [4 + i for i in range(2 * sources)]
    values = flat.List([X, Y, ONE, ZERO, *base, tensor([2, 3]), tensor([2, 3])])
    calls = moves + [kernel(0, [first, first, 2, second, second])] * sources
    return flat.program([flat.plan("forward", values, flat.List(calls), inputs, [4], ADD, sizes=[0, 64 * sources])])


class Programs(Hostile):
    """Code 0: valid; 3: malformed; 4: invalid; 7: more than any exporter's program needs."""

    FILES = {
        "methods of one name": (4, lambda: flat.program([flat.plan("forward", [], []) for _ in range(10_000)])),
        "one method again and again": (3, lambda: flat.program([method()] * MANY)),
        "one key again and again": (4, lambda: flat.program([method()], segments=[bytes(16)], named=[("k", 0)] * MANY)),
        "keys with a long beginning in common": (0, lambda: flat.program([method()], segments=[bytes(16)], named=[("k" * 200 + str(i), 0) for i in range(MANY // 2)])),
        "jumps over all that follows": (0, lambda: program([CONDITION], [jump(3, 20_000) for _ in range(20_000)] + [DOUBLED], [0, 3])),
        "jumps into each other": (4, lambda: program([CONDITION], [i for k in range(20_000) for i in (jump(3, max(0, 2 * k - 1)), DOUBLED)], [0, 3])),
        "loops around loops": (4, lambda: program([CONDITION], [DOUBLED] * 3000 + [jump(3, i) for i in range(3000)], [0, 3])),
        "tensors that overlap all others": (4, lambda: program([tensor([20_000], 1, 4 * i) for i in range(20_000)], [kernel(0, [i, i, 2, i, i]) for i in range(3, 20_000)], sizes=[0, 200_000])),
        "a list that many calls concatenate": (7, lambda: lists_of(TENSOR_LIST, "aten::cat", "i", 10_000)),
        "a list of integers that many calls read": (7, lambda: lists_of(INT_LIST, "aten::view_copy", "q", 10_000)),
        "a list that many delegates take": (7, lambda: program([items(TENSOR_LIST, [0] * MANY)], [delegate_call(0, [3, 1]) for _ in range(10_000)], delegates=[delegate("Other", 0, inline=False)], segments=[b"payload"])),
        "calls of many results": (7, lambda: results(1, 500)),
        "methods with a call of many results each": (7, lambda: results(4, 1)),
        "handles of many tensors": (7, lambda: handles(20_000)),
        "tiny tensors": (0, lambda: program([tensor([], 1, 32 + 4 * (i % 2)) for i in range(20_000)])),
        "tensors with memory of their own": (0, lambda: program([tensor([1], dynamism=2) for _ in range(20_000)])),
        "a tensor of many dimensions": (4, lambda: program([tensor([2**31 - 1] * 200_000, 1, dim_order=[0] * 200_000)])),
        "a tensor of huge sizes": (4, lambda: program([tensor([2**31 - 1] * 16, 1)])),
        "an empty tensor of huge sizes": (4, lambda: program([tensor([2**31 - 1] * 15 + [0], 1)])),
        "operators of one name": (0, lambda: program(operators=[operator("aten::add", "out") for _ in range(20_000)])),
        "operators that nobody has": (0, lambda: program((), [DOUBLED] + [kernel(i + 1, [0, 1]) for i in range(20_000)], operators=ADD + [operator("x" * 80 + str(i), "out") for i in range(20_000)])),
        "a delegate again and again": (7, lambda: program(delegates=[delegate("B" * 1000, 0)] * MANY)),
        "a long string again and again": (7, lambda: program([flat.value(STRING, flat.Table(flat.text(b"x" * (1 << 20))))] * 2000)),
        "many buffers": (0, lambda: program(sizes=[0, 64] + [1] * MANY)),
        "large buffers": (0, lambda: program(sizes=[0, 64] + [1 << 40] * 10)),
        "segments over each other": (3, lambda: flat.program([method()], segments=[bytes(16)])[:-16].replace(struct.pack("<QQ", 0, 16), struct.pack("<QQ", 8, 16)) + bytes(16)),
    }

    def test_each_command_ends(self):
        for kind, (code, make) in self.FILES.items():
            path = self.write("program.pte", make())
            for command in ["check"], ["inspect"], ["inspect", "--json"], ["run"], ["run", "--trace", "--input", "1"]:
                with self.subTest(kind, command=command):
                    self.harmless(command[0], path, *command[1:], code=code if command == ["check"] else None)

    def test_delegates_of_delegates_run_out_of_work(self):
        content = flat.program([flat.adder()])
        for _ in range(7):
            content = flat.program([flat.plan("forward", [X, Y], [delegate_call(0, [0, 1])] * 10, [0], [1], delegates=[delegate("ProgramBackend", 0)], sizes=[0, 64])], [content])
        path = self.write("nested.pte", content)
        x = self.write("x.npy", array("(2, 3)", body=bytes(24)))
        self.harmless("check", path, code=0)
        for more in [], ["--trace"], ["--max-instructions", 100]:
            self.harmless("run", path, "--input", x, *more, code=7)

    def test_a_payload_that_is_its_own_host(self):
        own = flat.program([method((), [delegate_call(0, [0, 1])], delegates=[delegate("ProgramBackend", 0)])], segments=[bytes(64)])
        host = flat.program([method((), [delegate_call(0, [0, 1])], delegates=[delegate("ProgramBackend", 0, inline=False)])], segments=[own])
        self.harmless("check", self.write("host.pte", host), code=4, rule="delegate 0 of forward")


class DataFiles(Hostile):
    def test_each_command_ends(self):
        one = flat.Table(flat.text("k" * 100), flat.u32(0), flat.Table(flat.i8(6), flat.numbers("i", [2]), flat.numbers("B", [0])))
        for kind, code, content in (
            ("valid", 0, flat.data_file([("k", 0, (6, [2], [0]))], [(0, 8)], bytes(8))),
            ("one key again and again", 7, flat.data_file(flat.List([one] * MANY), [(0, 8)], bytes(8))),
            ("many keys", 0, flat.data_file([(f"key {i}", 0, None) for i in range(MANY)], [(0, 8)], bytes(8))),
            ("huge sizes", 4, flat.data_file([("k", 0, (6, [2**31 - 1] * 16, range(16)))], [(0, 8)], bytes(8))),
            ("more space than the file has", 3, flat.data_file([("k", 0, None)], [(0, 2**63)], bytes(8), space=2**64 - 1)),
            ("segments over each other", 3, flat.data_file([("k", 0, None)], [(0, 8)] * MANY, bytes(8))),
            ("a key that forges", 0, flat.data_file([("\x1b[2J\nvalid", 0, None)], [(0, 8)], bytes(8))),
        ):
            path = self.write("data.ptd", content)
            with self.subTest(kind):
                self.harmless("check", path, code=code)
                self.harmless("inspect", path)
                for command in "check", "inspect":
                    self.harmless(command, PROGRAMS / "external_constants" / "program.pte", "--data", path, "--data", path)


class Bundles(Hostile):
    def test_each_command_ends(self):
        good = bundled([2, 3], [1.0] * 6)
        one = flat.case([good], [bundled([2, 3], [2.0] * 6)])
        content = flat.program([flat.adder()])
        of = lambda suites, program=content: flat.bundle(program, suites)
        for kind, code, bundle in (
            ("valid", 0, of([flat.suite("forward", [one])])),
            ("one case again and again", 3, of([flat.suite("forward", [one] * MANY)])),
            ("one suite again and again", 3, of([flat.suite("forward", [one])] * MANY)),
            ("many inputs", 4, of([flat.suite("forward", [flat.case([bundled([0], []) for _ in range(20_000)], [good])])])),
            ("suites of no method", 4, of([flat.suite(f"method {i}", [one]) for i in range(MANY)])),
            ("huge sizes", 4, of([flat.suite("forward", [flat.case([bundled([2**31 - 1] * 2, [])], [good])])])),
            ("no dtype", 4, of([flat.suite("forward", [flat.case([bundled([2, 3], [0.0] * 6, dtype=99)], [good])])])),
            ("a name that forges", 4, of([flat.suite("\x1b[2J\nvalid", [one])])),
            ("no program", 3, of([flat.suite("forward", [one])], b"ET12" * 100)),
            ("a bundle", 3, of([flat.suite("forward", [one])], of([flat.suite("forward", [one])]))),
        ):
            path = self.write("bundle.bpte", bundle)
            with self.subTest(kind):
                self.harmless("check", path, code=code)
                for command in ["inspect"], ["inspect", "--json"], ["run"]:
                    self.harmless(command[0], path, *command[1:])


def array(shape, descr="<f4", body=b"", version=1, more=""):
    head = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, {more}}}\n".encode()
    return b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<H" if version == 1 else "<I", len(head)) + head + body


class Arrays(Hostile):
    def test_each_is_refused(self):
        for code, content in (
            (3, array("(9223372036854775807, 2)")),
            (3, array("(0, 9223372036854775807, 9223372036854775807)")),
            (3, array("(4294967296, 4294967296)")),
            (3, array("(1000000000000,)")),
            (3, array("(-1,)")),
            (3, array("(" * 20_000 + ")" * 20_000, version=2)),
            (7, array("(" + "1," * MANY + ")", version=2)),
            (5, array("(2, 3)", descr="<f4\x1b[31m\n")),
            (5, array("(2, 3)", descr="O")),
            (3, array("(2, 3)", more="'descr': '<f8'")),
            (3, array("(2, 3)", version=255)),
            (3, b"\x93NUMPY\x02\x00\xff\xff\xff\xff" + b"{" * 1000),
        ):
            with self.subTest(content[:80]):
                self.harmless("run", MLP, "--input", self.write("x.npy", content), code=code, rule="npy" if code != 7 else "limits")


class Calls(Hostile):
    def run_calls(self, text, **how):
        return self.harmless("run", MLP, "--calls", self.write("calls.json", text if isinstance(text, bytes) else json.dumps(text).encode()), **how)

    def test_each_is_refused(self):
        for text in (
            b'{"calls":[{"inputs":[' + b"[" * MANY + b"]" * MANY + b"]}]}",
            b'{"string":' * MANY,
            {"data": ["/dev/zero"], "calls": []},
            {"data": ["../../../../../../../../etc/passwd"], "calls": []},
            {"data": [str(MLP_INPUT)] * MANY, "calls": []},
            {"calls": [{"inputs": ["/dev/zero"], "outputs": []}]},
            {"calls": [{"inputs": ["a" * MANY]}]},
            {"calls": [{"inputs": ["\0"]}]},
            {"calls": [{"inputs": [str(MLP_INPUT)], "rtol": 1e308, "atol": -1}]},
            b'{"calls":[{"inputs":[1e999999]}]}',
            b'{"calls":[{"inputs":["\xff\xfe"]}]}',
            b'{"calls":[],"calls":[]}',
            b'{"calls":[]}{"calls":[]}',
            b"null",
            b"",
        ):
            with self.subTest(text[:60] if isinstance(text, bytes) else str(text)[:60]):
                self.run_calls(text, code=3)

    def test_an_unknown_method(self):
        self.run_calls({"calls": [{"method": "\x1b[2J" * 1000, "inputs": []}]}, code=4, rule="G3")

    def test_many_calls(self):
        self.run_calls({"calls": [{"inputs": [str(MLP_INPUT)], "outputs": []}] * 20_000})


if __name__ == "__main__":
    unittest.main()
