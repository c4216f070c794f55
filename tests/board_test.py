"""doc/run_on_a_board.md, followed on an emulated Cortex-M55; and what a board may do that a process does not."""
import os
import pathlib
import shutil
import subprocess
import unittest

from folder import WithFolder
from page import DOC, follow

ASSAY = pathlib.Path(os.environ["ASSAY"]).resolve()
SOURCE = DOC.parent


class Board(WithFolder):
    def setUp(self):
        super().setUp()
        cached = {"CMAKE_C_COMPILER_LAUNCHER": "ccache", "CMAKE_CXX_COMPILER_LAUNCHER": "ccache"} if shutil.which("ccache") else {}
        self.environment = os.environ | cached | {"PATH": f"{ASSAY.parent}:{os.environ['PATH']}"}

    def test_page(self):
        follow(self, "run_on_a_board.md", self.folder, self.environment, at=SOURCE)
        self.hangs()

    def run_here(self, *command):
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, env=self.environment, cwd=SOURCE)
        return done.returncode, done.stdout + done.stderr

    def hangs(self):
        """A kernel that does not end costs its case alone. The board is that of the page."""
        kernels = (SOURCE / "doc/examples/kernel_library/kernels.c").read_text()
        slow = self.write("slow.c", kernels.replace("float* y = out->data;", "float* y = out->data;\n  while (self->rank > 2) (void)*(volatile const float*)x;").encode())
        for command in ("cmake", "-S", "doc/examples/board", "-B", self.folder / "board", f"-DKERNELS={slow}"), ("cmake", "--build", self.folder / "board", "--target", "kernels"):
            code, said = self.run_here(*command)
            self.assertEqual(code, 0, said)
        board = "--testee", "--", "doc/examples/board/emulated", self.folder / "board/kernels.elf"
        code, said = self.run_here("assay", "case", "aten::relu.out#0dd6fe2d", *board)
        self.assertEqual(code, 1, said)
        self.assertIn("timeout: took longer than", said)
        self.assertEqual(self.run_here("assay", "case", "aten::relu.out#2bddb9e7", *board)[0], 0)

    def test_examples_are_short(self):
        for example in "protocol/library.c", "protocol/runtime.c", "board/board.c":
            self.assertLessEqual(len((DOC / "examples" / example).read_text().splitlines()), 150, example)


if __name__ == "__main__":
    unittest.main()
