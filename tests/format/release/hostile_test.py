"""Hostile files and requests are refused or harmless, within limits that a laptop survives."""
import json
import os
import threading
import unittest

import flat_programs as flat
from hostile import MIB, Hostile, assay
from source import PROGRAMS

# Line ends, escapes of a terminal, quotes, a direction, a C1 control, what is no UTF-8.
FORGED = b'\nvalid\n\x1b[2J\x1b]0;owned\x07"\'\\\xe2\x80\xae\xc2\x9b31m\xff\xfe\xc3\x28' + b"x" * 100_000


class Files(Hostile):
    READERS = ["check"], ["inspect"], ["inspect", "--json"], ["run"], ["check", "--no-map"], ["run", "--no-map"]

    def test_a_sparse_file_of_the_wrong_kind_is_not_read(self):
        path = self.folder / "large.pte"
        with path.open("wb") as file:
            file.truncate(5 << 30)
        for command in self.READERS:
            self.harmless(*command, path, code=3, rule="H2", memory=64 * MIB)

    def test_a_stream_of_the_wrong_kind_is_read_no_further_than_its_head(self):
        mlp = PROGRAMS / "mlp" / "program.pte"
        for command in self.READERS:
            self.harmless(*command, "/dev/zero", code=3, rule="H2", memory=64 * MIB)
        self.harmless("check", mlp, "--data", "/dev/zero", code=3, rule="F1", memory=64 * MIB)
        self.harmless("run", mlp, "--calls", "/dev/zero", code=3, rule="call.json", memory=64 * MIB)
        self.harmless("run", mlp, "--input", "/dev/zero", code=3, rule="npy.magic", memory=64 * MIB)

    def test_a_stream_of_the_right_kind_is_bounded(self):
        def endless(head):
            def feed(pipe):
                pipe.write(head)
                while True:
                    pipe.write(bytes(MIB))
            return feed

        mlp = PROGRAMS / "mlp" / "program.pte"
        self.harmless("check", "/dev/stdin", feed=endless(flat.build(flat.Table(), b"BP08") + bytes(64)), code=7, rule="limits.memory")
        self.harmless("run", mlp, "--input", "/dev/stdin", feed=endless(b"\x93NUMPY\x01\x00"), code=7, rule="limits.memory")
        self.harmless("run", mlp, "--calls", "/dev/stdin", feed=endless(b"{" + b" " * 100), code=3, rule="calls.format")
        self.harmless("run", mlp, "--input", "/dev/stdin", "--max-bytes", 10**6, feed=endless(b"\x93NUMPY\x01\x00"), code=7, rule="limits.memory", memory=64 * MIB)

    def test_a_stream_ends_where_its_header_says(self):
        content = (PROGRAMS / "mlp" / "program.pte").read_bytes()

        def endless(pipe):
            pipe.write(content)
            while True:
                pipe.write(b"more" * 1000)

        self.assertEqual(self.harmless("check", "/dev/stdin", feed=endless, memory=64 * MIB).code, 0)

    def test_a_pipe_may_be_slow_and_may_end_early(self):
        content = (PROGRAMS / "mlp" / "program.pte").read_bytes()

        def by_bytes(n):
            def feed(pipe):
                for byte in content[:n]:
                    pipe.write(bytes([byte]))
                    pipe.flush()
            return feed

        self.assertEqual(self.harmless("check", "/dev/stdin", feed=by_bytes(len(content))).out.splitlines()[0], b"valid")
        for n in 0, 1, 63, 64, 65, len(content) - 1:
            self.harmless("check", "/dev/stdin", feed=by_bytes(n), code=3, rule="H")

    def test_a_path_that_is_not_a_file(self):
        fifo = self.folder / "fifo"
        os.mkfifo(fifo)
        for path, word in (fifo, "H1"), (self.folder, "folder"), ("/proc/self/mem", "Input/output error"), (self.folder / "none", "No such file"), ("/dev/null", "H1"):
            for command in self.READERS:
                self.harmless(*command, path, code=3, rule=word, memory=64 * MIB)
        self.harmless("check", "/proc/self/maps", code=3, rule="H2")

    def test_reading_gives_what_mapping_gives(self):
        for path in sorted(PROGRAMS.glob("*/program.*pte"))[::10]:
            self.assertEqual(assay("inspect", path, "--json").out, assay("inspect", path, "--json", "--no-map").out)

    def test_a_file_that_shrinks_while_it_is_read(self):
        content = flat.program([flat.adder()], segments=[bytes(64 * MIB)], constants=[0, 0])
        for milliseconds in 0, 1, 2, 5, 10, 20, 50:
            path = self.write("shrinking.pte", content)
            cut = threading.Timer(milliseconds / 1000, os.truncate, (path, 1000))
            cut.start()
            done = self.harmless("check", path, "--no-map")
            cut.join()
            self.assertIn(done.code, (0, 3))
            if done.code == 3:
                self.assertIn(b"malformed, ", done.out + done.err)

    def test_sizes_of_a_header_are_not_believed(self):
        content = bytearray((PROGRAMS / "external_constants" / "program.pte").read_bytes())
        for at in 16, 24, 32:
            for size in 1 << 20, 1 << 40, (1 << 63) - 1, (1 << 64) - 1:
                changed = content[:at] + size.to_bytes(8, "little") + content[at + 8 :]
                path = self.write("header.pte", changed)
                for command in ["check"], ["check", "--no-map"], ["inspect"], ["run"]:
                    self.harmless(*command, path, memory=64 * MIB)
                self.harmless("check", "/dev/stdin", stdin=path, memory=64 * MIB)


