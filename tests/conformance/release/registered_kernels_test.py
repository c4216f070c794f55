"""Kernels that register themselves with ExecuTorch's macros, as their authors build them: assay kernels executorch:./lib.so, and a static library by CMake."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

from folder import WithFolder
from source import SOURCE

ASSAY = os.environ["ASSAY"]
INSTALLED = os.environ["ASSAY_INSTALLED"]
PACKAGE = os.environ.get("ASSAY_EXECUTORCH", "")
EXAMPLE = SOURCE / "doc/examples/executorch_kernels"
RELU = "x[i] < 0 ? 0 : x[i]"
BUG = "x[i] < 0 ? x[i] / 128 : x[i]"


def run(*command, **environment):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False, timeout=300, env=os.environ | environment)
    return done.returncode, done.stdout, done.stderr


@unittest.skipUnless(PACKAGE, "built without the official runtime")
class Registered(WithFolder):
    @classmethod
    def setUpClass(cls):
        cls.cache = cls.enterClassContext(tempfile.TemporaryDirectory())  # where the adapter is compiled once

    def compiled(self, text, *options):
        package = pathlib.Path(PACKAGE)
        source, library = self.folder / "mine.cpp", self.folder / "libmine.so"
        source.write_text(text)
        code, out, err = run("c++", "-std=c++17", "-O2", "-shared", "-fPIC", "-w", "-DC10_USING_CUSTOM_GENERATED_MACROS", "-DET_EVENT_TRACER_ENABLED",
                             "-I", package / "include", "-I", package / "include/executorch/runtime/core/portable_type/c10", source, *options, "-o", library)
        self.assertEqual(code, 0, out + err)
        return library

    def example(self, *options):
        return self.compiled((EXAMPLE / "relu.cpp").read_text(), *options)

    def assay(self, *words, **environment):
        return run(ASSAY, *words, **{"XDG_CACHE_HOME": self.cache} | environment)

    def judged(self, testee, *options, **environment):
        lines = self.folder / "run.jsonl"
        code, _, err = self.assay("kernels", testee, "--operators", "aten::relu.out", "-o", lines, *options, **environment)
        self.assertIn(code, (0, 1), err)
        return code, [json.loads(line) for line in lines.read_text().splitlines()]

    def assert_right(self, code, lines):
        header, *cases, _ = lines
        self.assertEqual(code, 0)
        self.assertEqual(header["header"]["kernels"], "1")
        self.assertEqual({case["verdict"] for case in cases if case.get("promised") and case["valid"] and case["dtypes"] == ["float32", "float32"]}, {"pass"})
        return header["header"]

    def assert_refused(self, words, library, *, operators="aten::relu.out", **environment):
        code, out, err = self.assay("kernels", f"executorch:{library}", "--operators", operators, **environment)
        self.assertEqual((code, out), (4, ""), err)
        self.assertIn(words, err)

    def test_right_kernels_pass(self):
        library = self.example()  # which leaves it to the host where the runtime is
        header = self.assert_right(*self.judged(f"executorch:{library}"))
        self.assertEqual(header["testee"], "executorch:libmine.so")
        self.assertRegex(header["executorch"], r"^\d+\.\d+")
        self.assertIn("libmine.so", header)
        self.assertEqual(len(list(pathlib.Path(self.cache, "assay").iterdir())), 1)

    def test_a_library_linked_with_its_runtime_works(self):
        library = self.example(f"{PACKAGE}/lib/libexecutorch.so", f"-Wl,-rpath,{PACKAGE}/lib")
        self.assert_right(*self.judged(f"executorch:{library}", ASSAY_EXECUTORCH=""))

    def test_wrong_kernels_fail(self):
        text = (EXAMPLE / "relu.cpp").read_text()
        self.assertIn(RELU, text)
        code, (_, *cases, _) = self.judged(f"executorch:{self.compiled(text.replace(RELU, BUG))}")
        self.assertEqual((code, [line["defect"]["class"] for line in cases if "defect" in line]), (1, ["value"]))

    def test_kernels_run_in_a_program(self):
        program = SOURCE / "golden/programs/mlp"
        code, out, err = self.assay("run", program / "program.pte", "--calls", program / "calls.json", "--with", f"executorch:{self.example()}")
        self.assertEqual(code, 0, err)
        self.assertNotIn("aten::relu.out", out)

    def test_kernels_of_the_package_are_judged(self):
        quantized = pathlib.Path(PACKAGE, "lib/libexecutorch_kernels_quantized.so")
        lines = self.folder / "run.jsonl"
        code, _, err = self.assay("kernels", f"executorch:{quantized}", "--operators", "quantized_decomposed::add.out", "--mutations", "0", "-o", lines)
        self.assertIn(code, (0, 1), err)
        self.assertGreater(json.loads(lines.read_text().splitlines()[-1])["footer"]["pass"], 0)

    def test_a_missing_part_is_named(self):
        (self.folder / "text.so").write_text("not a library\n")
        self.assert_refused("is missing", self.folder / "none.so")
        self.assert_refused("cannot be loaded: ", self.folder / "text.so")
        self.assert_refused("registers no kernels with ", self.compiled("int nothing;"))
        library = self.example()
        self.assert_refused("ASSAY_EXECUTORCH is /usr, where lib/libexecutorch.so or include/executorch is missing", library, ASSAY_EXECUTORCH="/usr")
        empty = self.folder / "empty"
        empty.mkdir()
        self.assert_refused("needs the ExecuTorch package that it is built with", library, ASSAY_EXECUTORCH="", PATH=str(empty))
        self.assert_refused("needs a C++ compiler on first use, but c++: No such file or directory; CXX names another", library, XDG_CACHE_HOME=str(empty), PATH=str(empty))
        self.assert_refused("cannot be compiled: ", library, XDG_CACHE_HOME=str(empty), CXX="c++ -nostdinc")

    def test_a_static_library(self):
        build = self.folder / "build"
        for command in ("cmake", "-G", "Ninja", "-S", EXAMPLE, "-B", build, f"-DCMAKE_PREFIX_PATH={INSTALLED}", f"-DEXECUTORCH={PACKAGE}"), ("cmake", "--build", build):
            code, out, err = run(*command)
            self.assertEqual(code, 0, out + err)
        _, lines = self.judged(build / "libmine_testee.so", "--contract", "executorch")  # which promises other dtypes, too
        self.assert_right(0, lines)


if __name__ == "__main__":
    unittest.main()
