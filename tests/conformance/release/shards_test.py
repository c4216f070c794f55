"""A run in parts: `assay kernels --shard` and `assay merge`. Lists of cases that are known to fail, for a time. Files of runs that do not add up."""
import json
import os
import shutil
import subprocess
import sys
import unittest

from folder import WithFolder
from source import PROGRAMS, SOURCE, SUPPORT

ASSAY = os.environ["ASSAY"]
RUN = "--operators", "aten::relu.out,aten::mm.out", "--mutations", "30"
SHARDS = 5


def lines_of(file):
    """What a run says but for times."""
    def timeless(object_):
        if isinstance(object_, dict):
            return {key: timeless(value) for key, value in object_.items() if key != "seconds"}
        return [timeless(item) for item in object_] if isinstance(object_, list) else object_
    return [json.dumps(timeless(json.loads(line))) for line in file.read_text().splitlines()]


class Runs(WithFolder):
    def setUp(self):
        super().setUp()
        self.library = self.compiled("libmine.so")

    def compiled(self, name, *options):
        example, api = SOURCE / "doc/examples/kernel_library/kernels.c", SOURCE / "conformance/api"
        subprocess.run(["cc", "-std=c11", "-DBUG", *options, "-shared", "-fPIC", "-I", api, example, "-o", self.folder / name], check=True)
        return self.folder / name

    def assay(self, *words):
        done = subprocess.run([ASSAY, *map(str, words)], capture_output=True, text=True, check=False, cwd=self.folder, timeout=120)
        return done.returncode, done.stderr

    def judged(self, name, *options):
        code, err = self.assay("kernels", self.library, "-o", name, *options)
        self.assertIn(code, (0, 1), err)
        return self.folder / name


