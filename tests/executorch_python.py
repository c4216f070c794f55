"""The example of an end over executorch.runtime, judged as it is and with faults. Of a Python with executorch and torch, for tools/test all."""
import json
import os
import pathlib
import subprocess
import sys
import unittest

from folder import WithFolder

ASSAY = os.environ["ASSAY"]
TESTS = pathlib.Path(__file__).resolve().parent
PROGRAMS = TESTS.parent / "golden" / "programs"
END = sys.executable, TESTS.parent / "doc" / "examples" / "protocol" / "executorch_runtime.py"


class Official(WithFolder):
    def judged(self, *end, programs):
        """The verdict and class of each case."""
        run = self.folder / "run.jsonl"
        done = subprocess.run([ASSAY, "runtime", "--programs", programs, "--timeout", "40", "-o", run, "--", *map(str, end)], capture_output=True, text=True, check=False, timeout=600)
        lines = [json.loads(line) for line in run.read_text().splitlines()]
        self.assertTrue(lines[-1]["footer"]["complete"], done.stderr)
        self.assertEqual(lines[0]["header"]["testee"], "executorch.runtime")
        self.assertIn("file executorch_runtime.py", lines[0]["header"])
        return {line["case"]: (line["verdict"], line["class"]) for line in lines if "case" in line}

    def test_it_runs_programs(self):
        cases = self.judged(*END, programs="recorded/mlp,recorded/kv_cache,reload/counter,instances/counter,inputs/mlp:dtype")
        self.assertEqual({case: verdict for case, verdict in cases.items() if verdict[0] != "pass"}, {})
        self.assertEqual(len(cases), 5)

    def test_what_it_does_wrong_is_found(self):
        for fault, verdict in ("second", ("fail", "value")), ("ends", ("crash", "exit")), ("hang", ("timeout", "")), ("garbage", ("crash", "exit")):
            with self.subTest(fault):
                faulty = sys.executable, TESTS / "faulty_runtime.py", fault, PROGRAMS / "counter" / "program.pte", *END
                cases = self.judged(*faulty, programs="recorded/counter,recorded/mlp")
                self.assertEqual(cases, {"recorded/counter": verdict, "recorded/mlp": ("pass", "")})


if __name__ == "__main__":
    unittest.main()
