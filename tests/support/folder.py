"""Tests that write files."""
import json
import pathlib
import tempfile
import unittest


class WithFolder(unittest.TestCase):
    """`self.folder` is there for the time of a test."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, content):
        """A file of bytes, or of anything else as JSON."""
        path = self.folder / name
        path.write_bytes(content if isinstance(content, (bytes, bytearray)) else json.dumps(content).encode())
        return path
