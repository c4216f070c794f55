"""The sections of doc/run_on_a_board.md that need the optimized kernels, on an emulated Cortex-M55 whose build is begun with the kernels."""
import unittest

import board_test
from page import follow
from source import SOURCE


class Program(board_test.OnBoard):
    def test_page(self):
        follow(self, "run_on_a_board.md", self.folder, self.environment, at=SOURCE, wanted=lambda section: section in ("Kernels", *board_test.PROGRAM), seconds=1200)


if __name__ == "__main__":
    unittest.main()