class Names(Hostile):
    def clean(self, *arguments):
        done = self.harmless(*arguments, output=MIB)
        if arguments[0] == "inspect":
            self.assertNotIn(b"valid", done.out.splitlines())
        if "--json" in arguments:
            json.loads(done.out)
        return done

    def test_no_text_of_a_file_forges_a_line(self):
        x = flat.tensor([2], 1, 0, name=FORGED)
        string = flat.value(flat.STRING, flat.Table(flat.text(FORGED)))
        values = [x, string, flat.tensor([2], 1, 16)]
        good = dict(inputs=[0], outputs=[0], sizes=[0, 64], delegates=[flat.delegate(FORGED, 0, [(FORGED, FORGED)])])
        files = {
            "bad": flat.program([flat.plan(FORGED, values, [flat.kernel(0, [0, 1, 2, 7])], operators=[flat.operator(FORGED, FORGED)], **good)] * 2, [b"payload"], [b"1234"], [(FORGED, 0), (FORGED, 0)]),
            "good": flat.program([flat.plan(FORGED, values, [flat.delegate_call(0, [0, 1, 2])], **good)], [b"payload"], [b"1234"], [(FORGED, 0)]),
            "operator": flat.program([flat.plan(FORGED, values, [flat.kernel(0, [0, 1, 2, 2])], operators=[flat.operator(FORGED[:40], FORGED[:40])], **good)], [b"payload"]),
        }
        for name, content in files.items():
            path = self.write(name + ".pte", content)
            for command in ["check"], ["inspect"], ["run"], ["run", "--trace"], ["run", "--method", "other"], ["run", "--input", "1", "--trace"], ["inspect", "--method", "other"]:
                for form in [], ["--json"]:
                    self.clean(command[0], path, *command[1:], *form)
        self.assertIn(b"backend", assay("inspect", self.folder / "good.pte", "--json").out)

    def test_no_text_of_a_request_forges_a_line(self):
        line = json.dumps({"operator": FORGED.decode("latin-1"), "args": [], FORGED.decode("latin-1"): 1}).encode()
        for request in line, b'{"operator":"' + FORGED.replace(b'"', b"") + b'","args":[]}', FORGED:
            path = self.write("request", request.replace(b"\n", b" "))
            answer = self.harmless("call", "--jsonl", stdin=path, output=MIB).out
            answer.decode("ascii")
            self.assertNotEqual(json.loads(answer)["outcome"], "ok")
        self.clean("call", FORGED[:1000].replace(b"\xff\xfe", b"").decode(errors="ignore"))


