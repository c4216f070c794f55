"""A base of tests that write files."""
import json
import pathlib
import tempfile
import unittest


class WithFolder(unittest.TestCase):
    """`self.folder` exists during a test."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, content):
        """Writes bytes as they are, and any other content as JSON."""
        path = self.folder / name
        path.write_bytes(content if isinstance(content, (bytes, bytearray)) else json.dumps(content).encode())
        return path
