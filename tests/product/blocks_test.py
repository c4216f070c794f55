"""The generated blocks of checked-in files are what the spec gives now."""
import subprocess
import sys
import unittest

from source import SOURCE



class Blocks(unittest.TestCase):
    def test_are_up_to_date(self):
        done = subprocess.run([sys.executable, SOURCE / "tools/specgen/blocks.py"], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""), "run tools/specgen/blocks.py --write")


if __name__ == "__main__":
    unittest.main()
