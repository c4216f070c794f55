"""assay runtime: runtimes are judged by programs and what is done with them, and each fault of one is the verdict on the cases in which it is made."""
import json
import os
import pathlib
import shlex
import subprocess
import sys
import unittest

from folder import WithFolder

ASSAY = os.environ["ASSAY"]
BUILD = pathlib.Path(os.environ["ASSAY_BUILD"])
TESTS = pathlib.Path(__file__).resolve().parent
PROGRAMS = TESTS.parent / "golden" / "programs"
SOME = "--programs", "kv_cache,dynamic_batch,mlp,shared_state,counter,cond,aten::add.out,aten::topk.values"


def assay(*arguments, **how):
    done = subprocess.run([ASSAY, *map(str, arguments)], capture_output=True, text=True, check=False, timeout=300, **how)
    return done.returncode, done.stdout, done.stderr


class Judged(WithFolder):
    def judged(self, *arguments, name="run.jsonl", **how):
        """The exit code, what was said, and the header, cases and defects of the run."""
        lines = self.folder / name
        code, out, err = assay("runtime", "-o", lines, *arguments, **how)
        run = [json.loads(line) for line in lines.read_text().splitlines()]
        self.assertTrue(run[-1]["footer"]["complete"])
        cases = {line["case"]: line for line in run[1:-1] if "defect" not in line}
        self.assertEqual((run[0]["header"]["cases"], run[-1]["footer"]["cases"]), (len(cases), len(cases)))
        return code, out + err, run[0]["header"], cases, [line["defect"] for line in run if "defect" in line]

    def verdicts(self, cases):
        return {case: (line["verdict"], line["class"]) for case, line in cases.items() if line["verdict"] not in ("pass", "quality")}


class Right(Judged):
    def test_our_own(self):
        for testee in ("reference",), ("optimized",), ("--", ASSAY, "serve", "optimized"):
            with self.subTest(testee):
                code, said, header, cases, _ = self.judged(*SOME, *testee)
                self.assertEqual((code, self.verdicts(cases)), (0, {}), said)
                self.assertEqual(header["suite"], "runtime")
                kinds = {line["operator"].split()[0] for line in cases.values()}
                self.assertEqual(kinds, {"recorded", "reload", "instances", "arenas", "sizes", "inputs", "operators", "files"})
                self.assertIn("No defects.", said)

    def test_the_whole(self):
        code, said, _, cases, _ = self.judged("optimized")
        self.assertEqual((code, self.verdicts(cases)), (0, {}), said)
        self.assertGreater(len(cases), 2000)
        rules = {line.split()[2].rstrip(":") for line in assay("corrupt", "--list")[1].splitlines() if line.startswith("n_")}
        files = [case for case in cases if case.startswith("files/")]
        tried = {line["operator"].removeprefix("files ") for line in map(cases.get, files)}
        self.assertEqual({rule for rule in rules - tried if rule[0] != "B"}, {"F1", "F2", "F3", "F5"})  # of data files, and of bundles, alone
        self.assertEqual({case.split("/")[1].split(":")[0] for case in files}, {"rules", "cond", "constant_methods", "delegate_segment", "external_constants", "mlp", "shared_state"})

    def test_in_any_order_of_workers(self):
        runs = [self.judged(*SOME, "--workers", workers, "optimized", name=f"{workers}.jsonl")[3] for workers in (1, 5)]
        for run in runs:
            for line in run.values():
                del line["seconds"]
        self.assertEqual(*map(list, map(dict.items, runs)))

    def test_a_case_alone(self):
        code, out, err = assay("case", "recorded/kv_cache", "--testee", "optimized")
        self.assertEqual((code, err), (0, ""))
        self.assertIn("step 0     load\nstep 1     call forward(int64 (1, 1), ", out)
        self.assertIn("verdict    pass", out)

    def test_a_pattern_that_fits_nothing(self):
        code, _, err = assay("runtime", "--programs", "no_such_program", "reference")
        self.assertEqual((code, "no case fits" in err), (5, True))


