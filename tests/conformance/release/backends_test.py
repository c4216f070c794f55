"""Backends that register themselves with ExecuTorch, as their authors build them: assay delegate backend:./lib.so."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

from folder import WithFolder
from source import SOURCE

ASSAY = os.environ["ASSAY"]
PACKAGE = os.environ.get("ASSAY_EXECUTORCH", "")
FAULTY = pathlib.Path(os.environ["ASSAY_BUILD"]) / "libfaulty_backend.so"
DELEGATED = SOURCE / "golden/delegated"


@unittest.skipUnless(PACKAGE, "built without the official runtime")
class Backends(WithFolder):
    @classmethod
    def setUpClass(cls):
        cls.cache = cls.enterClassContext(tempfile.TemporaryDirectory())  # where the adapter is compiled once

    def assay(self, *words, planted=""):
        environment = os.environ | {"XDG_CACHE_HOME": self.cache, "ASSAY_PLANTED": planted}
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

    def test_a_missing_part_is_named(self):
        for testee, words in (f"backend:{FAULTY}=Other", "it registers PlantedBackend"), (f"backend:{self.folder}/none.so", "is missing"):
            done = self.assay("delegate", testee)
            self.assertEqual((done.returncode, done.stdout), (4, ""), done.stderr)
            self.assertIn(words, done.stderr)


if __name__ == "__main__":
    unittest.main()
