"""Selective builds: what a library that was selected for programs does, what it refuses, and what its parts are."""
import array
import ast
import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

from source import PROGRAMS

BUILD = pathlib.Path(os.environ["ASSAY_BUILD"]) / "tests/selected"
# The symbols that a library may need: functions of C without state, and the compiler's description of the processor.
PLAIN = {"memcpy", "memmove", "memset", "memcmp", "strlen", "strncmp", "sqrt", "__cpu_model", "__cpu_features2", "_GLOBAL_OFFSET_TABLE_"}
UNSUPPORTED = 3  # of assay_outcome; as an exit code of the command it is 5


def npy(file):
    """The bytes of the elements."""
    data = file.read_bytes()
    size = int.from_bytes(data[8:10], "little")
    header = ast.literal_eval(data[10:10 + size].decode())
    assert header["descr"] == "<f4" and not header["fortran_order"], header
    return data[10 + size:]


def client(selected, program, inputs=()):
    with tempfile.TemporaryDirectory() as scratch:
        files = [pathlib.Path(scratch) / str(i) for i in range(len(inputs))]
        for file, data in zip(files, inputs):
            file.write_bytes(data)
        command = [BUILD / f"selected_{selected}_client", PROGRAMS / program / "program.pte", "forward", *files]
        return subprocess.run(command, capture_output=True, check=False)


class Runs(unittest.TestCase):
    def assert_gives_what_was_recorded(self, selected, program):
        calls = json.loads((PROGRAMS / program / "calls.json").read_text())["calls"]
        self.assertTrue(calls)
        for call in calls:
            done = client(selected, program, [npy(PROGRAMS / program / name) for name in call["inputs"]])
            self.assertEqual(done.returncode, 0, done.stderr)
            given = array.array("f", done.stdout)
            wanted = array.array("f", b"".join(npy(PROGRAMS / program / name) for name in call["outputs"]))
            self.assertEqual(len(given), len(wanted))
            for a, b in zip(given, wanted):
                self.assertLessEqual(abs(a - b), call["atol"] + call["rtol"] * abs(b))

    def test_one_program(self):
        self.assert_gives_what_was_recorded("one", "mlp")

    def test_two_programs(self):
        self.assert_gives_what_was_recorded("two", "mlp")
        self.assert_gives_what_was_recorded("two", "cnn")

    def test_programs_in_programs(self):
        self.assert_gives_what_was_recorded("delegates", "delegate_layers")

    def test_packed_constants_that_were_kept(self):
        self.assert_gives_what_was_recorded("two_packed", "mlp")
        self.assert_gives_what_was_recorded("two_packed", "cnn")

    def test_a_selection_that_was_kept(self):
        self.assert_gives_what_was_recorded("kept", "mlp")


class Refuses(unittest.TestCase):
    def refusal(self, selected, program):
        done = client(selected, program)
        self.assertEqual(done.returncode, UNSUPPORTED, done.stderr)
        return done.stderr.decode()

    def test_an_operator(self):
        self.assertRegex(self.refusal("one", "cnn"), r'^I4: "forward", instruction \d+: there is no kernel of aten::convolution.out for float32, float32, float32, float32\n$')

    def test_a_dtype(self):
        self.assertRegex(self.refusal("kept", "bfloat16"), r"there is no kernel of aten::permute_copy.out for bfloat16, bfloat16\n$")

    def test_a_layout(self):
        self.assertRegex(self.refusal("two", "channels_last"), r"there is no kernel of aten::convolution.out for float32 channels last, float32 channels last, float32, float32 channels last\n$")