class Faults(Judged):
    """With one program, of which everything is tried, and another."""

    def judge(self, fault, program, *options):
        end = sys.executable, TESTS / "faulty_runtime.py", fault, PROGRAMS / program / "program.pte", ASSAY
        return self.judged(*options, "--", *end)

    def failures(self, fault, program, *options, programs=""):
        code, said, _, cases, defects = self.judge(fault, program, "--programs", f"{programs or program},shared_state", *options)
        failing = {case: found for case, found in self.verdicts(cases).items() if found[0] != "unsupported"}
        self.assertEqual(sorted(failing), sorted(case for d in defects for case in d["case_ids"]))
        self.assertEqual(code, 1 if failing else 0, said)
        return failing, cases

    def test_none(self):
        self.assertEqual(self.failures("right", "counter")[0], {})

    def test_a_second_call_that_is_wrong(self):
        failing, cases = self.failures("second", "counter")
        self.assertEqual(failing, {case: ("fail", "value") for case in ("recorded/counter", "reload/counter", "instances/counter", "inputs/counter:forgotten")})
        self.assertIn("call forward", cases["recorded/counter"]["message"])
        self.assertEqual(len(cases["recorded/counter"]["inputs"]), 3)  # what it came to: load, and two calls

    def test_instances_that_are_one(self):
        self.assertEqual(self.failures("instances", "counter")[0], {"instances/counter": ("fail", "value")})

    def test_a_crash_on_files(self):
        failing, cases = self.failures("crash", "mlp")
        cut = {case for case in cases if case.startswith("files/mlp:file:file=cut-") and case.split("-")[-1] not in ("0", "4", "8")}
        self.assertEqual(failing, {case: ("crash", "segmentation-fault") for case in cut})
        self.assertGreater(len(cut), 1)

    def test_those_that_do_not_end(self):
        for fault in "hang", "drip":
            failing, cases = self.failures(fault, "counter", "--timeout", "1", programs="recorded/counter")
            self.assertEqual(failing, {"recorded/counter": ("timeout", "")})
            self.assertIn("took longer than 1 s\n0: load\n1: call forward", cases["recorded/counter"]["message"])

    def test_garbage(self):
        failing, cases = self.failures("garbage", "mlp")
        self.assertIn("recorded/mlp", failing)
        self.assertTrue(all("/mlp" in case for case in failing))
        self.assertEqual(set(failing.values()), {("crash", "exit")})
        self.assertIn("protocol.mark", cases["recorded/mlp"]["message"])

    def test_sizes_beyond_the_bound_that_are_taken(self):
        failing, cases = self.failures("accepts", "dynamic_batch")
        beyond = {case for case in cases if case.startswith("sizes/") and ":beyond-" in case} | {"inputs/dynamic_batch:too-large"}
        self.assertEqual(failing, {case: ("fail", "accepted-though-invalid") for case in beyond})

    def test_inputs_that_are_not_forgotten(self):
        failing, _ = self.failures("remembers", "mlp")  # an input too many stays, too
        self.assertEqual(failing, {"inputs/mlp:forgotten": ("fail", "accepted-though-invalid"), "inputs/mlp:too-many": ("fail", "refused-though-valid")})

    def test_who_answers_nothing_is_not_judged(self):
        code, said, _, cases, _ = self.judge("nothing", "mlp", "--programs", "mlp")
        self.assertEqual(code, 5, said)
        self.assertIn("assay: reference was not judged: ", said)
        self.assertEqual(cases["recorded/mlp"]["verdict"], "unsupported")


class Reports(Judged):
    def test_reports_and_comparisons_read_it(self):
        fault = shlex.join(map(str, (sys.executable, TESTS / "faulty_runtime.py", "second", PROGRAMS / "counter" / "program.pte", ASSAY)))
        old, new = self.folder / "old.jsonl", self.folder / "new.jsonl"
        assay("runtime", "--programs", "counter", "-o", old, "reference")
        code, out, _ = assay("runtime", "--programs", "counter", "-o", new, "--html", self.folder / "new.html", "--baseline", old, "-- " + fault)
        self.assertEqual(code, 1)
        self.assertIn("assay case recorded/counter", out)
        code, out, err = assay("compare", old, new)
        self.assertEqual((code, err), (1, ""))
        self.assertIn("4 new, 0 mended", out)
        code, out, err = assay("report", old, new, "--junit", self.folder / "both.xml")
        self.assertEqual((code, err), (0, ""))
        self.assertIn("give wrong values with counter", (self.folder / "both.xml").read_text())
        code, _, _ = assay("runtime", "--programs", "counter", "--baseline", new, "-- " + fault)
        self.assertEqual(code, 0)


class LevelZero(Judged):
    def judge(self, fault, programs):
        return self.judged("--programs", programs, "runner:" + shlex.join(map(str, (sys.executable, TESTS / "runner.py", ASSAY, fault))))

    def test_a_runner(self):
        code, said, _, cases, _ = self.judge("none", "recorded/mlp,reload/mlp,recorded/counter,recorded/methods,inputs/mlp:*,files/mlp:file:*,instances/mlp,sizes/dynamic_batch*")
        unsupported = {case for case, found in self.verdicts(cases).items() if found[0] == "unsupported"}
        self.assertEqual((code, len(self.verdicts(cases)) - len(unsupported)), (0, 0), said)
        self.assertEqual({case for case in cases if cases[case]["verdict"] == "pass" and "files/" not in case}, {"recorded/mlp", "reload/mlp", "recorded/methods"})
        self.assertIn("keeps no state", cases["recorded/counter"]["message"])
        self.assertIn("cannot say an input of another dtype", cases["inputs/mlp:dtype"]["message"])

    def test_faults(self):
        for fault, found in ("wrong", ("fail", "value")), ("crash", ("crash", "segmentation-fault")), ("silent", ("unsupported", "")):
            with self.subTest(fault):
                self.assertEqual(self.verdicts(self.judge(fault, "recorded/mlp")[3]), {"recorded/mlp": found})


class Examples(Judged):
    """Ends as others would write them: doc/examples/protocol."""

    def test_in_c(self):
        code, said, _, cases, _ = self.judged(*SOME, "--", BUILD / "example_runtime")
        self.assertEqual((code, {found[0] for found in self.verdicts(cases).values()} - {"unsupported"}), (0, set()), said)


if __name__ == "__main__":
    unittest.main()