class Budgets(Hostile):
    def bad_lists(self, lists, length):
        """Values that share one list of integers; each integer is an invalid index."""
        bad = flat.items(flat.INT_LIST, [10**6] * length, "q")
        return flat.program([flat.plan("forward", flat.List([bad] * lists), [])])

    def test_a_hundred_findings_are_reported_and_the_rest_counted(self):
        path = self.write("bad.pte", self.bad_lists(100, 1000))
        done = self.harmless("check", path, code=4, rule="V3", output=64 * 1024, memory=128 * MIB)
        self.assertEqual(done.out.count(b"invalid, V3: "), 100)
        self.assertIn(b"and 99900 more", done.out)
        report = json.loads(self.harmless("check", path, "--json", output=128 * 1024).out)
        self.assertEqual((len(report["faults"]), report["more_faults"]), (100, 99_900))

    def test_hostile_shared_lists_are_harmless(self):
        for lists, length in (100_000, 4), (60, 200_000), (20_000, 20_000), (200_000, 200_000):
            path = self.write("bad.pte", self.bad_lists(lists, length))
            self.harmless("check", path)
            for form in [], ["--json"]:
                self.harmless("inspect", path, *form)

    def test_shared_arguments(self):
        args = flat.numbers("i", [0] * 50_000)
        for call in flat.kernel(0, args), flat.Table(flat.i8(flat.DELEGATE), flat.Table(flat.i32(0), args)):
            plan = flat.plan("forward", [flat.tensor([2], 1)], flat.List([call] * 50_000), operators=[flat.operator("aten::add", "out")], sizes=[0, 64])
            path = self.write("args.pte", flat.program([plan]))
            self.harmless("check", path)
            for form in [], ["--json"]:
                self.harmless("inspect", path, *form)

    def test_json_is_whole_or_not_at_all(self):
        path = PROGRAMS / "mlp" / "program.pte"
        whole = len(assay("inspect", path, "--json").out)
        self.assertEqual(len(self.harmless("inspect", path, "--json", "--max-output", whole, code=0).out), whole)
        refused = self.harmless("inspect", path, "--json", "--max-output", whole - 1, code=7)
        self.assertEqual(json.loads(refused.out)["rule"], "limits.output")

    def test_each_limit_holds(self):
        mlp, x = PROGRAMS / "mlp" / "program.pte", PROGRAMS / "mlp" / "call0_input0.npy"
        run = ["run", mlp, "--input", x]
        for command in ["check", mlp], ["inspect", mlp], run, [*run, "--trace", "--json"], ["call", "aten::ones.out", "[100]"]:
            self.harmless(*command, code=0)
            self.harmless(*command, "--max-bytes", "100", code=7, rule="limits.memory")
            self.harmless(*command, "--max-output", "1", code=7, rule="limits.output")
        for command in run, ["inspect", mlp], ["call", "aten::ones.out", "[1000]"]:
            self.harmless(*command, "--max-work", "10", code=7, rule="limits.work")

    def test_a_request_cannot_raise_its_limits(self):
        request = b'{"operator":"aten::full.out","args":[[100000],1],"limits":{"bytes":1000000000000,"work":1000000000000}}\n'
        path = self.write("request", request)
        self.assertEqual(json.loads(self.harmless("call", "--jsonl", stdin=path).out)["outcome"], "ok")
        for limit in "memory", "work", "output":
            option = {"memory": "--max-bytes"}.get(limit, "--max-" + limit)
            answer = json.loads(self.harmless("call", "--jsonl", option, "10000", stdin=path).out)
            self.assertEqual(answer["rule"], "limits." + limit)

    def test_sizes_that_no_integer_holds(self):
        most = (1 << 63) - 1
        x = flat.tensor([2], 1)
        for sizes in [0, most], [0, most, most, most], [0] + [most] * 1000, [most, -1, -(1 << 63)]:
            path = self.write("sizes.pte", flat.program([flat.plan("forward", [x], [], [0], [0], sizes=sizes)]))
            for command in ["check"], ["inspect"], ["check", "--json"], ["inspect", "--json"], ["run"]:
                self.harmless(command[0], path, *command[1:])
        large = flat.tensor([(1 << 31) - 1] * 40, 1, (1 << 64) - 1)
        path = self.write("large.pte", flat.program([flat.plan("forward", [large] * 3, [flat.move(0, 1)], [0], [1], sizes=[0, most])]))
        for command in ["check"], ["inspect"], ["inspect", "--json"]:
            self.harmless(command[0], path, *command[1:])


