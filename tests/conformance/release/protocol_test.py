"""Testees behind a wire: what they answer is judged as if they were here, and what they do to the wire is a verdict on the call."""
import json
import os
import pathlib
import pty
import re
import select
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import tty
import unittest
import zlib

from folder import WithFolder
from page import follow_runtime_page
from source import PROGRAMS, SOURCE, SUPPORT

ASSAY = pathlib.Path(os.environ["ASSAY"]).resolve()
FAULTY = sys.executable, SUPPORT / "faulty_end.py"
WITH_NUMPY = os.environ | {"PATH": "/usr/bin:" + os.environ["PATH"]}  # Debian's Python, for which tools/setup installs numpy
RELU = "--operators", "aten::relu.out", "--mutations", "0"


def assay(*arguments, **how):
    done = subprocess.run([ASSAY, *map(str, arguments)], capture_output=True, text=True, check=False, timeout=120, **how)
    return done.returncode, done.stdout, done.stderr


def run_calls(name):
    return "run", PROGRAMS / name / "program.pte", "--calls", PROGRAMS / name / "calls.json"


class Judged(WithFolder):
    def judged(self, *arguments, **how):
        """The exit code, what is said beside the table, the header and the cases of a run."""
        lines = self.folder / "run.jsonl"
        lines.unlink(missing_ok=True)
        code, _, err = assay("kernels", "-o", lines, *arguments, **how)
        run = [json.loads(line) for line in lines.read_text().splitlines()]
        return code, err, run[0]["header"], [line for line in run[1:-1] if "defect" not in line]

    def assert_right(self, *arguments, **how):
        code, err, header, cases = self.judged(*arguments, **how)
        self.assertEqual((code, [case for case in cases if case["verdict"] != "pass"]), (0, []), err)
        return header, cases


