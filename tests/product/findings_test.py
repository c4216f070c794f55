"""tools/findings on a run of a few defects."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from source import GOLDEN, SOURCE

ASSAY = os.environ["ASSAY"]
FINDINGS = SOURCE / "tools" / "findings"
MEMORY_UNSAFE = ("writes-out-of-bounds", "reads-out-of-bounds", "heap-damage", "uses-freed", "double-free",
                 "segmentation-fault", "bus-error")


def defect(number, failure="value", case="aten::add.out#4321b778", promised=1, **more):
    smallest = {"case": case, "inputs": [{"name": "self", "text": "[1,2]:f32"}], "outs": [{"name": "out", "text": "float32 (2)"}],
                "expected": "[1]:f32", "got": "[2]:f32", "message": "a|b"}
    return {"defect": {"id": f"{number:08x}", "tier": "wrong", "class": failure, "sentence": f"sentence {number} | bar",
                       "operators": ["aten::add.out"], "cases": number, "promised_cases": promised, "verdict": "fail", "smallest": smallest, **more}}


def files_of(folder):
    return {file.name: file.read_text() for file in folder.iterdir()}


class Findings(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = pathlib.Path(scratch.name)
        self.folder, self.index = self.scratch / "out" / "findings", self.scratch / "doc" / "findings"
        self.golden = self.scratch / "golden"
        self.golden.mkdir()
        for file in "aten.add.out.calls", "aten.rand.out.calls":
            (self.golden / file).symlink_to(GOLDEN / file)  # those alone are read sooner than all

    def write(self, *lines, options=()):
        run = self.scratch / "run.jsonl"
        run.write_text("".join(json.dumps(line) + "\n" for line in lines))
        return subprocess.run([sys.executable, FINDINGS, run, "--assay", ASSAY, "--golden", self.golden, "-o", self.folder, "--index", self.index, *options], capture_output=True, text=True, check=False)

    def written(self, *lines, options=()):
        """The files of all defects, by name."""
        done = self.write(*lines, options=options)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        return files_of(self.folder)

    def test_a_defect_has_its_section_and_its_files(self):
        files = self.written({"header": {"testee": "executorch", "executorch": "1.5.1", "seed": "7"}}, {"case": "a passing one"}, defect(3))
        self.assertEqual(set(files), {"README.md", "aten-add-out-00000003.py", "aten-add-out-00000003.cpp"})
        page = files["README.md"]
        self.assertTrue(page.startswith("# Defects of executorch 1.5.1\n"))
        for text in ("with seed 7", "| 1 | wrong | value | 3 | sentence 3 \\| bar |", "## 1. sentence 3 | bar", "3 cases of `aten::add.out`", "- self = `[1,2]:f32`",
                     "- out given as `float32 (2)`", "- expected: `[1]:f32`", "- got: `[2]:f32`", "[aten-add-out-00000003.py](aten-add-out-00000003.py)", "[aten-add-out-00000003.cpp](aten-add-out-00000003.cpp)"):
            self.assertIn(text, page)

    def test_the_order_is_that_of_the_run(self):
        page = self.written(defect(2), defect(9), defect(1))["README.md"]
        self.assertLess(page.index("## 1. sentence 2"), page.index("## 2. sentence 9"))
        self.assertLess(page.index("## 2. sentence 9"), page.index("## 3. sentence 1"))

    def test_what_was_not_promised_is_left_out(self):
        files = self.written(defect(1, promised=0), defect(2))
        self.assertNotIn("sentence 1", files["README.md"])
        self.assertEqual(len(files), 3)

    def test_a_hang_is_called_a_hang(self):
        self.assertIn("| wrong | timeout |", self.written(defect(1, "", verdict="timeout"))["README.md"])

    def test_what_damages_memory_shows_no_call(self):
        for failure in MEMORY_UNSAFE:
            files = self.written(defect(1, failure))
            self.assertEqual(set(files), {"README.md"}, failure)
            self.assertIn("sentence 1", files["README.md"])
            self.assertIn("SECURITY.md", files["README.md"])
            self.assertNotIn("4321b778", files["README.md"])
            self.assertNotIn("[1,2]:f32", files["README.md"])

    def test_what_damages_memory_in_one_of_its_cases_shows_no_call(self):
        case = {"case": "aten::add.out#0badf00d", "dtypes": ["float32"], "operator": "aten::add.out", "class": "segmentation-fault"}
        files = self.written(case, defect(1, case_ids=["aten::add.out#4321b778", case["case"]]))
        self.assertEqual(set(files), {"README.md"})
        self.assertNotIn("4321b778", files["README.md"])

    def test_why_there_is_no_file(self):
        page = self.written(defect(1, case="aten::rand.out#" + self.a_case_of_rand()))["README.md"]
        self.assertIn("- python cannot express a call that has more than one right result", page)

    def a_case_of_rand(self):
        done = subprocess.run([ASSAY, "kernels", "reference", "--golden", self.golden, "--operators", "rand.out", "--mutations", "0", "-o", self.scratch / "rand.jsonl"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        cases = [json.loads(line).get("case", "") for line in (self.scratch / "rand.jsonl").read_text().splitlines()]
        return next(case for case in cases if case).split("#")[1]

    def test_there_are_no_more_files_than_allowed(self):
        lines = [defect(n) for n in range(1, 6)]
        files = self.written(*lines, options=("--files", "4"))
        self.assertEqual(set(files), {"README.md", "aten-add-out-00000001.py", "aten-add-out-00000001.cpp"})
        self.assertIn("## 5. sentence 5", files["README.md"])

    def test_the_same_run_gives_the_same_bytes_and_nothing_old_stays(self):
        self.written(defect(1), defect(2))
        self.assertEqual(self.written(defect(2)), self.written(defect(2)))
        self.assertEqual(len(list(self.folder.iterdir())), 3)

    def test_the_index_has_a_sentence_for_each_defect_and_three_files(self):
        whole = self.written(defect(1, "segmentation-fault"), *(defect(n) for n in (2, 3, 4)))
        files = files_of(self.index)
        page = files.pop("README.md")
        self.assertEqual(files, {name: whole[name] for name in ("aten-add-out-00000002.cpp", "aten-add-out-00000002.py", "aten-add-out-00000003.cpp")})
        self.assertTrue(page.startswith("# Defects of"))
        self.assertIn("\n## wrong\n\nA promised valid call gets a wrong answer, and the case is neither wrong-exported nor wrong-special.\n\n1. segmentation-fault, 1 case: aten::add.out.\n2. value, 2 cases: sentence 2 | bar. Smallest call: `aten::add.out#4321b778` with self = [1,2]:f32; a|b.", page)
        self.assertIn(" 4. value, 4 cases: sentence 4 | bar. Smallest call: `aten::add.out#4321b778` with self = [1,2]:f32; a|b. Eager PyTorch gives the expected results.", " ".join(page.split()))
        self.assertLessEqual(max(map(len, page.splitlines())), 120)

    def test_the_index_names_all_operators_and_tells_of_similar_calls(self):
        names = [f"aten::operator{n}.out" for n in range(9)]
        self.written(defect(1, operators=names, neighbours=["The call passes if self is [1]:f32 instead of [2]:f32"]))
        page = " ".join(files_of(self.index)["README.md"].split())
        self.assertIn(f"They are of aten: {', '.join(name.removeprefix('aten::') for name in names)}.", page)
        self.assertIn("expected results. The call passes if self is [1]:f32 instead of [2]:f32. ", page)

    def test_a_refused_valid_call_is_told_with_the_rules_on_its_arguments(self):
        one = defect(1, "assertion", case="aten::add.out#4321b778~dtype:0:1:0", tier="refused")
        one["defect"]["sentence"] = "aten::add.out refuses valid calls whenever alpha is 3"
        one["defect"]["smallest"] |= {"operator": "aten::add.out", "inputs": [{"name": "self", "text": "[1]:f32"}, {"name": "alpha", "text": "3"}]}
        self.written(one)
        page = " ".join(files_of(self.index)["README.md"].split())
        self.assertRegex(page, r"The call is valid: of the rules of the entry on these arguments, R2 asks for `scalar_kind\(alpha, common\)`, R3 asks")
        self.assertNotIn("asks for `computes_in", page)

    def test_a_defect_without_a_cause_counts_the_cases_of_its_operators(self):
        cases = [{"case": f"aten::add.out#{n}", "operator": f"aten::o{n % 2}.out", "dtypes": ["float32" if n else "float16"]} for n in range(5)]
        one = defect(5, "", operators=["aten::o0.out", "aten::o1.out"], verdict="quality", case_ids=[case["case"] for case in cases])
        self.written(*cases, one)
        page = " ".join(files_of(self.index)["README.md"].split())
        self.assertIn("bar. 4 of the 5 cases are of float32. Most cases are of aten::o0.out (3), aten::o1.out (2). Smallest call", page)

    def test_a_long_tensor_is_shown_with_its_sizes_and_its_dtype(self):
        one = defect(1)
        rows = ",".join("[" + ",".join(["1.25"] * 7) + "]" for _ in range(5))
        one["defect"]["smallest"]["inputs"] = [{"name": "self", "text": f"[[{rows}]]:f32:(0,2,1)"}]
        self.written(one)
        page = " ".join(files_of(self.index)["README.md"].split())
        self.assertRegex(page, r"with self = \[\[\[1\.25,1\.25,[^ ]*… of sizes \(1,5,7\):f32:\(0,2,1\);")

    def test_the_index_is_held_to_a_run(self):
        self.written(defect(1))
        before = files_of(self.index)
        self.assertEqual(self.write(defect(1), options=("--check",)).returncode, 0)
        done = self.write(defect(2), options=("--check",))
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("README.md, aten-add-out-00000001.cpp", done.stderr)
        self.assertEqual(files_of(self.index), before)

    def test_what_fails_leaves_the_old_findings(self):
        self.written(defect(1))
        before = files_of(self.folder), files_of(self.index)
        done = self.write(defect(2, case="aten::no_such.out#00000000"))
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("00000002: assay: unsupported, case.operator", done.stderr)
        self.assertEqual((files_of(self.folder), files_of(self.index)), before)


if __name__ == "__main__":
    unittest.main()
