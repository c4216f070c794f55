"""The optimized runtime through the command: explained, and held to the reference."""
import json
import os
import pathlib
import platform
import subprocess
import tempfile
import unittest

from source import PROGRAMS



def assay(*arguments, code=0):
    done = subprocess.run([os.environ["ASSAY"], *map(str, arguments)], capture_output=True, text=True, check=False)
    assert done.returncode == code, f"{arguments}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


def refused(code, *arguments, **how):
    done = subprocess.run([os.environ["ASSAY"], *map(str, arguments)], capture_output=True, text=True, check=False, **how)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (code, "", 1), f"{arguments}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stderr


def without_kernel(folder):
    """A program with a call that breaks a rule of its operator: bitwise_not of floats."""
    program = (PROGRAMS / "comparisons" / "program.pte").read_bytes()
    (folder / "program.pte").write_bytes(program.replace(b"aten::logical_not", b"aten::bitwise_not"))
    return folder / "program.pte"


class Files(unittest.TestCase):
    """explain and select take what run takes."""
    BUNDLE = PROGRAMS / "methods" / "program.bpte"

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_a_bundle_is_the_program_within(self):
        self.assertEqual(assay("explain", self.BUNDLE, "--method", "encode"), assay("explain", self.BUNDLE.with_suffix(".pte"), "--method", "encode"))
        for file in self.BUNDLE, self.BUNDLE.with_suffix(".pte"):
            assay("select", file, "-o", self.folder / file.suffix)
        self.assertEqual((self.folder / ".bpte/selection.yaml").read_text(), (self.folder / ".pte/selection.yaml").read_text())
        said = json.loads(assay("bench", self.BUNDLE, "--seconds", "0", "--json"))["programs"][0]
        self.assertEqual(said["inputs"], f"inputs of {self.BUNDLE}")
        alone = self.folder / "alone.bpte"
        alone.write_bytes(self.BUNDLE.read_bytes())
        said = json.loads(assay("bench", alone, "--against", "reference", "--seconds", "0", "--json"))["programs"][0]
        self.assertEqual(said["inputs"], f"inputs of {alone}")
        self.assertTrue(all(output["agrees"] for engine in said["engines"] for output in engine["outputs"]))

    def test_a_program_may_come_through_a_pipe(self):
        with open(PROGRAMS / "mlp" / "program.pte", "rb") as program, subprocess.Popen(["cat"], stdin=program, stdout=subprocess.PIPE) as pipe:
            done = subprocess.run([os.environ["ASSAY"], "explain", "/dev/stdin"], stdin=pipe.stdout, capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, assay("explain", PROGRAMS / "mlp" / "program.pte")), done.stderr)

    def test_what_is_no_program_is_refused(self):
        for file in "/dev/null", "/dev/zero":
            for command in ("explain", file), ("select", file, "-o", self.folder):
                self.assertIn("malformed", refused(3, *command))
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_a_selection_needs_a_folder(self):
        file = self.folder / "file"
        file.touch()
        self.assertIn("exhausted, output: ", refused(7, "select", PROGRAMS / "mlp" / "program.pte", "-o", file))

    def test_only_a_selection_is_one(self):
        mlp = PROGRAMS / "mlp" / "program.pte"
        assay("select", mlp, "-o", self.folder)
        assay("select", mlp, "--only", self.folder / "selection.yaml", "-o", self.folder)
        for file, said in (mlp, "line 1: "), ("/dev/zero", "it is longer than"):
            self.assertRegex(refused(3, "select", mlp, "--only", file, "-o", self.folder), f"malformed, selection: .*{said}")

    def test_a_wrong_method_is_answered_with_the_methods(self):
        said = {refused(4, *command, self.BUNDLE.with_suffix(".pte"), "--method", "nothing")
                for command in (["explain"], ["run", "--with", "optimized"], ["run", "--with", "reference"])}
        self.assertEqual(len(said), 1, said)
        self.assertRegex(said.pop(), 'there is no method "nothing"; the methods are "both", "decode", "encode"\n')