class Requests(Hostile):
    def jsonl(self, content, **how):
        return self.harmless("call", "--jsonl", stdin=self.write("lines", content), **how)

    def test_a_line_without_end(self):
        self.harmless("call", "--jsonl", "--max-work", 10**9, stdin="/dev/zero", code=7, rule="limits.work")

    def test_a_line_that_is_too_long_is_answered(self):
        done = self.jsonl(b"[" + b"1," * 10**6 + b"1]\n" + b'{"operator":"aten::ones.out","args":[[1]]}', **{})
        self.assertEqual([json.loads(line)["outcome"] for line in done.out.splitlines()], ["malformed", "ok"])
        path = self.write("lines", b"[" + b"1," * 10**6 + b"1]\n" + b'{"operator":"aten::ones.out","args":[[1]]}')
        done = self.harmless("call", "--jsonl", "--max-bytes", 10**6, stdin=path)
        self.assertEqual([json.loads(line)["outcome"] for line in done.out.splitlines()], ["exhausted", "ok"])

    def test_json_that_nests_deeply_or_has_many_keys_is_refused(self):
        for text in b"[" * 10**6, b'{"a":' * 10**6, b"{" + b",".join(b'"%d":0' % i for i in range(200_000)) + b"}", b"[" + b"[]," * 10**7 + b"[]]", b'"' + b"\\u0000" * 10**6 + b'"':
            done = self.jsonl(text)
            self.assertNotEqual(json.loads(done.out)["outcome"], "ok")
            path = self.write("calls.json", b'{"calls":' + text + b"}")
            self.assertIn(self.harmless("run", PROGRAMS / "mlp" / "program.pte", "--calls", path).code, (3, 7))

    def test_calls_without_end(self):
        path = self.write("calls.json", b'{"calls":[' + b"{}," * 200_000 + b"{}]}")
        for form in [], ["--json"]:
            self.harmless("run", PROGRAMS / "mlp" / "program.pte", "--calls", path, *form)

    def test_hostile_literals_are_refused(self):
        for literal in "[" * 100_000, "zeros(9223372036854775807):u8", "zeros(1000000,1000000):f32", "[" + "1," * 60_000 + "1]:f32", "zeros(" + "1," * 60_000 + "1):f32":
            self.harmless("call", "aten::abs.out", literal)


