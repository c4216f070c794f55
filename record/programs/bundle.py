"""A program and its calls in one .bpte file, as the official tools write it."""

import tempfile
from pathlib import Path

from executorch.devtools import BundledProgram
from executorch.devtools.bundled_program.config import MethodTestCase, MethodTestSuite
from executorch.devtools.bundled_program.serialize import serialize_from_bundled_program_to_flatbuffer

BUNDLE = "program.bpte"


def bundle(pte, made, results):
    """The bundle's bytes; a case for each call, grouped by method."""
    cases = {}
    for call, outputs in zip(made.calls, results):
        cases.setdefault(call.method, []).append(MethodTestCase(list(call.inputs), outputs))
    suites = [MethodTestSuite(method, of_method) for method, of_method in cases.items()]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "program.pte"
        path.write_bytes(pte)
        bundled = BundledProgram(None, suites, pte_file_path=str(path))
        return serialize_from_bundled_program_to_flatbuffer(bundled)
