"""The operator sweep with torch, for a list of few calls: programs, the end of eager PyTorch, and the page."""
import json
import os
import subprocess
import sys
import unittest

from folder import WithFolder
from source import SOURCE

ASSAY = os.environ["ASSAY"]
CALLS = [
    ("aten::add.out", ["float32[2,3]", "const float32[3]", 1]),
    ("aten::sum.IntList_out", ["int32[2,3]", [1], False, 4]),  # a dtype by its number
    ("aten::split_with_sizes_copy.out", ["float32[2,6]", [2, 4], 1]),  # a list of outs
    ("aten::max.dim_max", ["float32[2,6]", 1, False]),  # two outs
    ("aten::convolution.out", ["float32[1,4,6,6](0,2,3,1)", "const float32[8,2,3,3]", None, [1, 1], [1, 1], [1, 1], False, [0, 0], 2]),
    ("aten::embedding.out", ["const float32[9,4]", "int64[2,3] < 9", -1, False, False]),
    ("aten::index.Tensor_out", ["float32[3,4]", [None, "int64[2] < 4"]]),
    ("aten::linear.out", ["float32[2,3]", "const float32[4,3]", None]),  # the exporter makes other calls of it
]


class Sweep(WithFolder):
    def test_programs_and_page(self):
        rows = [{"operator": operator, "arguments": arguments} for operator, arguments in CALLS]
        listed = self.write("calls.yaml", {"empty": {"operator": "aten::relu.out", "arguments": ["float32[0]"]}, "calls": rows})
        out, page = self.folder / "sweep", self.folder / "page.md"
        self.run_python("make.py", "--list", listed, "--out", out)
        self.assertEqual(list(json.loads((out / "refused.json").read_text())), ["008_linear_out"])
        self.run_python("run.py", "--list", listed, "--programs", out, "--assay", ASSAY, "-o", page, "--", "--seconds", "0")
        programs = json.loads((out / "results.json").read_text())["programs"]
        self.assertEqual(len(programs), len(CALLS))  # without the refused call, with the empty one
        for program in programs:
            for engine in program["engines"]:
                self.assertEqual([o for o in engine["outputs"] if not o["agrees"]], [], program["program"])
        self.assertEqual(page.read_text().count("| `"), len(CALLS))

    def run_python(self, name, *arguments):
        done = subprocess.run([sys.executable, SOURCE / "bench/sweep" / name, *arguments], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()