class Payloads(Hostile):
    def nested(self, levels):
        content = flat.program([flat.adder()])
        for _ in range(levels):
            x, y = flat.tensor([2, 3], 1, 0), flat.tensor([2, 3], 1, 32)
            plan = flat.plan("forward", [x, y], [flat.delegate_call(0, [0, 1])], [0], [1], delegates=[flat.delegate("ProgramBackend", 0)], sizes=[0, 64])
            content = flat.program([plan], [content])
        return content

    def test_payloads_are_checked_to_a_depth(self):
        for levels in 1, 3:
            report = json.loads(self.harmless("check", self.write("nested.pte", self.nested(levels)), "--json", code=0).out)
            self.assertEqual(report["payloads"]["checked"], levels)
        for levels in 40, 1000:
            path = self.write("nested.pte", self.nested(levels))
            self.harmless("check", path, code=7, rule="D6", memory=256 * MIB)
            self.harmless("inspect", path, memory=256 * MIB)
            self.assertNotEqual(self.harmless("run", path, "--input", PROGRAMS / "mlp" / "call0_input0.npy").code, 0)

    def test_a_fault_in_a_payload_is_reported_with_its_place(self):
        x = flat.tensor([2, 3], 1, 0)
        for backend, payload in ("ProgramBackend", b"no program at all"), ("Other", b"whatever"):
            plan = flat.plan("forward", [x], [flat.delegate_call(0, [0])], [0], [0], delegates=[flat.delegate(backend, 0)], sizes=[0, 64])
            done = self.harmless("check", self.write("payload.pte", flat.program([plan], [payload])))
            if backend == "Other":
                self.assertIn("payloads not checked: 1\n    delegate 0 of forward, for Other\n", done.out.decode())
            else:
                self.assertEqual(done.code, 3)
                self.assertIn(b"delegate 0 of forward: ", done.out)

    def test_a_shared_payload_is_checked_once(self):
        x, payload = flat.tensor([2, 3], 1, 0), flat.program([flat.adder(1000)])
        delegates = [flat.delegate("ProgramBackend", 0)] * 5000
        plan = flat.plan("forward", [x], [flat.delegate_call(0, [0, 0])], [0], [0], delegates=delegates, sizes=[0, 64])
        report = json.loads(self.harmless("check", self.write("shared.pte", flat.program([plan], [payload])), "--json").out)
        self.assertEqual(report["payloads"]["checked"], 1)


class Peaks(Hostile):
    """Memory in units of the tables, for programs so large that nothing else counts."""

    @staticmethod
    def distinct():
        values = [flat.tensor([2, 3], 1, 32 * (i % 1000)) for i in range(100_000)] + [flat.integer(i) for i in range(100_000)]
        calls = [flat.kernel(0, [i, i, 100_000 + i, i + 1, i + 1]) for i in range(99_999)]
        return flat.program([flat.plan("forward", values, calls, [0], [1], [flat.operator("aten::add", "out")], sizes=[0, 40_000])])

    @staticmethod
    def shared_values():
        values = [flat.tensor([2, 3], 1) for _ in range(30_000)] * 4
        return flat.program([flat.plan("forward", flat.List(values), [], [0], [1], sizes=[0, 64])])

    @staticmethod
    def shared_calls():
        calls = [flat.kernel(0, [0, 0, 2, 1, 1]) for _ in range(30_000)] * 4
        values = [flat.tensor([2, 3], 1, 0), flat.tensor([2, 3], 1, 32), flat.integer(1)]
        return flat.program([flat.plan("forward", values, flat.List(calls), [0], [1], [flat.operator("aten::add", "out")], sizes=[0, 64])])

    @staticmethod
    def constants():
        return flat.program([flat.adder()], segments=[bytes(100 * MIB)], constants=[0, 0])

    def test_check_and_inspect_of_hostile_files_end(self):
        for make in self.distinct, self.shared_values, self.shared_calls, self.constants:
            path = self.write("large.pte", make())
            tables = path.stat().st_size if make != self.constants else 1000
            for command, times in (["check"], 3), (["check", "--json"], 3), (["inspect"], 16), (["inspect", "--json"], 16):
                done = self.harmless(command[0], path, *command[1:], "--max-output", 10**9, output=10**9)
                print(f"{make.__name__:<14} {' '.join(command):<15} {tables:>10} bytes of tables  {done.seconds:6.2f} s  peak {done.peak / MIB:6.1f} MiB  {len(done.out):>10} printed")
                self.assertLess(done.peak, times * tables + 16 * MIB, (make, command))


if __name__ == "__main__":
    unittest.main()
