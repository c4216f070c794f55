"""doc/run_on_a_board.md, followed on an emulated Cortex-M55, without the sections that need the optimized kernels, which take minutes to compile: board_program.py."""
import json
import os
import pathlib
import shutil
import subprocess
import unittest

from folder import WithFolder
from page import DOC, follow
from source import SOURCE

ASSAY = pathlib.Path(os.environ["ASSAY"]).resolve()
PROGRAM = "A program", "AArch64 Linux and Android", "Measure times"


class OnBoard(WithFolder):
    def setUp(self):
        super().setUp()
        cached = {"CMAKE_C_COMPILER_LAUNCHER": "ccache", "CMAKE_CXX_COMPILER_LAUNCHER": "ccache"} if shutil.which("ccache") else {}
        self.environment = os.environ | cached | {"PATH": f"{ASSAY.parent}:{os.environ['PATH']}"}


class Board(OnBoard):
    def test_page(self):
        follow(self, "run_on_a_board.md", self.folder, self.environment, at=SOURCE, wanted=lambda section: section not in PROGRAM)
        self.hangs()

    def run_here(self, *command):
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, env=self.environment, cwd=SOURCE)
        return done.returncode, done.stdout + done.stderr

    def hangs(self):
        """A kernel that does not end, of one call, is that call's failure alone. The board is that of the page."""
        hanging, other = "aten::relu.out#0dd6fe2d", "aten::relu.out#2bddb9e7"
        kernels = (SOURCE / "doc/examples/kernel_library/kernels.c").read_text()
        broken = kernels.replace("float* y = out->data;", "float* y = out->data;\n  while (x[0] > 0.91991f && x[0] < 0.91992f) (void)*(volatile const float*)x;")
        self.assertNotEqual(broken, kernels)
        self.write("cases.txt", f"{hanging}\n{other}\n".encode())
        for command in (
            ("cmake", "-S", "doc/examples/board", "-B", self.folder / "board", f"-DKERNELS={self.write('hangs.c', broken.encode())}"),
            ("cmake", "--build", self.folder / "board", "--target", "kernels"),
        ):
            code, said = self.run_here(*command)
            self.assertEqual(code, 0, said)
        lines = self.folder / "run.jsonl"
        self.run_here("assay", "kernels", "--cases", self.folder / "cases.txt", "--timeout", "3", "-o", lines, "--", "doc/examples/board/emulated", self.folder / "board/kernels.elf")
        verdicts = {line["case"]: line["verdict"] for line in map(json.loads, lines.read_text().splitlines()) if "verdict" in line and "case" in line}
        self.assertEqual(verdicts, {hanging: "timeout", other: "pass"})

    def test_examples_are_short(self):
        for example in "protocol/library.c", "protocol/runtime.c", "board/board.c":
            self.assertLessEqual(len((DOC / "examples" / example).read_text().splitlines()), 150, example)


if __name__ == "__main__":
    unittest.main()