class Explain(unittest.TestCase):
    def test_every_instruction_has_its_line(self):
        lines = assay("explain", PROGRAMS / "mobile_net" / "program.pte").splitlines()
        self.assertRegex(lines[0], r"^method forward, (sse4|avx2|avx512|amx|neon): \d+ instructions, \d+ steps, 0 of them without a kernel$")
        self.assertRegex(lines[1], r"^memory: prepared \d+, arena \d+, shared 0, scratch \d+ bytes$")
        self.assertEqual(lines[2], "rewrites: fold_constants, drop_copies, fuse_into_products, use_channels_last")
        instructions = int(lines[0].split(": ")[1].split()[0])
        self.assertEqual(len(lines), 3 + instructions)
        self.assertTrue(any("convolution_f32 + batch norm" in line for line in lines), lines)

    def test_json_says_the_same(self):
        said = json.loads(assay("explain", PROGRAMS / "mobile_net" / "program.pte", "--json"))
        steps = {line["step"] for line in said["instructions"] if "step" in line}
        self.assertEqual(steps, set(range(len(steps))))
        self.assertEqual(said["without_kernel"], 0)
        for line in said["instructions"]:
            self.assertEqual("kernel" in line, line.get("done_by") == line["instruction"])

    def left(self, program):
        """Why instructions are left as written, by operator: as JSON, and as text."""
        path = PROGRAMS / program / "program.pte"
        lines = json.loads(assay("explain", path, "--json"))["instructions"]
        for line, printed in zip(lines, assay("explain", path).splitlines()[-len(lines):]):
            self.assertEqual("left" in line, "kernel" in line and not line["with"])
            if "left" in line:
                self.assertEqual(printed, f"{line['instruction']:5}  {line['operator']:<44} {line['kernel']} - {line['left']}")
        return {(line["operator"], line["left"]) for line in lines if "left" in line}

    def test_why_instructions_are_left_as_written(self):
        for program, operator, reason in (
                ("dynamic_sequence", "aten::expand_copy.out", "its sizes may change, and are not known to fit"),
                ("dynamic_sequence", "aten::arange.start_out", "no rewrite takes this call"),
                ("kv_cache", "aten::addmm.out", "what reads its result cannot be merged into it"),
                ("mlp", "aten::addmm.out", "its result is an input, an output or state, or shares its bytes"),
                ("lstm", "aten::addmm.out", "several instructions read its result")):
            with self.subTest(program=program, operator=operator):
                self.assertIn((operator, reason), self.left(program))

    def test_calls_without_a_kernel_are_marked(self):
        """bitwise_not takes no floats: the program is refused when it runs, in the words of the reference."""
        with tempfile.TemporaryDirectory() as folder:
            program = without_kernel(pathlib.Path(folder))
            said = json.loads(assay("explain", program, "--json"))
            marked = [line for line in said["instructions"] if line.get("kernel") == "reference"]
            self.assertEqual(([line["operator"] for line in marked], said["without_kernel"]), (["aten::bitwise_not.out"], 1))
            said = {assay("run", program, "--calls", PROGRAMS / "comparisons" / "calls.json", "--with", runtime, code=4) for runtime in ("optimized", "reference")}
            self.assertEqual(len(said), 1, said)

    def test_differences_of_each_dtype_that_sums_have_are_its_own(self):
        """What is added is the opposite of alpha, which an unsigned type has not."""
        with tempfile.TemporaryDirectory() as folder:
            assay("suite", "-o", folder, "--programs", "aten::sub.out,aten::rsub.Scalar_out")
            found = set()
            for program in pathlib.Path(folder).rglob("*.pte"):
                dtypes = {value["dtype"] for value in json.loads(assay("inspect", program, "--json"))["methods"][0]["values"] if "dtype" in value}
                said = json.loads(assay("explain", program, "--json"))
                if dtypes <= {"uint8"} or dtypes <= {"float32"}:
                    found.add((*dtypes, said["instructions"][0]["kernel"]))
            self.assertEqual(found, {("uint8", "sub_i64"), ("uint8", "rsub_i64"), ("float32", "sub_f32"), ("float32", "rsub_f32")})

    def test_for_an_instruction_set_in_relaxed_arithmetic(self):
        name = "neon" if platform.machine() == "aarch64" else "sse4"
        lines = assay("explain", PROGRAMS / "cnn" / "program.pte", "--with", f"optimized:relaxed,{name}").splitlines()
        self.assertTrue(lines[0].startswith(f"method forward, {name}: "), lines[0])
        for words in "optimized:", "optimized:relaxed,", "optimized:fast", "reference":
            assay("explain", PROGRAMS / "cnn" / "program.pte", "--with", words, code=5 if words == "reference" else 4)

    def test_a_missing_method_is_refused(self):
        assay("explain", PROGRAMS / "mlp" / "program.pte", "--method", "nobody", code=4)


class Check(unittest.TestCase):
    def test_states_its_memories(self):
        [forward] = json.loads(assay("check", PROGRAMS / "mobile_net" / "program.pte", "--with", "optimized", "--json"))["methods"]
        explained = json.loads(assay("explain", PROGRAMS / "mobile_net" / "program.pte", "--json"))["bytes"]
        self.assertLessEqual(explained.items(), forward["bytes"].items())
        self.assertIn("    prepared: ", assay("check", PROGRAMS / "mobile_net" / "program.pte", "--with", "optimized"))

    def test_of_each_instruction_set_of_the_build(self):
        sets = ["neon"] if platform.machine() == "aarch64" else ["sse4", "avx2", "avx512", "amx"]
        for name in sets:  # which the machine need not have
            [forward] = json.loads(assay("check", PROGRAMS / "mobile_net" / "program.pte", "--with", f"optimized:{name}", "--json"))["methods"]
            self.assertGreater(forward["bytes"]["prepared"], 0)
        assay("check", PROGRAMS / "mobile_net" / "program.pte", "--with", "optimized:mmx", code=4)


class Run(unittest.TestCase):
    def test_gives_the_recorded_results(self):
        for program in "mlp", "mobile_net", "kv_cache", "cond", "dynamic_layers", "delegate_inline":
            folder = PROGRAMS / program
            out = assay("run", folder / "program.pte", "--calls", folder / "calls.json", "--with", "optimized")
            self.assertIn("no difference", out)

    def test_is_compared_with_the_reference(self):
        folder = PROGRAMS / "cnn"
        out = assay("run", folder / "program.pte", "--calls", folder / "calls.json", "--with", "optimized", "--against", "reference", "--rtol", "1e-4", "--atol", "1e-6")
        self.assertIn("no difference", out)


if __name__ == "__main__":
    unittest.main()
