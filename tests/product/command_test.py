"""The command `assay`, as somebody at a shell or a program at the end of a pipe meets it."""
import base64
import json
import os
import pathlib
import re
import select
import shutil
import signal
import struct
import subprocess
import tempfile
import time
import unittest

from source import GOLDEN, SOURCE

ASSAY = os.environ["ASSAY"]
TESTEE = "executorch" if (pathlib.Path(ASSAY).parent / "libassay_executorch.so").exists() else "reference"


def assay(*arguments, stdin=""):
    done = subprocess.run([ASSAY, *arguments], input=stdin, capture_output=True, text=True, check=False, timeout=60)
    return done.returncode, done.stdout, done.stderr


class Call(unittest.TestCase):
    def answers(self, expected, *arguments):
        self.assertEqual(assay("call", *arguments), (0, expected + "\n", ""))

    def refuses(self, code, sentence, *arguments):
        self.assertEqual(assay("call", *arguments), (code, "", f"assay: {sentence}\n"))

    def test_prints_values_that_read_back(self):
        self.answers("[[11,22],[13,24]]:f32", "aten::add.out", "[[1,2],[3,4]]:f32", "[10,20]:f32", "1")
        self.answers("[[11,22],[13,24]]:f32", "aten::add.out", "[[11,22],[13,24]]:f32", "0:f32")
        self.answers("[[1,2],[3,4]]:f32:(1,0)", "aten::abs.out", "[[1,-2],[3,4]]:f32:(1,0)")
        self.answers("zeros(2,0,3):f32", "aten::abs.out", "zeros(2,0,3):f32")

    def test_several_outs_are_named(self):
        self.answers("max: [2,4]:f32\nmax_values: [1,1]:i64", "aten::max.dim_max", "[[1,2],[3,4]]:f32", "-1")
        self.answers("{[0,1]:f16,[2]:f16}", "aten::split_copy.Tensor_out", "arange(3):f16", "2")

    def test_texts_that_look_like_options_or_lists_stay_whole(self):
        self.answers("[-inf]:f32", "aten::add.out", "[1]:f32", "[2]:f32", "-inf")
        self.answers("[[2,1],[4,3]]:u8", "aten::flip.out", "[[1,2],[3,4]]:u8", "[1]")
        self.answers("[[4,3],[2,1]]:u8", "aten::flip.out", "[[1,2],[3,4]]:u8", "[0,-1]")

    def test_out_gives_the_dtype(self):
        self.answers("[3]:i64", "aten::add.out", "[1]:i32", "[2]:i32", "--out", "i64")
        self.answers("[[3]]:f16:(1,0)", "aten::add.out", "--out", "f16:(1,0)", "[[1]]:i32", "[2]:i32")
        self.refuses(3, "malformed, call.tensor: out: \"i65\" is no dtype", "aten::abs.out", "--out", "i65", "[1]:i32")
        self.refuses(3, "malformed, call.out: aten::abs.out has 1 out arguments, but 2 came", "aten::abs.out", "[1]:i32", "--out", "i32", "--out", "i32")

    def test_json_is_the_answer_of_the_stream(self):
        code, out, _ = assay("call", "aten::add.out", "[1]:f32", "[2]:f32", "--json")
        self.assertEqual((code, json.loads(out)), (0, {"id": None, "outcome": "ok", "outputs": [
            {"dtype": "float32", "sizes": [1], "dim_order": [0], "data": base64.b64encode(struct.pack("<f", 3)).decode()}]}))
        code, out, err = assay("call", "--json", "aten::add.out", "[1]:i32", "[2]:i32", "1.5")
        self.assertEqual((code, json.loads(out)["rule"]), (4, "add.R2"))
        self.assertTrue(err.startswith("assay: invalid, add.R2: alpha is 1.5"), err)

    def test_exit_codes(self):
        self.refuses(3, "malformed, call.tensor: other: ']' is missing before \":f32\"", "aten::add.out", "[1]:f32", "[1:f32")
        self.refuses(3, "malformed, call.argument: other is missing, and the schema gives it no default", "aten::add.out", "[1]:f32")
        self.refuses(3, "malformed, call.argument: aten::abs.out takes 1 arguments, but 2 came", "aten::abs.out", "[1]:f32", "1")
        self.refuses(4, "invalid, add.R2: alpha is 1.5, but the result is int32 and needs an integer", "aten::add.out", "[1]:i32", "[1]:i32", "1.5")
        self.refuses(7, "exhausted, limits.rank: self: a tensor has at most 16 dimensions", "aten::abs.out", "[" * 17 + "]" * 17 + ":f32")
        code, out, err = assay("call", "aten::ad.out", "[1]:f32")
        self.assertEqual((code, out), (5, ""))
        self.assertIn("assay: unsupported, call.operator: there is no operator \"aten::ad.out\"; similar: aten::add.out", err)

    def test_a_command_line_without_meaning(self):
        for arguments, named in ([], "subcommand"), (["frob"], "frob"), (["call"], "OPERATOR"), (["call", "aten::abs.out", "[1]:f32", "--frob"], "--frob"), (["call", "--json", "--jsonl"], "--json"), (["call", "--jsonl", "aten::abs.out"], "aten::abs.out"):
            code, out, err = assay(*arguments)
            self.assertEqual((code, out, err.count("\n")), (2, "", 1), arguments)
            self.assertIn(named, err)

    def test_bytes_that_are_not_utf8_are_refused(self):
        done = subprocess.run([ASSAY, "call", "--json", b"aten::\xff", b"\xfe"], capture_output=True, check=False, timeout=60)
        self.assertEqual(done.returncode, 5)
        self.assertEqual(json.loads(done.stdout)["rule"], "call.operator")

    def test_output_that_cannot_be_written(self):
        with open("/dev/full", "w") as full:
            done = subprocess.run([ASSAY, "operators"], stdout=full, stderr=subprocess.PIPE, text=True, check=False, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (7, "assay: exhausted, output: the output cannot be written\n"))

    def test_standard_streams_that_are_closed(self):
        for stream, code in (0, 0), (1, 7), (2, 0):
            done = subprocess.run([ASSAY, "runtime", "reference", "--programs", "recorded/mlp"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, timeout=60, preexec_fn=lambda: os.close(stream))
            self.assertEqual(done.returncode, code, done.stderr)


class Stream(unittest.TestCase):
    REQUEST = '{"id":%d,"operator":"aten::abs.out","args":[{"dtype":"int8","values":[-1]}]}'

    def test_every_line_is_answered_in_order(self):
        lines = [self.REQUEST % 1, "nonsense", "", '{"id":3,"operator":"aten::abs.out","args":[7]}', self.REQUEST % 4]
        code, out, err = assay("call", "--jsonl", stdin="\n".join(lines))
        answers = [json.loads(line) for line in out.splitlines()]
        self.assertEqual((code, err), (0, ""))
        self.assertEqual([a["id"] for a in answers], [1, None, None, 3, 4])
        self.assertEqual([a["outcome"] for a in answers], ["ok", "malformed", "malformed", "invalid", "ok"])

    def test_an_answer_comes_before_the_next_request(self):
        with subprocess.Popen([ASSAY, "call", "--jsonl"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            for i in range(3):
                # Half of the next line is there as well: the answer must not wait for the other half.
                process.stdin.write((self.REQUEST % i + "\n" + self.REQUEST[:10]).encode())
                process.stdin.flush()
                self.assertTrue(select.select([process.stdout], [], [], 30)[0], "no answer came")
                self.assertEqual(json.loads(process.stdout.readline())["id"], i)
                process.stdin.write(b"\n")
                process.stdin.flush()
                self.assertEqual(json.loads(process.stdout.readline())["outcome"], "malformed")
            process.stdin.close()
        self.assertEqual(process.returncode, 0)

    def test_any_bytes_are_answered(self):
        noise = b"\x00\xff\n{\"id\":\"\xc3\x28\"}\n" + b"[" * 100000 + b"\n" + b"9" * 100000 + b"\r\n"
        done = subprocess.run([ASSAY, "call", "--jsonl"], input=noise, capture_output=True, check=False, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertEqual([json.loads(line)["outcome"] for line in done.stdout.splitlines()], ["malformed"] * 4)


class Judging(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()  # with a corpus of one operator, as all of it takes time to read
        self.addCleanup(self.folder.cleanup)
        shutil.copy(GOLDEN / "aten.abs.out.calls", self.folder.name)

    def in_folder(self, name):
        return os.path.join(self.folder.name, name)

    def test_the_reference_passes(self):
        code, out, err = assay("kernels", "reference", "--golden", self.folder.name, "--mutations", "20", "--json", "-o", self.in_folder("r.jsonl"))
        self.assertEqual(code, 0, err)
        with open(self.in_folder("r.jsonl")) as lines:
            header, *records, footer = [json.loads(line) for line in lines]
        self.assertEqual(sum(json.loads(out)["reference"]["operators"]["aten::abs.out"].values()), len(records))
        self.assertEqual((header["header"]["testee"], header["header"]["cases"]), ("reference", len(records)))
        self.assertEqual((footer["footer"]["complete"], footer["footer"]["cases"]), (True, len(records)))
        self.assertEqual(sorted(r["case"] for r in records), [r["case"] for r in records])
        self.assertEqual(len({r["case"] for r in records}), len(records))
        for r in records:
            self.assertEqual({"testee", "operator", "case", "dtypes", "layouts", "verdict", "class", "distance", "seconds"} - r.keys(), set())
            self.assertIn(r["verdict"], ("pass", "quality"))

    def test_records_are_the_same_whatever_does_the_work(self):
        def lines(*options):
            self.assertEqual(assay("kernels", "reference", "--golden", self.folder.name, "--mutations", "40", "-o", self.in_folder("r.jsonl"), *options)[0], 0)
            with open(self.in_folder("r.jsonl")) as file:
                return [re.sub(r'"seconds":[^,}]*', "", line) for line in file]
        one = lines("--workers", "1")
        self.assertEqual(one, lines("--workers", "3"))
        shuffled = lines("--workers", "2", "--shuffle", "7")
        self.assertNotEqual(one, shuffled)
        self.assertEqual(sorted(one[1:]), sorted(shuffled[1:]))

    def test_an_interrupt_leaves_what_was_judged(self):
        for name in ("r.jsonl", "r.html"):
            with open(self.in_folder(name), "w") as old:
                old.write("an old report")
        command = (ASSAY, "kernels", "reference", "-o", self.in_folder("r.jsonl"), "--html", self.in_folder("r.html"))
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            part = pathlib.Path(self.in_folder("r.jsonl.part"))
            for _ in range(600):
                if part.exists() and part.read_text().count("\n") > 2:
                    break
                time.sleep(0.1)
            for name in ("r.jsonl", "r.html"):
                self.assertEqual(pathlib.Path(self.in_folder(name)).read_text(), "an old report")
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, err)
        self.assertIn("total of ", out)
        self.assertRegex(err, r"assay: interrupted: \d+ of \d+ cases were judged\n$")
        header, *records, footer = [json.loads(line) for line in pathlib.Path(self.in_folder("r.jsonl")).read_text().splitlines()]
        self.assertEqual((footer["footer"]["complete"], footer["footer"]["cases"]), (False, len(records)))
        self.assertLess(len(records), header["header"]["cases"])
        self.assertTrue(pathlib.Path(self.in_folder("r.html")).read_text().startswith("<!doctype html>"))
        self.assertFalse(part.exists())

    def lines(self, name="r.jsonl"):
        return [re.sub(r'"seconds":[^,}]*', "", line) for line in pathlib.Path(self.in_folder(name)).read_text().splitlines()]

    def test_a_killed_run_resumes(self):
        command = ("kernels", TESTEE, "--golden", self.folder.name, "--mutations", "500", "-o", self.in_folder("r.jsonl"))
        whole = assay(*command)
        expected, part = self.lines(), pathlib.Path(self.in_folder("r.jsonl.part"))
        for killed_at in 1, 130, 300, 520:
            with subprocess.Popen((ASSAY, *command), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
                while process.poll() is None and not (part.exists() and part.read_bytes().count(b"\n") >= killed_at):
                    time.sleep(0.005)
                process.kill()
            self.assertTrue(part.exists() or process.returncode >= 0)
            self.assertEqual(assay(*command, "--resume"), whole)
            self.assertEqual(self.lines(), expected)
        code, _, err = assay(*command, "--seed", "2", "--resume")
        self.assertEqual(code, 4, err)
        self.assertIn("run.resume", err)

    @unittest.skipUnless(TESTEE == "executorch", "built without the official kernels")
    def test_a_defect_is_judged_again(self):
        command = ("kernels", "executorch", "--golden", self.folder.name)
        code, out, _ = assay(*command, "-o", self.in_folder("r.jsonl"), "--json")
        defects = json.loads(out)["executorch"]["defects"]
        self.assertTrue(code == 1 and defects)
        self.assertEqual(assay(*command, "--baseline", self.in_folder("r.jsonl"))[0], 0)
        table = assay(*command, "--strict", "--defects", "1000")[1]
        for defect in defects:
            self.assertIn(defect["sentence"], table)
        for defect in defects[:3]:
            again = ("--baseline", self.in_folder("r.jsonl"), "--defect", defect["id"], "--json")
            code, out, _ = assay(*command, *again)
            self.assertEqual(code, int(defect["promised_cases"] > 0))
            self.assertEqual(sum(json.loads(out)["executorch"]["operators"]["aten::abs.out"].values()), defect["cases"])
        cases = pathlib.Path(self.in_folder("cases.txt"))
        cases.write_text("\n".join(defects[0]["case_ids"]))
        code, out, _ = assay(*command, "--cases", str(cases), "--json")
        self.assertEqual(sum(json.loads(out)["executorch"]["operators"]["aten::abs.out"].values()), defects[0]["cases"])
        self.assertEqual(assay(*command, "--baseline", self.in_folder("r.jsonl"), "--defect", "none")[0], 4)

    def test_outs_that_decide_whether_a_call_is_valid(self):
        operators = "empty.out,full_like.out,scalar_tensor.out,split_copy.Tensor_out"
        code, out, err = assay("kernels", "reference", "--operators", operators, "--json")
        self.assertEqual(code, 0, err)
        self.assertEqual(len(json.loads(out)["reference"]["operators"]), 4)

    def test_one_case_in_full_words(self):
        code, out, err = assay("case", "aten::abs.out#0019d4eb", "--testee", "reference", "--golden", self.folder.name)
        self.assertEqual((code, err), (0, ""))
        for word in ("schema     aten::abs.out", "formula", "self", "out        given as ", "expected", "got", "verdict    pass"):
            self.assertIn(word, out)

    def test_a_known_failure_that_passes_is_an_error(self):
        with open(self.in_folder("known.txt"), "w") as known:
            known.write("# none of these fails\naten::abs.out#0019d4eb because\n")
        command = ("kernels", "recorded", "--operators", "abs", "--golden", self.folder.name)
        self.assertEqual(assay(*command)[0], 0)
        self.assertEqual(assay(*command, "--known", self.in_folder("known.txt"))[0], 1)

    def test_a_case_that_must_pass_is_judged_whatever_else_is(self):
        command = ("kernels", "recorded", "--golden", self.folder.name, "--mustpass", self.in_folder("mustpass.txt"))
        for listed, code, said in (("# a comment\naten::abs.out#0019d4eb\n", 0, ""),
                                   ("aten::abs.out#0019d4eb\naten::abs.out#0019d4eb~dtype:0:5:0 which eager has not recorded\n", 1, "aten::abs.out#0019d4eb~dtype:0:5:0 is listed in "),
                                   ("aten::abs.out#0019d4ec\n", 4, "case.call: " + self.in_folder("mustpass.txt")),
                                   ("aten::abs.out\n", 3, "case.id: " + self.in_folder("mustpass.txt"))):
            pathlib.Path(self.in_folder("mustpass.txt")).write_text(listed)
            done, _, err = assay(*command)
            self.assertEqual(done, code, err)
            self.assertIn(said, err)
            self.assertEqual(err.count("\n"), code > 0, err)

    @unittest.skipUnless(TESTEE == "executorch", "built without the official kernels")
    def test_what_is_not_promised_counts_when_strict(self):
        pathlib.Path(self.in_folder("nothing.yaml")).write_text("contract: nothing\nabout: No promise.\nslices: []\n")
        command = ("kernels", "executorch", "--golden", self.folder.name, "-o", self.in_folder("r.jsonl"), "--contract")
        self.assertEqual(assay(*command, self.in_folder("nothing.yaml"))[0], 0)
        header, *records = [json.loads(line) for line in pathlib.Path(self.in_folder("r.jsonl")).read_text().splitlines()]
        self.assertEqual(header["header"]["contract"], "nothing")
        self.assertFalse(any(r.get("promised", False) for r in records))
        self.assertTrue(any(r.get("verdict") == "fail" for r in records))
        self.assertEqual(assay(*command, self.in_folder("nothing.yaml"), "--strict")[0], 1)
        self.assertEqual(assay(*command, "everything")[0], 1)

    def test_a_drafted_contract_is_one(self):
        code, out, err = assay("contract", "reference", "--golden", self.folder.name)
        self.assertEqual((code, err), (0, ""))
        pathlib.Path(self.in_folder("draft.yaml")).write_text(out)
        code, out, err = assay("kernels", "reference", "--golden", self.folder.name, "--contract", self.in_folder("draft.yaml"), "-o", self.in_folder("r.jsonl"))
        self.assertEqual((code, err), (0, ""))
        records = [json.loads(line) for line in pathlib.Path(self.in_folder("r.jsonl")).read_text().splitlines()]
        self.assertEqual({r["promised"] for r in records if r.get("valid")}, {True})

    def test_a_missing_name_is_reported(self):
        pathlib.Path(self.in_folder("long.yaml")).write_text("contract: long\nabout: " + "x" * (1 << 20))
        for code, words, arguments in (
                (5, "case.operator", ("kernels", "reference", "--operators", "zzz")),
                (5, "'nomatch'", ("kernels", "reference", "--operators", "abs,nomatch")),
                (5, "''", ("kernels", "reference", "--operators", "abs,")),
                (2, "empty", ("kernels", "reference", "--operators", "")),
                (2, "-1", ("kernels", "reference", "--seed", "-1")),
                (2, "18446744073709551616", ("kernels", "reference", "--seed", "18446744073709551616")),
                (2, "1.5", ("kernels", "reference", "--shuffle", "1.5")),
                (2, "-3", ("kernels", "reference", "--mutations", "-3")),
                (2, "0", ("kernels", "reference", "--workers", "0")),
                (2, "0", ("kernels", "reference", "--timeout", "0")),
                (7, "output", ("kernels", "reference", "--operators", "abs", "-o", "/no/such/folder/r.jsonl")),
                (4, "no_such", ("kernels", "no_such")),
                (4, "no_such.so", ("kernels", "./no_such.so")),
                (5, "executorch+xnnpack runs programs alone", ("kernels", "executorch+xnnpack")),
                (2, "--baseline", ("kernels", "reference", "--defect", "1234")),
                (2, "-o", ("kernels", "reference", "--resume")),
                (3, "known", ("kernels", "reference", "--operators", "abs", "--known", self.in_folder("none.txt"))),
                (3, "contract.file", ("kernels", "reference", "--contract", "none")),
                (3, "long.yaml: it is longer than 1048576 bytes", ("kernels", "reference", "--contract", self.in_folder("long.yaml"))),
                (3, "cases: /dev/null lists no case", ("kernels", "reference", "--cases", "/dev/null")),
                (3, "mustpass", ("kernels", "reference", "--golden", self.folder.name, "--mustpass", self.in_folder("none.txt"))),
                (3, "case", ("case", "nonsense", "--testee", "reference")),
                (4, "case.call", ("case", "aten::abs.out#00000000", "--testee", "reference"))):
            few = () if "--golden" in arguments else ("--golden", self.folder.name)
            done, out, err = assay(*arguments, *few)
            self.assertEqual((done, out, err.count("\n")), (code, "", 1), (arguments, err))
            self.assertIn(words, err)

    def test_a_damaged_recording_is_malformed(self):
        whole = (GOLDEN / "aten.abs.out.calls").read_bytes()
        target = self.in_folder("aten.abs.out.calls")
        for size in (0, 1, 7, 8, 100, len(whole) // 2, len(whole) - 1):
            with open(target, "wb") as file:
                file.write(whole[:size])
            code, out, err = assay("kernels", "recorded", "--golden", self.folder.name)
            self.assertEqual((code, out, err.count("\n")), (3, "", 1), (size, err))
            self.assertIn("aten.abs.out.calls", err)


class Help(unittest.TestCase):
    def test_help_and_version_succeed(self):
        for arguments, shown in (["--help"], "call"), (["call", "--help"], "assay call aten::add.out"), (["operators", "--help"], "PATTERN"), (["--version"], "assay "):
            code, out, err = assay(*arguments)
            self.assertEqual((code, err), (0, ""))
            self.assertIn(shown, out)

    def test_the_page_of_commands_is_current(self):
        written = (SOURCE / "doc/commands.md").read_text()
        self.assertEqual(assay("completion", "markdown"), (0, written, ""), "assay completion markdown > doc/commands.md")
        self.assertEqual(written.count("\n### assay "), len(re.findall("^Examples?:$", written, re.MULTILINE)), "a command has no example")

    def test_operators_are_listed_by_schema(self):
        code, out, _ = assay("operators", "::add.")
        self.assertEqual(code, 0)
        self.assertIn("aten::add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)\n", out)
        self.assertEqual(assay("operators", "zzz"), (5, "", 'assay: unsupported, call.operator: no operator has "zzz" in its name\n'))


if __name__ == "__main__":
    unittest.main()
