"""Ends in Python that need executorch and torch: the example over executorch.runtime, as it is and with faults, and eager PyTorch. For tools/test all."""
import json
import os
import pathlib
import subprocess
import sys
import unittest

from folder import WithFolder
from source import PROGRAMS, SOURCE, SUPPORT

ASSAY = os.environ["ASSAY"]
EXAMPLES = SOURCE / "doc" / "examples" / "protocol"
HERE = os.environ | {"PATH": f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}", "PYTHONPATH": f"{EXAMPLES}:{SUPPORT}"}


class Official(WithFolder):
    def judged(self, module, *options, programs, **environment):
        """The verdict and class of each case."""
        run = self.folder / "run.jsonl"
        command = ASSAY, "runtime", "--programs", programs, *options, "-o", run, f"python:{module}"
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600, env=HERE | environment)
        lines = [json.loads(line) for line in run.read_text().splitlines()]
        self.assertTrue(lines[-1]["footer"]["complete"], done.stderr)
        self.assertEqual(lines[0]["header"]["testee"], "executorch.runtime")
        self.assertIn(f"file {module}.py", lines[0]["header"])
        return {line["case"]: (line["verdict"], line["class"]) for line in lines if "case" in line}

    def test_it_runs_programs(self):
        cases = self.judged("executorch_runtime", programs="recorded/mlp,recorded/kv_cache,reload/counter,instances/counter,inputs/mlp:dtype")
        self.assertEqual({case: verdict for case, verdict in cases.items() if verdict[0] != "pass"}, {})
        self.assertEqual(len(cases), 5)

    def test_what_it_does_wrong_is_found(self):
        for fault, verdict in ("second", ("fail", "value")), ("ends", ("crash", "exit")), ("hang", ("timeout", "")):
            with self.subTest(fault):
                cases = self.judged("faulty_executorch", "--timeout", "5", programs="recorded/counter,recorded/mlp", FAULT=fault, PROGRAM=str(PROGRAMS / "counter" / "program.pte"))
                self.assertEqual(cases, {"recorded/counter": verdict, "recorded/mlp": ("pass", "")})


class Eager(WithFolder):
    def test_it_answers_live(self):
        run = self.folder / "run.jsonl"
        command = ASSAY, "kernels", "torch", "--operators", "aten::relu.out,aten::topk.values", "--mutations", "0", "-o", run
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600, env=HERE)
        self.assertEqual(done.returncode, 0, done.stderr)
        header, *cases, footer = [json.loads(line) for line in run.read_text().splitlines()]
        self.assertEqual((header["header"]["testee"], {case["verdict"] for case in cases}), ("torch", {"pass"}))
        self.assertRegex(header["header"]["torch"], r"^\d+\.\d+")
        self.assertGreater(footer["footer"]["cases"], 1000)


if __name__ == "__main__":
    unittest.main()
