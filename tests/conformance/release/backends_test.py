"""Backends that register themselves with ExecuTorch, as their authors build them: assay delegate backend:./lib.so."""
import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

from folder import WithFolder
from source import PROGRAMS, SOURCE

ASSAY = os.environ["ASSAY"]
PACKAGE = os.environ.get("ASSAY_EXECUTORCH", "")
FAULTY = pathlib.Path(os.environ["ASSAY_BUILD"]) / "libfaulty_backend.so"
DELEGATED = SOURCE / "golden/delegated"


@unittest.skipUnless(PACKAGE, "built without the official runtime")
class Backends(WithFolder):
    @classmethod
    def setUpClass(cls):
        cls.cache = cls.enterClassContext(tempfile.TemporaryDirectory())  # where the adapter is compiled once

    def assay(self, *words, planted="", **environment):
        environment = os.environ | {"XDG_CACHE_HOME": self.cache, "ASSAY_PLANTED": planted} | environment
        return subprocess.run([ASSAY, *map(str, words)], capture_output=True, text=True, check=False, timeout=300, env=environment)

    def judged(self, program, *options, testee=f"backend:{FAULTY}=PlantedBackend", **planted):
        lines = self.folder / "run.jsonl"
        done = self.assay("delegate", testee, DELEGATED / program / "program.pte", "-o", lines, *options, **planted)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        return done, [json.loads(line) for line in lines.read_text().splitlines()]

    def test_a_right_backend_passes(self):
        for program in "f32_conv", "static_int8_residual", "8da4w_linear", "dynamic_sequence":
            done, (header, *cases, _) = self.judged(program)
            self.assertEqual(done.returncode, 0, done.stdout)
            self.assertEqual(header["header"]["testee"], "backend:libfaulty_backend.so")
            self.assertEqual({case["verdict"] for case in cases} - {"undecided"}, {"pass"})

    def test_a_wrong_node_is_named(self):
        for program, fault, kind in ("f32_linear", "bias dropped", "FullyConnected"), ("8da4w_linear", "nibbles of groups exchanged", "FullyConnected"):
            done, _ = self.judged(program, planted=fault)
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stdout, f"first wrong: .*, {kind}:")

    def test_a_backend_runs_the_delegates_of_a_program(self):
        program = DELEGATED / "f32_conv"
        done = self.assay("run", program / "program.pte", "--calls", program / "calls.json", "--with", f"backend:{FAULTY}=PlantedBackend")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def traced(self, program, testee, planted=""):
        done = self.assay("run", DELEGATED / program / "program.pte", "--calls", DELEGATED / program / "calls.json", "--with", testee, "--trace", "--json", planted=planted)
        self.assertEqual(done.stderr, "")
        return [step for step in json.loads(done.stdout)["trace"] if step["name"] == "DelegateCall"]

    def test_a_trace_has_the_border_of_each_delegate(self):
        backend = f"backend:{FAULTY}=PlantedBackend"
        for program in "dynamic_sequence", "f32_pools", "static_int8_linear":
            for testee in "executorch+xnnpack", backend:
                got, expected = self.traced(program, testee), self.traced(program, "reference")
                self.assertEqual([(s["method"], s["chain"], s["instruction"]) for s in got], [(s["method"], s["chain"], s["instruction"]) for s in expected])
                for step, right in zip(got, expected):
                    self.assertEqual(len(step["operands"]), len(right["operands"]))
                    for a, b in zip(step["operands"], right["operands"]):
                        for key in "min", "max", "mean":
                            self.assertAlmostEqual(a.pop(key), b.pop(key), delta=1e-5)
                        self.assertEqual(a, b)
        (right, _), (wrong, _) = (self.traced("f32_linear", backend, planted) for planted in ("", "bias dropped"))
        self.assertEqual([a["mean"] == b["mean"] for a, b in zip(right["operands"], wrong["operands"])], [True, False])

    BUILDER = FAULTY.parent / "opaque_builder"
    MLP = PROGRAMS / "mlp" / "program.pte"

    def opaque(self, planted, *options, command=None, testee=(), **environment):
        """A program of an opaque backend, judged by the plain program that it was built from. `testee` is a command that serves the backend."""
        whole = self.folder / "whole.pte"
        subprocess.run([self.BUILDER, self.MLP, whole], check=True)
        command = command or (self.BUILDER, "{}", "{out}")
        first, last = ((), ("--", *testee)) if testee else ((f"backend:{FAULTY}",), ())
        words = *first, whole, "--graph", self.MLP, *options, "--build", "--", *command, *last
        return self.assay("delegate", *words, planted=planted, **environment)

    def test_a_wrong_instruction_of_an_opaque_delegate_is_named(self):
        right = self.opaque("")
        self.assertEqual((right.returncode, "part" in right.stdout), (0, False), right.stdout + right.stderr)
        for fault, instructions in ("opaque relu", [2]), ("opaque last addmm", [7]), ("opaque addmm with relu", [1, 2]):
            saved = self.folder / "part.bpte"
            done = self.opaque(fault, "--save", saved)
            self.assertEqual((done.returncode, done.stderr), (1, ""), done.stdout)
            named = re.search(r"^first wrong part: .*/0/all\n((?:  instruction .*\n)+)  .* must be .*\n  CMD was started \d times$", done.stdout, re.MULTILINE)
            self.assertEqual([int(i) for i in re.findall(r"instruction (\d+) of forward, aten::", named[1])], instructions)
            again = self.assay("run", saved, "--with", f"backend:{FAULTY}", planted=fault), self.assay("run", saved, "--with", f"backend:{FAULTY}")
            self.assertEqual([run.returncode for run in again], [1, 0], again)

    def test_reports_name_the_wrong_instruction(self):
        lines, page, place = self.folder / "run.jsonl", self.folder / "run.html", "in instruction 2 of forward, aten::relu.out"
        done = self.opaque("opaque relu", "--json", "-o", lines, "--html", page)
        self.assertEqual((done.returncode, done.stderr), (1, ""))
        (printed,) = next(iter(json.loads(done.stdout).values()))["defects"]
        written = [json.loads(line) for line in lines.read_text().splitlines()]
        (defect,) = [line["defect"] for line in written if "defect" in line]
        self.assertEqual(defect, printed)
        self.assertIn(place, defect["sentence"])
        self.assertRegex(defect["smallest"]["message"], r"\nfirst wrong part: .*\n  instruction 2 of forward, aten::relu.out: .*\n.*\n  CMD was started \d times$")
        self.assertIn(place, page.read_text())
        again = subprocess.run(defect["command"].replace("assay", ASSAY, 1), shell=True, capture_output=True, text=True, check=False, cwd=self.folder,
                               env=os.environ | {"XDG_CACHE_HOME": self.cache, "ASSAY_PLANTED": "opaque relu"})
        self.assertEqual(again.returncode, 1, again.stderr)
        self.assertIn(place, again.stdout)
        self.assertTrue((self.folder / "case.bpte").exists())

        done = self.opaque("opaque relu", "-o", lines, command=["sh", "-c", "exit 1", "{}", "{out}"])
        (defect,) = [line["defect"] for line in map(json.loads, lines.read_text().splitlines()) if "defect" in line]
        self.assertIn("\n  the whole method was not judged\n", defect["smallest"]["message"])
        done = self.opaque("opaque relu", "-o", lines, command=["./nothing", "{}", "{out}"])
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("1 defect", done.stdout)  # what was judged is reported

    def test_a_testee_behind_the_builder(self):
        serve = [ASSAY, "serve", f"backend:{FAULTY}"]
        done = self.opaque("opaque last addmm", "--save", self.folder / "part.bpte", testee=serve)
        self.assertEqual((done.returncode, done.stderr), (1, ""), done.stdout)
        self.assertRegex(done.stdout, r"first wrong part: .*\n  instruction 7 of forward, aten::addmm")
        self.assertEqual(self.opaque("", testee=serve).returncode, 0)
        done = self.opaque("", command=["sh", "-c", "exit 1", "--", "{}", "{out}"], testee=serve)  # the last -- begins the testee
        self.assertEqual(done.returncode, 0, done.stderr)
        done = self.assay("delegate", self.MLP, "--graph", self.MLP, "--build", "--", self.BUILDER, "{}", "{out}")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("TESTEE or PROGRAM is missing", done.stderr)

    def test_parts_that_are_not_built(self):
        def shell(script):
            return ["sh", "-c", script, PROGRAMS / "cnn" / "program.pte", "{}", "{out}"]

        for command, reason in (
            (shell("echo cannot do it; exit 1"), "the command refused: cannot do it"),
            (shell("exit 0"), "the command ended with exit code 0, but wrote no file"),
            (shell("kill -SEGV $$"), "the command crashed: "),
            (shell("while :; do :; done"), "the command hung: took more than its time of the processor"),
            (shell('echo garbage > "$2"'), "the command wrote no program of the part: malformed, H1: "),
            (shell('cp "$0" "$2"'), "the command wrote no program of the part: its method forward is (float32 "),
        ):
            done = self.opaque("opaque relu", "--build-timeout", "1", command=command)
            self.assertEqual((done.returncode, done.stderr), (1, ""))
            self.assertIn(f"\n  the whole method was not judged\n  CMD was started once; the last part that was not judged: {reason}", done.stdout)
        done = self.opaque("opaque relu", ASSAY_UNBUILT="aten::relu")
        self.assertIn("the command refused: cannot lower aten::relu", done.stdout)
        done = self.opaque("opaque relu", "--max-builds", "3")
        self.assertRegex(done.stdout, r"first wrong part: .*\n  instruction 0 of (.*\n){5}  CMD was started 3 times; .* --max-builds is reached")
        done = self.opaque("opaque relu", command=["./nothing", "{}", "{out}"])
        self.assertIn("ends with exit code 127", done.stderr)
        done = self.opaque("opaque relu", command=[self.BUILDER, "{}"])
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("--build needs a command behind -- with the word {out}", done.stderr)

    def test_a_missing_part_is_named(self):
        for testee, words in (f"backend:{FAULTY}=Other", "it registers OpaqueBackend, PlantedBackend"), (f"backend:{self.folder}/none.so", "is missing"):
            done = self.assay("delegate", testee)
            self.assertEqual((done.returncode, done.stdout), (4, ""), done.stderr)
            self.assertIn(words, done.stderr)


if __name__ == "__main__":
    unittest.main()