class Shards(Runs):
    """Of one run, which is judged once, whole and in parts; each test has copies."""

    @classmethod
    def setUpClass(cls):
        judge = cls("judge")
        cls.addClassCleanup(judge.doCleanups)
        Runs.setUp(judge)
        cls.judged_once = judge.folder
        judge.judged("whole.jsonl", *RUN)
        for i in range(1, SHARDS + 1):
            judge.judged(f"{i}.jsonl", *RUN, "--workers", "1", "--shard", f"{i}/{SHARDS}")

    def setUp(self):
        super().setUp()
        for file in self.judged_once.glob("*.jsonl"):
            shutil.copy(file, self.folder)
        self.library = self.judged_once / "libmine.so"
        self.whole = self.folder / "whole.jsonl"
        self.shards = [self.folder / f"{i}.jsonl" for i in range(1, SHARDS + 1)]

    def judge(self):
        """Nothing: whose folder the class uses."""

    def merge(self, *files, testee=None):
        return self.assay("merge", *files, "--testee", testee or self.library, "-o", "merged.jsonl")

    def assert_refused(self, rule, *files, words=(), **how):
        code, err = self.merge(*files, **how)
        self.assertEqual(code, 4, err)
        for word in (f"invalid, {rule}: ", *words):
            self.assertIn(word, err)
        self.assertFalse((self.folder / "merged.jsonl").exists())

    def test_merged_they_are_the_run(self):
        self.assertTrue(any('"defect"' in line for line in lines_of(self.whole)))
        for shard in self.shards:
            self.assertLess(len(lines_of(shard)), len(lines_of(self.whole)) / 2)
        self.assertEqual(self.merge(*reversed(self.shards))[0], 1)
        self.assertEqual(lines_of(self.folder / "merged.jsonl"), lines_of(self.whole))

    def test_a_case_is_in_one_shard_in_every_order(self):
        def cases(file):
            return {json.loads(line).get("case") for line in file.read_text().splitlines()} - {None}
        in_order = list(map(cases, self.shards))
        self.assertEqual(cases(self.judged("shuffled.jsonl", *RUN, "--shuffle", "3", "--shard", f"2/{SHARDS}")), in_order[1])
        self.assertEqual(sum(map(len, in_order)), len(set.union(*in_order)))

    def test_a_file_that_is_not_a_run_is_refused(self):
        first, *others = self.shards
        self.assert_refused("merge.missing", *others, words=["shard 1/5"])
        self.assert_refused("merge.double", *self.shards, first, words=["1.jsonl"])
        self.assert_refused("merge.shard", *others, self.whole, words=["whole.jsonl"])
        other = self.judged("other.jsonl", *RUN, "--seed", "2", "--shard", "1/5")
        self.assert_refused("merge.settings", *others, other, words=["other.jsonl", "seed is 2,"])
        of = self.judged("of.jsonl", *RUN, "--shard", "1/90")
        self.assert_refused("merge.settings", *others, of, words=["of.jsonl", "one of 90 shards"])
        (self.folder / "another").mkdir()
        self.assert_refused("merge.settings", *self.shards, testee=self.compiled("another/libmine.so", "-O2"), words=["libmine.so is"])

    def test_a_part_that_was_changed_is_refused(self):
        header, case, *lines = self.shards[0].read_text().splitlines(keepends=True)
        for rule, changed in (
            ("merge.cut", [header, case, *lines[:-1]]),
            ("merge.case", [header, json.dumps(json.loads(case) | {"case": "aten::relu.out#00000000"}) + "\n", *lines]),
        ):
            *changed, footer = changed
            if "footer" in footer:  # who changes cases on purpose counts them, too
                footer = json.loads(footer)
                del footer["footer"]["verdicts"]
                footer = json.dumps(footer) + "\n"
            self.shards[0].write_text("".join([*changed, footer]))
            self.assert_refused(rule, *self.shards)

    def test_a_killed_shard_resumes(self):
        lines = self.shards[0].read_text().splitlines(keepends=True)
        self.shards[0].with_name("1.jsonl.part").write_text("".join(lines[:len(lines) // 2]) + lines[-1][:20])
        self.shards[0].unlink()
        self.judged("1.jsonl", *RUN, "--shard", "1/5", "--resume")
        self.assertEqual(self.merge(*self.shards)[0], 1)
        self.assertEqual(lines_of(self.folder / "merged.jsonl"), lines_of(self.whole))

    def test_an_invalid_shard_number_is_refused(self):
        for part in "0/3", "4/3", "3", "1/", "-1/3", "1/3x":
            code, err = self.assay("kernels", self.library, "--shard", part, "-o", "x.jsonl")
            self.assertEqual(code, 2, err)
            self.assertIn("is no part of a run", err)


class RuntimeShards(WithFolder):
    """The same of `assay runtime`, of a runtime that does something wrong."""

    FAULTY = f"-- {sys.executable} {SUPPORT}/faulty_runtime.py second {PROGRAMS}/counter/program.pte {ASSAY} serve reference"
    RUN = "--programs", "counter,mlp,aten::a*"

    def assay(self, command, *words):
        done = subprocess.run([ASSAY, command, *map(str, words)], capture_output=True, text=True, check=False, cwd=self.folder, timeout=300)
        return done.returncode, done.stderr

    def test_merged_they_are_the_run(self):
        self.assertEqual(self.assay("runtime", self.FAULTY, *self.RUN, "-o", "whole.jsonl")[0], 1)
        for i in 1, 2, 3:
            self.assertIn(self.assay("runtime", self.FAULTY, *self.RUN, "--shard", f"{i}/3", "-o", f"{i}.jsonl")[0], (0, 1))
        whole, merged, *shards = (self.folder / f"{name}.jsonl" for name in ("whole", "merged", 1, 2, 3))
        for shard in shards:
            self.assertLess(len(lines_of(shard)), len(lines_of(whole)))
        lines = shards[1].read_text().splitlines(keepends=True)
        (self.folder / "2.jsonl.part").write_text("".join(lines[:len(lines) - 2]))
        shards[1].unlink()
        self.assertIn(self.assay("runtime", self.FAULTY, *self.RUN, "--shard", "2/3", "--resume", "-o", "2.jsonl")[0], (0, 1))
        self.assertEqual(self.assay("merge", *reversed(shards), "--testee", self.FAULTY, "-o", merged)[0], 1)
        self.assertEqual(lines_of(merged), lines_of(whole))
        self.assertTrue(any('"defect"' in line for line in lines_of(merged)))
        code, err = self.assay("merge", *shards, "--testee", "reference", "-o", merged)
        self.assertEqual((code, "merge.settings" in err), (4, True), err)
        code, err = self.assay("merge", *shards[1:], "--testee", self.FAULTY, "-o", merged)
        self.assertEqual((code, "merge.missing" in err), (4, True), err)


class Files(Runs):
    def test_inconsistent_results_are_refused(self):
        run = self.judged("run.jsonl", *RUN)
        self.assertEqual(self.assay("report", run)[0], 0)
        header, *cases, footer = run.read_text().splitlines()
        passed = next(i for i, line in enumerate(cases) if '"verdict":"pass"' in line)
        for lines, words in (
            ([header, *cases[:passed], *cases[passed + 1:], footer], "but there are"),
            ([header, *cases, cases[passed], footer], "an earlier line is of the same case"),
            ([header, *cases[:passed], cases[passed].replace('"verdict":"pass"', '"verdict":"quality"'), *cases[passed + 1:], footer], "pass, but there are"),
            ([header.replace('"cases":', '"cases":1'), *cases, footer], "header says"),
            ([header, *cases[:passed], cases[passed].replace('"case":"', '"case":"another '), *cases[passed + 1:], footer], "digest of its verdicts"),
        ):
            run.write_text("\n".join(lines) + "\n")
            code, err = self.assay("report", run)
            self.assertEqual(code, 3, err)
            self.assertIn(words, err)

    def test_a_result_states_what_it_measured(self):
        header = json.loads(self.judged("run.jsonl", *RUN).read_text().splitlines()[0])["header"]
        self.assertRegex(header["digest"], "^[0-9a-f]{16}$")
        self.assertRegex(header["libmine.so"], "^[0-9a-f]{16}$")
        self.assertIn(os.uname().machine, header["machine"])
        self.assertEqual((header["testee"], header["seed"]), ("example in C", "1, 30 mutations an operator"))

    def test_a_waiver_ends(self):
        run = self.judged("run.jsonl", *RUN)
        failing = [case["case"] for case in map(json.loads, run.read_text().splitlines()) if case.get("verdict") == "fail"]
        def code(reason):
            (self.folder / "known.txt").write_text("".join(f"{case}{reason}\n" for case in failing))
            return self.assay("kernels", self.library, *RUN, "--known", "known.txt")
        self.assertEqual(code(" until 9999-12-31 the next release mends it")[0], 0)
        self.assertEqual(code(" it has always been so")[0], 0)
        ended, err = code(" until 2001-02-28 the next release mends it")
        self.assertEqual(ended, 1)
        self.assertIn(f"{failing[0]} was listed in known.txt until 2001-02-28", err)
        for day in "2027-02-30", "tomorrow", "2027-1-1":
            refused, err = code(f" until {day} because")
            self.assertEqual(refused, 3, err)
            self.assertIn("malformed, known: known.txt: ", err)


if __name__ == "__main__":
    unittest.main()
