"""Cases as files that show them without assay: each is run, and must say what `assay case` says."""
import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from source import GOLDEN

ASSAY = os.environ["ASSAY"]
EXECUTORCH = os.environ.get("ASSAY_EXECUTORCH", "")
# A Python that has torch and executorch: the one named here, else this one.
PYTHON = os.environ.get("ASSAY_PYTHON_WITH_TORCH") or (
    sys.executable if all(importlib.util.find_spec(p) for p in ("torch", "executorch")) else None)

RIGHT = ("aten::abs.out#0122e104", "aten::split_copy.Tensor_out#00200de1")  # the second has a list of outs
INVALID = "aten::hardtanh.out#866482ef"
WRONG = (
    "aten::cat.out#325d2519",  # nan, of a list of tensors
    "aten::leaky_relu.out#1a9d60e7",  # value, of half
    "aten::amin.out#0cc3d883",  # a failed assertion
    INVALID,  # accepted
    "executorch_prim::mod.Scalar#14db5a74",  # a number
)
MORE = (  # for those that need not be compiled
    "aten::_pdist_forward.out#2377e7ee",  # nan
    "aten::eq.Scalar_out#1d577723",  # value, of bool
    "aten::trunc.out#a769acc2",  # value, of integers
    "aten::pixel_unshuffle.out#096b291d",  # shape
    "aten::mm.out#00728f3f",  # unwritten
    "aten::any.out#ac2851ec",  # refused though valid
    "aten::_log_softmax.out#27ed2579",  # arithmetic trap
)
NO_PACKAGE = "the build has no executorch package, whose kernels assay case would ask"
DEATHS = ("crash", "timeout")


def run(*command, **options):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False, timeout=300, **options)


def assay(*arguments, **options):
    return run(ASSAY, *arguments, **options)


def wrong_values(sentences):
    """What elements are said to be that must be something else, in one form for both languages."""
    return [str(float({"True": 1, "False": 0}.get(value, value))) for value in re.findall(r"is (\S+), but must be", sentences)]


class Reproduction(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.golden = self.folder / "golden"
        self.golden.mkdir()
        for file in {case.split("#")[0].replace("::", ".") + ".calls" for case in RIGHT + WRONG + MORE}:
            (self.golden / file).symlink_to(GOLDEN / file)  # those alone are read sooner than all

    def case(self, *arguments):
        return assay("case", *arguments, "--golden", self.golden)

    def file(self, case, kind):
        path = self.folder / f"reproduction.{kind}"
        done = self.case(case, "--as", kind, "-o", path)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""), case)
        return path

    def record(self, case):
        return json.loads(self.case(case, "--json").stdout)

    def says_the_same(self, done, record):
        """What a reproduction that was run says, and what the record says of the same call."""
        if record["verdict"] == "pass":
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            return
        self.assertNotEqual(done.returncode, 0, done.stdout + done.stderr)
        if record["verdict"] in DEATHS:
            return
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("WRONG", done.stdout)
        if record["class"] in ("value", "nan"):
            worst = wrong_values(record["message"])
            self.assertIn(worst[0], wrong_values(done.stdout), done.stdout + record["message"])

    @unittest.skipUnless(EXECUTORCH, NO_PACKAGE)
    def test_cpp(self):
        for case in RIGHT + WRONG:
            with self.subTest(case):
                record, source = self.record(case), self.file(case, "cpp")
                command = re.search(r"^//   (g\+\+ .*) && (\S+)$", source.read_text(), re.MULTILINE)
                environment = {**os.environ, "EXECUTORCH": EXECUTORCH}
                compiled = run("sh", "-c", command[1], cwd=self.folder, env=environment)
                self.assertEqual((compiled.returncode, compiled.stderr), (0, ""), case)
                done = run(command[2], cwd=self.folder)
                self.says_the_same(done, record)
                if record["verdict"] in DEATHS:
                    self.assertLess(done.returncode, 0, done.stdout)

    @unittest.skipUnless(EXECUTORCH, NO_PACKAGE)
    @unittest.skipUnless(PYTHON, "there is no Python with torch and executorch: ASSAY_PYTHON_WITH_TORCH may name one")
    def test_python(self):
        for case in RIGHT + WRONG + MORE:
            with self.subTest(case):
                done = run(PYTHON, self.file(case, "python"))
                self.says_the_same(done, self.record(case))

    def test_bundle(self):
        for case in (*RIGHT, INVALID):
            with self.subTest(case):
                written = self.case(case, "--as", "bpte", "-o", self.folder / "case.bpte")
                if case == INVALID:
                    self.assertEqual((written.returncode, written.stderr), (5, "assay: unsupported, case.as: bpte cannot express an invalid call, because a valid program cannot make it\n"))
                    continue
                self.assertEqual((written.returncode, written.stderr), (0, ""))
                for command in "check", "run":
                    done = assay(command, "case.bpte", cwd=self.folder)
                    self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_request(self):
        for case in (*RIGHT, INVALID):
            with self.subTest(case):
                both = json.loads(self.file(case, "json").read_text())
                done = assay("call", "--jsonl", input=json.dumps(both["request"]) + "\n")
                self.assertEqual(json.loads(done.stdout), both["answer"])
                self.assertEqual(both["answer"]["outcome"] != "ok", case == INVALID)

    def test_on_standard_output(self):
        case = RIGHT[0]
        done = self.case(case, "--as", "json")
        self.assertEqual(done.stdout, self.file(case, "json").read_text())

    def test_impossible_requests_are_refused(self):
        for arguments in (["--as", "pdf"], ["-o", "x"], ["--as", "cpp", "--json"]):
            done = self.case(RIGHT[0], *arguments)
            self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (2, "", 1), arguments)
        done = self.case(RIGHT[0], "--as", "cpp", "-o", "/no/such/folder/x.cpp")
        self.assertEqual(done.returncode, 7)


if __name__ == "__main__":
    unittest.main()