class Faults(Judged):
    """Each fault of an end is the verdict on the calls in which it is made, and on no other."""

    @classmethod
    def setUpClass(cls):
        """Some calls that an end gets wrong, as one shows that only does so, and some that it does not."""
        lines = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory())) / "run.jsonl"
        assay("kernels", *RELU, "-o", lines, "--", *FAULTY, "value")
        passed = [case for case in map(json.loads, lines.read_text().splitlines()) if case.get("verdict") == "pass"]
        failed = [case for case in map(json.loads, lines.read_text().splitlines()) if case.get("verdict") == "fail"]
        cls.chosen, cls.innocent = [[case["case"] for case in cases][:most] for cases, most in ((failed, 2), (passed, 6))]
        cls.elements = failed[0]["elements"]
        assert len(cls.chosen) == 2 and len(cls.innocent) == 6

    def failures(self, fault, *options, chosen=2, elements=()):
        """The exit code, what is said, and the failing cases of one part of one: no causes are looked for."""
        self.write("cases.txt", "\n".join([*self.chosen[:chosen], *self.innocent]).encode() + b"\n")
        code, err, _, cases = self.judged("--shard", "1/1", "--cases", self.folder / "cases.txt", *options, "--", *FAULTY, fault, *elements)
        return code, err, {case["case"]: case for case in cases if case["verdict"] != "pass"}

    def test_a_right_server_passes(self):
        code, err, failures = self.failures("")
        self.assertEqual((code, failures), (0, {}), err)

    def test_each_fault_has_its_verdict(self):
        for fault, verdict, failure, words in (
            ("value", "fail", "value", ""),
            ("shape", "fail", "shape", ""),
            ("unwritten", "fail", "unwritten", "never written"),
            ("reads", "fail", "reads-uninitialised", ""),
            ("differs", "fail", "not-repeatable", ""),
            ("crash", "crash", "segmentation-fault", "signal 11"),
            ("abort", "crash", "abort", "signal 6"),
            ("exit", "crash", "exit", "exited with status 3\nno such luck"),
            ("garbage", "crash", "exit", "protocol.mark"),
            ("flood", "crash", "exit", "protocol.mark"),
            ("half", "crash", "exit", "exited with status 0"),
            ("close", "crash", "exit", "closed its output"),
            ("version", "crash", "exit", "protocol.version"),
            ("length", "crash", "exit", "protocol.length"),
            ("checksum", "crash", "exit", "protocol.checksum"),
            ("kind", "crash", "exit", "protocol.reply"),
            ("number", "crash", "exit", "protocol.reply"),
            ("twice", "crash", "exit", "protocol.reply"),
            ("status", "crash", "exit", "protocol.body: a reply has status 9"),
            ("short", "crash", "exit", "protocol.body"),
            ("long", "crash", "exit", "protocol.body: a body has 1 bytes too many"),
            ("counts", "crash", "exit", "protocol.body: a body counts 4294967295 items"),
            ("dtype", "crash", "exit", "protocol.body: a tensor has dtype 99"),
            ("rank", "crash", "exit", "protocol.body: a tensor has 17 dimensions"),
            ("sizes", "crash", "exit", "protocol.body"),
            ("outs", "crash", "exit", "protocol.outs: the call has 1 outs, but 2 came"),
        ):
            with self.subTest(fault):
                code, err, failures = self.failures(fault)
                self.assertEqual(code, 1, err)
                self.assertEqual(set(failures), set(self.chosen))
                self.assertEqual({(case["verdict"], case["class"]) for case in failures.values()}, {(verdict, failure)})
                for case in failures.values():
                    self.assertIn(words, case["message"])

    def test_a_server_that_hangs_times_out(self):
        for fault in "hang", "stalls", "drip", "log":
            with self.subTest(fault):
                _, _, failures = self.failures(fault, "--timeout", "1", chosen=1, elements=(self.elements,))
                chosen = self.chosen[0]
                self.assertEqual({name: (case["verdict"], case["class"]) for name, case in failures.items()}, {chosen: ("timeout", "")})
                self.assertIn("took longer than 1 s", failures[chosen]["message"])
                self.assertEqual("\nblah\nblah" in failures[chosen]["message"], fault == "log")

    def test_state_that_is_kept_after_a_reset_is_found(self):
        failures = self.failures("stale")[2]
        self.assertIn(self.chosen[0], failures)
        self.assertLessEqual(set(failures), set(self.chosen))
        self.assertEqual({(case["verdict"], case["class"]) for case in failures.values()}, {("fail", "spoils-state")})

    def test_a_case_runs_alone(self):
        for fault, words in ("exit", "no such luck"), ("outs", "protocol.outs"):
            code, out, err = assay("case", self.chosen[0], "--testee", "--", *FAULTY, fault)
            self.assertEqual((code, err), (1, ""))
            self.assertIn(words, out)


class Strangers(WithFolder):
    def assert_refused(self, testee, words, code=4):
        done, out, err = assay("kernels", *RELU, *testee, env=WITH_NUMPY)
        self.assertEqual((done, out), (code, ""), err)
        self.assertIn(words, err)

    def test_a_missing_server_is_refused(self):
        for testee, words in (
            (("--", "/nothing/there"), "cannot be started: No such file"),
            (("--",), "there is no command"),
            (("-- 'never",), "quotation that does not end"),
            (("--", "true"), "does not say who it is, but exited with status 0"),
            (("--", "sh", "-c", "echo oh dear >&2; exit 3"), "exited with status 3: oh dear"),
            (("--", "echo", "hello, who is there?"), "protocol.mark"),
            (("tcp:host",), "tcp:HOST:PORT"),
            (("tcp:no.such.host.invalid:1",), "there is no no.such.host.invalid:1"),
            (("serial:/dev/null",), "is no serial line"),
            (("serial:/dev/nothing",), "is no serial line"),
            (("serial:/dev/null:fast",), "serial:DEVICE:BAUD"),
            (("serial:/dev/null:7",), "7 baud"),
            (("python:no_such_module",), "No module named 'no_such_module'"),
        ):
            with self.subTest(testee):
                self.assert_refused(testee, words)

    def test_a_command_may_be_one_word(self):
        word = f"-- '{FAULTY[0]}' \"{FAULTY[1]}\" ''"
        code, out, err = assay("kernels", *RELU, word, "--json")
        self.assertEqual(code, 0, err)
        self.assertEqual([*json.loads(out)], ["example in Python"])