class Consists(unittest.TestCase):
    def sizes(self, selected):
        lines = (BUILD / f"selected_{selected}" / f"selected_{selected}.sizes.txt").read_text().splitlines()
        return {name: int(code) for name, code in (re.fullmatch(r"(.+?) +(\d+) \+ \d+", line).groups() for line in lines)}

    def symbols(self, selected, *options):
        said = subprocess.run(["nm", *options, BUILD / f"libselected_{selected}.a"], capture_output=True, text=True, check=True).stdout
        return [line.split()[-1] for line in said.splitlines() if line and not line.endswith(":")]

    def test_a_line_for_each_kernel(self):
        parts = {"core", "checks of files", "shared", "all"}
        self.assertEqual(self.sizes("one").keys(), parts | {"rewrites", "matmul_f32"})
        self.assertEqual(self.sizes("two").keys(), parts | {"rewrites", "matmul_f32", "convolution_f32", "max_pool2d_f32"})
        self.assertEqual(self.sizes("kept").keys(), parts | {"rewrites", "matmul_f32", "copy_elements"})
        for selected in "one", "two", "kept":
            sizes = self.sizes(selected)
            whole = sizes.pop("all")
            self.assertEqual(sum(sizes.values()), whole)

    def test_the_core_is_small(self):
        for selected in "one", "two", "kept":
            self.assertLessEqual(self.sizes(selected)["core"], 32 << 10)

    def test_needs_nothing_but_plain_functions_of_c(self):
        self.assertLessEqual(set(self.symbols("two", "-u")) - set(self.symbols("two", "--defined-only")), PLAIN)

    def test_no_exceptions_rtti_guards_or_reference(self):
        for symbol in self.symbols("two"):
            self.assertNotRegex(symbol, r"^_ZT[ISV]|^_ZGV|^__cxa|^_Unwind|personality|reference_refusals|refusing_kernel|^_Zn[aw]|^_Zd[al]")

    def test_no_other_rewrite(self):
        rewrites = [s for s in self.symbols("one", "--defined-only") if re.fullmatch(r"_ZN5assay9optimized\d+(fold|drop|fuse|leave|use)_\w+E", s)]
        self.assertEqual(sorted(rewrites), ["_ZN5assay9optimized14fold_constantsE", "_ZN5assay9optimized18fuse_into_productsE"])

    def test_no_other_kernel(self):
        kernels = [s for s in self.symbols("one", "--defined-only") if re.fullmatch(r"_ZN5assay9optimized\d+\w+_f32E", s)]
        self.assertEqual(kernels, ["_ZN5assay9optimized10matmul_f32E"])


class Command(unittest.TestCase):
    def select(self, *arguments):
        return subprocess.run([os.environ["ASSAY"], "select", *map(str, arguments)], capture_output=True, text=True, check=False)

    def test_only(self):
        with tempfile.TemporaryDirectory() as scratch:
            mlp, cnn = PROGRAMS / "mlp/program.pte", PROGRAMS / "cnn/program.pte"
            self.assertEqual(self.select(mlp, "-o", scratch).returncode, 0)
            selection = pathlib.Path(scratch) / "selection.yaml"
            kept = pathlib.Path(scratch) / "kept.yaml"
            kept.write_text(selection.read_text())
            self.assertEqual(self.select(mlp, "--only", kept, "-o", scratch).returncode, 0)
            self.assertEqual(selection.read_text(), kept.read_text())
            done = self.select(cnn, "--only", kept, "-o", scratch)
            self.assertEqual(done.returncode, 5)
            self.assertIn("aten::convolution.out", done.stderr)
            self.assertEqual(selection.read_text(), kept.read_text())

    def test_a_program_without_kernels_is_refused(self):
        with tempfile.TemporaryDirectory() as scratch:
            program = pathlib.Path(scratch) / "program.pte"
            bytes_of = (PROGRAMS / "comparisons/program.pte").read_bytes()
            program.write_bytes(bytes_of.replace(b"aten::logical_not", b"aten::bitwise_not"))
            done = self.select(program, "-o", scratch)
            self.assertEqual(done.returncode, 5)
            self.assertRegex(done.stderr, r"there is no kernel of aten::bitwise_not.out for float32, bool\n$")


if __name__ == "__main__":
    unittest.main()