class Served(Judged):
    """assay serve is an end, and a testee is judged behind it as it is here."""

    OPERATORS = "--operators", "aten::add.out,aten::cat.out,aten::topk.values,aten::_local_scalar_dense,aten::index.Tensor_out,aten::split_copy.Tensor_out", "--mutations", "20"

    def test_kinds_of_values(self):
        header, _ = self.assert_right(*self.OPERATORS, "--", ASSAY, "serve", "reference")
        self.assertEqual((header["testee"], header["isolation"], header["timeout"]), ("reference", "a process for each block", "20 s"))

    def test_a_served_kernel_library_has_the_same_verdicts(self):
        def verdicts(*testee):
            return {case["case"]: (case["verdict"], case["class"]) for case in self.judged("--operators", "aten::relu.out,aten::exp.out", *testee)[3]}

        self.assertEqual(verdicts("--", ASSAY, "serve", "optimized"), verdicts("optimized"))

    def test_over_tcp(self):
        with subprocess.Popen([ASSAY, "serve", "reference", "--listen", "0"], stdout=subprocess.PIPE, text=True) as server:
            try:
                address = re.fullmatch(r"listens at (127\.0\.0\.1:\d+)\n", server.stdout.readline())[1]
                header, _ = self.assert_right(*RELU, "tcp:" + address)
                self.assertEqual(header["isolation"], "a RESET before each block")
                self.assertEqual(assay(*run_calls("kv_cache"), "--with", "tcp:" + address), assay(*run_calls("kv_cache")))
            finally:
                server.kill()

    def test_over_a_serial_line(self):
        """With what a device says while it starts, and half a frame of earlier."""
        ours, theirs = pty.openpty()
        device = os.ttyname(theirs)
        tty.setraw(theirs)
        end = subprocess.Popen([ASSAY, "serve", "reference"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        stop = threading.Event()

        def carry():
            os.write(ours, b"booting as always asay\x01")
            while not stop.is_set():
                for source in select.select([ours, end.stdout], [], [], 0.1)[0]:
                    if source == ours:
                        end.stdin.write(os.read(ours, 4096))
                        end.stdin.flush()
                    else:
                        os.write(ours, os.read(end.stdout.fileno(), 4096))

        carrier = threading.Thread(target=carry)
        carrier.start()
        try:
            header, _ = self.assert_right("--operators", "aten::relu.out", "--mutations", "0", "serial:" + device)
            self.assertEqual(header["isolation"], "a RESET before each block")
        finally:
            stop.set()
            carrier.join()
            end.stdin.close()
            end.stdout.close()
            end.wait()
            os.close(ours)
            os.close(theirs)

    def test_programs(self):
        for name in "mlp", "kv_cache", "shared_state", "tensor_lists", "string_input", "external_two_files":
            for testee in "reference", "optimized":
                self.assertEqual(assay(*run_calls(name), "--with", "--", ASSAY, "serve", testee), assay(*run_calls(name), "--with", testee), name)


def text(words):
    return struct.pack("<I", len(words)) + words.encode()


def tensor(values, dtype=6):
    return struct.pack("<BBBqBI", 1, dtype, 1, len(values), 0, 4 * len(values)) + struct.pack(f"<{len(values)}f", *values)


class Wire:
    """A host's side, in raw frames."""

    def __init__(self, *command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.number = 0

    def send(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def frame(self, kind, body, version=1, mark=b"asay", checksum=None):
        begin = struct.pack("<4sBBHI", mark, version, kind, self.number, len(body))
        return begin + struct.pack("<I", zlib.crc32(body, zlib.crc32(begin)) if checksum is None else checksum) + body

    def ask(self, kind, body=b""):
        """The status, the rule, the message and what stands behind them."""
        self.number += 1
        self.send(self.frame(kind, body))
        mark, version, replied, number, length, checksum = struct.unpack("<4sBBHII", self.process.stdout.read(16))
        assert (mark, version, replied, number) == (b"asay", 1, kind | 0x80, self.number)
        reply = self.process.stdout.read(length)
        status, _, _, size = struct.unpack_from("<BQQI", reply)
        rule, rest = reply[21:21 + size].decode(), reply[21 + size:]
        size, = struct.unpack_from("<I", rest)
        return status, rule, rest[4:4 + size].decode(), rest[4 + size:]

    def end(self):
        _, err = self.process.communicate(timeout=20)
        return self.process.returncode, err.decode()


class End(unittest.TestCase):
    """What hosts get wrong."""

    def test_invalid_requests_are_refused(self):
        wire = Wire(ASSAY, "serve", "reference")
        one = tensor([1.0])
        for kind, body, status, rule in (
            (1, b"", 1, "protocol.body"),
            (1, bytes(5), 1, "protocol.body"),
            (99, b"", 3, "protocol.request"),
            (4, text("aten::none.out") + struct.pack("<BII", 0, 0, 0), 3, "protocol.call"),
            (4, text("aten::relu.out") + struct.pack("<BII", 0, 1, 1) + one, 1, "protocol.call"),
            (4, text("aten::relu.out") + struct.pack("<BII", 0, 1, 2) + one + b"\0", 1, "protocol.call"),
            (4, text("aten::relu.out") + struct.pack("<BII", 0, 1, 1 << 31) + one, 1, "protocol.body"),
            (4, text("aten::relu.out") + struct.pack("<BII", 0, 1, 2) + one + tensor([1.0], 99), 1, "protocol.body"),
            (4, text("aten::relu.out") + struct.pack("<BII", 0, 1, 2) + one + b"\x0a", 1, "protocol.body"),
            (4, text("aten::cat.out") + struct.pack("<BII", 0, 1, 3) + b"\x09" + struct.pack("<I", 1 << 20) + b"\x09\1\0\0\0" * (1 << 20) + one, 1, "protocol.body"),
            (5, text("no program") + struct.pack("<IB", 0, 0), 1, ""),
            (6, struct.pack("<I", 7) + text("forward"), 1, "protocol.call"),
            (10, struct.pack("<I", 7), 1, "protocol.call"),
        ):
            with self.subTest((kind, body[:40])):
                self.assertEqual(wire.ask(kind, body)[:2], (status, rule))
        self.assertEqual(wire.ask(3)[0], 0)
        self.assertEqual(wire.end(), (0, ""))

    def test_requests_about_programs_in_a_wrong_order_are_refused(self):
        wire = Wire(ASSAY, "serve", "reference")
        program = (PROGRAMS / "mlp" / "program.pte").read_bytes()
        status, _, _, handle = wire.ask(5, struct.pack("<I", len(program)) + program + struct.pack("<IB", 0, 0))
        self.assertEqual(status, 0)
        self.assertEqual(wire.ask(6, handle + text("forward"))[0], 0)
        self.assertEqual(wire.ask(9, handle + bytes(4))[:2], (1, "protocol.call"))
        self.assertEqual(wire.ask(7, handle + struct.pack("<I", 1) + b"\0")[0], 0)
        self.assertEqual(wire.ask(8, handle + struct.pack("<I", 1))[:2], (1, "protocol.call"))
        self.assertEqual(wire.ask(8, handle + struct.pack("<I", 1_000_001))[:2], (5, "protocol.call"))
        self.assertEqual(wire.ask(3)[0], 0)
        self.assertEqual(wire.ask(6, handle + text("forward"))[:2], (1, "protocol.call"))
        self.assertEqual(wire.end(), (0, ""))

    def test_optional_requests_are_answered(self):
        """PING, STATE, generated inputs, QUIT: each as it may be, and as it may not."""
        wire = Wire(ASSAY, "serve", "reference")
        for ping in b"", bytes(1), bytes(range(256)) * 300:
            self.assertEqual(wire.ask(11, struct.pack("<I", len(ping)) + ping), (0, "", "", struct.pack("<I", len(ping)) + ping))
        self.assertEqual(wire.ask(11, b"\2\0\0\0?")[:2], (1, "protocol.body"))
        program = (PROGRAMS / "counter" / "program.pte").read_bytes()
        _, _, _, handle = wire.ask(5, struct.pack("<I", len(program)) + program + struct.pack("<IB", 0, 0))
        self.assertEqual(wire.ask(13, handle)[:2], (1, "protocol.call"))  # no method yet
        self.assertEqual(wire.ask(6, handle + text("forward"))[0], 0)
        first = wire.ask(13, handle)[3]
        self.assertEqual(first[:4], struct.pack("<I", 1))

        def generated(dtype=6, generator=1, size=2):
            return wire.ask(7, handle + struct.pack("<IBBBqBBQ", 0, 10, dtype, 1, size, 0, generator, 1))[:2]

        self.assertEqual(generated(), (0, ""))
        self.assertEqual(wire.ask(8, handle + struct.pack("<I", 1))[0], 0)
        self.assertNotEqual(wire.ask(13, handle)[3], first)
        self.assertEqual(generated(generator=2), (1, "protocol.generator"))
        self.assertEqual(generated(dtype=8), (1, "protocol.generator"))  # complex
        self.assertEqual(generated(size=(1 << 28) + 1), (1, "protocol.generator"))
        self.assertEqual(generated(size=1 << 62), (1, "protocol.generator"))
        self.assertEqual(wire.ask(4, text("aten::relu.out") + struct.pack("<BIIB", 0, 1, 2, 10))[:2], (1, "protocol.body"))  # of inputs alone
        self.assertEqual(wire.ask(12, b"?")[:2], (1, "protocol.body"))
        self.assertEqual(wire.ask(12)[0], 0)
        self.assertEqual(wire.process.wait(timeout=20), 0)
        wire.end()

    def test_allocations_that_are_refused(self):
        """The reference asks for memory while it runs; the optimized runtime does not, where it has kernels."""
        for testee in "reference", "optimized":
            wire = Wire(ASSAY, "serve", testee)
            folder = PROGRAMS / "sorting"
            program = (folder / "program.pte").read_bytes()
            _, _, _, handle = wire.ask(5, struct.pack("<I", len(program)) + program + struct.pack("<IB", 0, 0))
            self.assertEqual(wire.ask(6, handle + text("forward"))[0], 0)
            generated = struct.pack("<IBBBqqBBBQ", 0, 10, 6, 2, 4, 5, 0, 1, 1, 7)
            self.assertEqual(wire.ask(7, handle + generated)[:2], (0, ""))
            statuses = []
            while not statuses or statuses[-1] == 5:
                statuses.append(wire.ask(8, handle + struct.pack("<II", 1, len(statuses) + 1))[0])
                self.assertEqual(wire.ask(8, handle + struct.pack("<I", 1))[0], 0)
            self.assertEqual(statuses[-1], 0)
            self.assertEqual(len(statuses) > 3, testee == "reference", statuses)
            wire.end()

    def test_invalid_frames_are_refused(self):
        for rule, change, code in (
            ("protocol.mark", {"mark": b"yasa"}, 3),
            ("protocol.version", {"version": 2}, 5),
            ("protocol.checksum", {"checksum": 1}, 3),
        ):
            wire = Wire(ASSAY, "serve", "reference")
            wire.send(wire.frame(3, b"", **change))
            done, err = wire.end()
            self.assertEqual(done, code)
            self.assertIn(rule, err)
        wire = Wire(ASSAY, "serve", "reference")
        wire.send(struct.pack("<4sBBHII", b"asay", 1, 3, 0, 0xFFFFFFFF, 0))
        done, err = wire.end()
        self.assertEqual(done, 7)
        self.assertIn("protocol.length", err)


class Python(Judged):
    """The end that is shipped."""

    MODULE = """
import numpy
def add(x, y, alpha):
    print("heard by nobody")
    return x + y * alpha
def relu(x, out):
    if x.dtype.kind == "V": raise NotImplementedError("only numbers")
    if x.dtype.str in ("|b1", "<u2", "<u4", "<u8") or x.shape != out.shape or x.dtype != out.dtype: raise ValueError("not these")
    numpy.copyto(out, numpy.where(x < 0, numpy.zeros((), x.dtype), x))
kernels = {"aten::add.out": add}
others = {"aten::relu.out": relu}
def load(program, data):
    state = []
    def run(method, inputs):
        state.append(len(program))
        if method != "forward": raise KeyError(method)
        return [*inputs, len(state)]
    return run
"""

    def test_functions_over_arrays(self):
        self.write("mine.py", self.MODULE.encode())
        code, err, header, cases = self.judged(*RELU, "python:mine:others", cwd=self.folder, env=WITH_NUMPY)
        self.assertEqual((code, header["testee"]), (0, "mine"), err)
        self.assertGreater(len([case for case in cases if case["verdict"] == "pass"]), 400)
        code, out, err = assay("case", "aten::add.out#4321b778", "--testee", "python:mine", cwd=self.folder, env=WITH_NUMPY)
        self.assertEqual((code, err), (0, ""), out)

    def test_numbers_of_python_get_the_dtype_of_the_out(self):
        self.write("mine.py", b'kernels = {"aten::scalar_tensor.out": lambda s: s}\n')
        code, err, header, cases = self.judged("--operators", "aten::scalar_tensor.out", "--mutations", "0", "python:mine", cwd=self.folder, env=WITH_NUMPY)
        passed = {case["dtypes"][0] for case in cases if case["valid"] and case["verdict"] == "pass"}
        self.assertGreaterEqual(passed, {"float32", "int64"}, err)
        refused = [case["message"] for case in cases if "message" in case]
        self.assertTrue(all("float64, but the out is float" not in message for message in refused), refused)

    def test_inputs_of_other_dim_orders_are_converted(self):
        self.write("mine.py", b"import numpy\ndef load(program, data):\n    return lambda method, inputs: [numpy.exp(inputs[0])]\n")
        code, out, err = assay("runtime", "--programs", "recorded/unused_input,dim_orders/unused_input", "python:mine", cwd=self.folder, env=WITH_NUMPY)
        self.assertEqual(code, 0, out + err)
        self.assertRegex(out, r"\ndim_orders +1 +1 ")

    def test_a_testee_whose_modules_are_missing_is_refused_in_a_sentence(self):
        self.write("torch.py", b'raise ModuleNotFoundError("No module named torch", name="torch")\n')
        without_torch = WITH_NUMPY | {"PYTHONPATH": str(self.folder)}
        for testee, module in ("torch", "torch_kernels"), ("executorch+llm", "executorch_llm"):
            with self.subTest(testee):
                code, _, err = assay("kernels", testee, cwd=self.folder, env=without_torch)
                self.assertEqual((code, len(err.splitlines())), (4, 1), err)
                self.assertRegex(err, rf": \S+python\S* cannot import {module}: No module named torch$")

    def test_programs(self):
        self.write("mine.py", self.MODULE.encode())
        code, out, err = assay("run", PROGRAMS / "mlp" / "program.pte", "--input", PROGRAMS / "mlp" / "call0_input0.npy", "--with", "python:mine", cwd=self.folder, env=WITH_NUMPY)
        self.assertEqual((code, err), (0, ""))
        self.assertRegex(out, r"^0: float32 \(3, 16\)  \[\[(.|\n)*\n1: 1\n$")  # the input came

    FAULTS = """
import ctypes
import os
import pathlib
import sys
from mine import relu

open("imports", "a").write("once ")

def kernels_with(fault):
    def faulty(x):
        if x.dtype == "f4" and x.size == 6:
            fault()
        return relu(x)
    return {"aten::relu.out": faulty}

def damaged():
    sys.stderr.write("free(): invalid pointer\\n"), sys.stderr.flush()
    os.abort()

def hangs_with_the_lock():
    ctypes.PyDLL(None).pause()

crash = kernels_with(lambda: ctypes.string_at(0))
abort = kernels_with(damaged)
ends = kernels_with(lambda: os._exit(3))
hang = kernels_with(hangs_with_the_lock)
counted = kernels_with(lambda: pathlib.Path("process%d" % os.getpid()).touch())
"""

    def write_faults(self):
        self.write("mine.py", (SOURCE / "doc" / "examples" / "protocol" / "mine.py").read_bytes())
        self.write("faults.py", self.FAULTS.encode())

    def test_what_a_function_does_to_its_process_fails_only_its_call(self):
        self.write_faults()
        for attribute, verdict, failure, words in (
            ("crash", "crash", "segmentation-fault", "signal 11"),
            ("abort", "crash", "heap-damage", "signal 6 (Aborted)\nfree(): invalid pointer"),
            ("ends", "crash", "exit", "exited with status 3"),
            ("hang", "timeout", "", "took longer than 1 s"),
        ):
            with self.subTest(attribute):
                _, err, header, cases = self.judged(*RELU, "--shard", "1/1", "--timeout", "1", f"python:faults:{attribute}", cwd=self.folder, env=WITH_NUMPY)
                self.assertEqual(header["isolation"], "a forked process for each block", err)
                failures = [case for case in cases if case["verdict"] not in ("pass", "unsupported")]
                self.assertEqual({(case["verdict"], case["class"]) for case in failures}, {(verdict, failure)})
                self.assertTrue(all(words in case["message"] for case in failures), failures[0])
                self.assertLess(len(failures), 0.2 * len(cases))
        self.assertEqual((self.folder / "imports").read_text(), "once " * 4)

    def test_over_tcp_each_connection_is_a_process(self):
        self.write_faults()
        end = SOURCE / "conformance" / "wire" / "python" / "end.py"
        with subprocess.Popen(["python3", end, "faults:counted", "--listen", "0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=self.folder, env=WITH_NUMPY) as server:
            try:
                address = re.fullmatch(r"listens at (127\.0\.0\.1:\d+)\n", server.stdout.readline())[1]
                code, err, _, cases = self.judged(*RELU, "tcp:" + address)
                self.assertEqual((code, {case["verdict"] for case in cases}), (0, {"pass", "unsupported"}), err)
            finally:
                server.kill()
        self.assertGreater(len(list(self.folder.glob("process*"))), 1)


class Page(WithFolder):
    def test_the_guide_has_the_stated_output(self):
        prefix = self.folder / "prefix"
        for link, to in ("bin", ASSAY.parent), ("share/assay/golden", PROGRAMS.parent), ("share/doc/assay", SOURCE / "doc"):
            (prefix / link).parent.mkdir(parents=True, exist_ok=True)
            (prefix / link).symlink_to(to)
        follow_runtime_page(self, prefix, self.folder, path=WITH_NUMPY["PATH"])

    def test_examples_are_short(self):
        for example in (SOURCE / "doc" / "examples" / "protocol").glob("*.py"):
            self.assertLessEqual(len(example.read_text().splitlines()), 150, example)


if __name__ == "__main__":
    unittest.main()
