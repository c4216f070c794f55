"""assay runtime: runtimes are judged by programs and what is done with them, and each fault of one is the verdict on the cases in which it is made."""
import json
import os
import pathlib
import shlex
import subprocess
import sys
import unittest

from folder import WithFolder
from part import part_of
from source import PROGRAMS, SUPPORT

ASSAY = os.environ["ASSAY"]
BUILD = pathlib.Path(os.environ["ASSAY_BUILD"])
REFERENCE = ASSAY, "serve", "reference"
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
    def test_assays_runtimes_pass(self):
        for testee in ("reference",), ("optimized",), ("--", ASSAY, "serve", "optimized"):
            with self.subTest(testee):
                code, said, header, cases, _ = self.judged(*SOME, *testee)
                self.assertEqual((code, self.verdicts(cases)), (0, {}), said)
                self.assertEqual(header["suite"], "runtime")
                kinds = {line["operator"].split()[0] for line in cases.values()}
                of_servers = {"set_again"} if testee[0] == "--" else set()
                self.assertEqual(kinds, {"recorded", "reload", "instances", "arenas", "sizes", "inputs", "dim_orders", "operators", "files"} | of_servers)
                self.assertIn("No defects.", said)

    def test_the_whole_suite_passes(self):
        code, said, _, cases, _ = self.judged("optimized")
        self.assertEqual((code, self.verdicts(cases)), (0, {}), said)
        self.assertGreater(len(cases), 2000)
        rules = {line.split()[2].rstrip(":") for line in assay("corrupt", "--list")[1].splitlines() if line.startswith("n_")}
        files = [case for case in cases if case.startswith("files/")]
        tried = {line["operator"].removeprefix("files ") for line in map(cases.get, files)}
        self.assertEqual({rule for rule in rules - tried if rule[0] not in "BX"}, {"F1", "F2", "F3", "F5"})  # of data files, bundles and payloads alone
        self.assertEqual({case.split("/")[1].split(":")[0] for case in files}, {"rules", "cond", "constant_methods", "delegate_segment", "external_constants", "mlp", "shared_state"})

    def test_in_any_order_of_workers(self):
        runs = [self.judged(*SOME, "--workers", workers, "optimized", name=f"{workers}.jsonl")[3] for workers in (1, 5)]
        for run in runs:
            for line in run.values():
                del line["seconds"]
        self.assertEqual(*map(list, map(dict.items, runs)))

    def test_a_case_runs_alone(self):
        code, out, err = assay("case", "recorded/kv_cache", "--testee", "optimized")
        self.assertEqual((code, err), (0, ""))
        self.assertIn("step 0     load\nstep 1     call forward(int64 (1, 1), ", out)
        self.assertIn("verdict    pass", out)

    def test_a_pattern_without_match_is_refused(self):
        code, _, err = assay("runtime", "--programs", "no_such_program", "reference")
        self.assertEqual((code, "no case fits" in err), (5, True))


class Faults(Judged):
    """With one program, of which everything is tried, and another."""

    def judge(self, fault, program, *options):
        end = sys.executable, SUPPORT / "faulty_runtime.py", fault, PROGRAMS / program / "program.pte", *REFERENCE
        return self.judged(*options, "--", *end)

    def failures(self, fault, program, *options, programs=""):
        code, said, _, cases, defects = self.judge(fault, program, "--programs", f"{programs or program},shared_state", *options)
        failing = {case: found for case, found in self.verdicts(cases).items() if found[0] != "unsupported"}
        self.assertEqual(sorted(failing), sorted(case for d in defects for case in d["case_ids"]))
        self.assertEqual(code, 1 if failing else 0, said)
        return failing, cases

    def test_a_missing_runtime_is_refused(self):
        self.assertEqual(self.failures("right", "counter")[0], {})

    def test_a_wrong_second_call_is_found(self):
        failing, cases = self.failures("second", "counter")
        self.assertEqual(failing, {case: ("fail", "value") for case in ("recorded/counter", "reload/counter", "instances/counter", "inputs/counter:forgotten")})
        self.assertIn("call forward", cases["recorded/counter"]["message"])
        self.assertEqual(len(cases["recorded/counter"]["inputs"]), 3)  # what it came to: load, and two calls

    def test_instances_that_share_state_are_found(self):
        self.assertEqual(self.failures("instances", "counter")[0], {"instances/counter": ("fail", "value")})

    def test_a_crash_on_files_is_found(self):
        failing, cases = self.failures("crash", "mlp")
        cut = {case for case in cases if case.startswith("files/mlp:file:file=cut-") and case.split("-")[-1] not in ("0", "4", "8")}
        self.assertEqual(failing, {case: ("crash", "segmentation-fault") for case in cut})
        self.assertGreater(len(cut), 1)

    def test_a_runtime_that_hangs_times_out(self):
        for fault in "hang", "drip":
            failing, cases = self.failures(fault, "counter", "--timeout", "1", programs="recorded/counter")
            self.assertEqual(failing, {"recorded/counter": ("timeout", "")})
            self.assertIn("took longer than 1 s\n0: load\n1: call forward", cases["recorded/counter"]["message"])

    def test_a_server_that_exits_during_a_load_is_found(self):
        failing, cases = self.failures("ends", "counter", programs="recorded/counter")
        self.assertEqual(failing, {"recorded/counter": ("crash", "exit")})
        self.assertIn("exited with status 3", cases["recorded/counter"]["message"])

    def test_replies_that_are_not_frames_are_found(self):
        failing, cases = self.failures("garbage", "mlp")
        self.assertIn("recorded/mlp", failing)
        self.assertTrue(all("/mlp" in case for case in failing))
        self.assertEqual(set(failing.values()), {("crash", "exit")})
        self.assertIn("protocol.mark", cases["recorded/mlp"]["message"])

    def test_accepted_sizes_beyond_the_bound_are_found(self):
        failing, cases = self.failures("accepts", "dynamic_batch")
        beyond = {case for case in cases if case.startswith("sizes/") and ":beyond-" in case} | {"inputs/dynamic_batch:too-large"}
        self.assertEqual(failing, {case: ("fail", "accepted-though-invalid") for case in beyond})

    def test_inputs_kept_after_an_execution_are_found(self):
        failing, _ = self.failures("remembers", "mlp")  # an input too many stays, too
        self.assertEqual(failing, {"inputs/mlp:forgotten": ("fail", "accepted-though-invalid"), "inputs/mlp:too-many": ("fail", "refused-though-valid")})

    def test_other_dim_orders_are_sent_to_servers_that_announce_the_feature(self):
        for fault, verdict in ("right", "pass"), ("silent", "unsupported"):
            cases = self.judge(fault, "mlp", "--programs", "recorded/mlp,dim_orders/mlp")[3]
            self.assertEqual((cases["recorded/mlp"]["verdict"], cases["dim_orders/mlp"]["verdict"]), ("pass", verdict))

    def test_a_runtime_that_answers_nothing_is_not_judged(self):
        code, said, _, cases, _ = self.judge("nothing", "mlp", "--programs", "recorded/mlp,reload/mlp")
        self.assertEqual(code, 5, said)
        self.assertIn("assay: reference was not judged: ", said)
        self.assertEqual(cases["recorded/mlp"]["verdict"], "unsupported")


class Planted(Judged):
    """Each fault of a runtime is one defect, whose sentence says what is wrong with it."""

    PROGRAMS = "counter,counters,dynamic_batch,methods,plan_per_method,kv_cache,recorded/sorting"

    def sentences(self, planted, *testee):
        programs = self.PROGRAMS + (",rules" if planted[-1:].isdigit() else "")  # a rule of files
        run = self.judged("--timeout", "1", "--programs", programs, *testee, env=os.environ | {"ASSAY_PLANTED": planted})
        return [defect["sentence"] for defect in run[-1]]

    def test_each_fault_of_a_module_is_found(self):
        for planted, cause in part_of({
            "": None,
            "keeps-what-is-unloaded": "spoils what later calls answer once a program is loaded again",
            "shares-instances": "gives wrong values once a program is loaded twice",
            "forgets-state": "loses the state of a method from call to call",
            "forgets-the-other-state": "loses the state of a method when another method is called",
            "errs-in-shared-arenas": "gives wrong values where methods share planned memories",
            "errs-at-the-largest-size": "gives wrong values at other sizes than those of the first call",
            "keeps-the-first-sizes": "gives results of wrong sizes at other sizes than those of the first call",
            "repeats-results": "gives again the results of the call before",
            "shares-outputs": "gives the elements of one output as those of another",
            "reverses-outputs": "gives the outputs of a call in reverse order",
            "errs-behind-refusals": "gives wrong values behind a call that is refused",
            "writes-to-inputs": "changes its inputs",
            "remembers-inputs": "accepts invalid calls with inputs of an earlier call alone",
            "takes-too-many": "accepts invalid calls with an input too many",
            "takes-any-dtype": "accepts invalid calls with an input of another dtype",
            "takes-any-size": "accepts invalid calls with a size beyond what the program declares",
            "converts-dim-orders": None,
            "misreads-dim-orders": "gives wrong values with an input of another dim order than the program declares",
            "loses-the-second-method": 'refuses valid calls saying "there is only one method"',
            "accepts-H2": "accepts invalid calls with a file that breaks H2",
            "accepts-T13": "accepts invalid calls with a file that breaks T13",
            "ends-on-H7": 'ends in a segmentation fault in a step "load", with a file that breaks H7',
            "hangs-on-I21": 'does not end in a step "load", with a file that breaks I21',
            "ends-after-calls": 'ends in a segmentation fault in a step "call"',
        }.items()):
            with self.subTest(planted):
                self.assertEqual(self.sentences(planted, BUILD / "libplanted_runtime.so"), [f"the runtime {cause}"] if cause else [])
        run = self.judged("--programs", "cond*,mlp,comparisons", BUILD / "libplanted_runtime.so", env=os.environ | {"ASSAY_PLANTED": "takes-false-as-true"})
        self.assertEqual([defect["sentence"] for defect in run[-1]], ["the runtime gives wrong values where a bool input without dimensions is false"])
        planted = "misreads-dim-orders"  # over the protocol
        sentences = self.sentences(planted, "--", ASSAY, "serve", BUILD / "libplanted_runtime.so")
        self.assertEqual(sentences, ["the runtime gives wrong values with an input of another dim order than the program declares"])

    def test_each_fault_of_a_server_is_found(self):
        for fault, cause in {
            "former": 'exits saying "breaks the rule protocol.ping: a PING of N bytes is answered with others"',
            "stays": 'exits saying "breaks the rule protocol.quit: the server still runs after it answered QUIT"',
            "code": 'exits saying "breaks the rule protocol.quit: the server exited with status N after it answered QUIT"',
            "deaf": 'does not end in a step "ask", when it is asked for quit',
            "twice": 'exits saying "breaks the rule protocol.state: value N occurs twice in the state"',
            "drifts": 'exits saying "breaks the rule protocol.state: a program that is loaded again does not begin with the state that it had at first"',
            "zeros": 'exits saying "breaks the rule protocol.generator: inputs that the server makes give other outputs than these inputs do"',
        }.items():
            with self.subTest(fault):
                end = sys.executable, SUPPORT / "faulty_runtime.py", fault, PROGRAMS / "counter" / "program.pte", *REFERENCE
                sentences = [defect["sentence"] for defect in self.judged("--timeout", "6", "--programs", "requests/*", "--", *end)[-1]]
                self.assertEqual(sentences, [f"the runtime {cause}"])


    def test_inputs_that_keep_their_first_value_are_found(self):
        end = sys.executable, SUPPORT / "faulty_runtime.py", "first_input", PROGRAMS / "cond" / "program.pte", *REFERENCE
        _, _, _, cases, defects = self.judged("--programs", "recorded/cond,set_again/cond", "--", *end)
        self.assertEqual(set(self.verdicts(cases)), {"set_again/cond"})
        self.assertEqual([d["sentence"] for d in defects], ["the runtime keeps the first value of an input that is set again"])

    def test_faults_of_a_server_without_memory_are_found(self):
        for fault, cause in {
            "spoilt": 'exits saying "breaks the rule protocol.allocations: an EXECUTE gives other outputs when allocation N was refused"',
            "internal": 'exits saying "breaks the rule protocol.allocations: an EXECUTE without its allocation N is answered invalid"',
            "gives_up": 'aborts in a step "ask", when it is asked for allocations',
        }.items():
            with self.subTest(fault):
                end = sys.executable, SUPPORT / "faulty_runtime.py", fault, PROGRAMS / "sorting" / "program.pte", *REFERENCE
                sentences = [defect["sentence"] for defect in self.judged("--programs", "requests/*", "--", *end)[-1]]
                self.assertEqual(sentences, [f"the runtime {cause}"])


class Reports(Judged):
    def test_reports_and_comparisons_read_it(self):
        fault = shlex.join(map(str, (sys.executable, SUPPORT / "faulty_runtime.py", "second", PROGRAMS / "counter" / "program.pte", *REFERENCE)))
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
        self.assertIn("the runtime gives wrong values in calls behind the first", (self.folder / "both.xml").read_text())
        code, _, _ = assay("runtime", "--programs", "counter", "--baseline", new, "-- " + fault)
        self.assertEqual(code, 0)


VENDOR = """
import base64, json, pathlib, sys
folder, fault = pathlib.Path(sys.argv[1]), sys.argv[2]
print(json.dumps({"results": "vendor"}))
for line in (folder / "manifest.jsonl").read_text().splitlines()[1:]:
    case = json.loads(line)
    if fault == "crash" and case.get("rule") == "H7":
        print(json.dumps({"case": case["case"], "steps": [{"is": "crashed"}]}))
        continue
    steps, calls = [], 0
    for step in case["steps"]:
        if step["do"] == "unload":
            continue
        is_refused = step["expected"] != "answered" and not (fault == "accepts" and case.get("rule") == "T13")
        steps.append({"is": "refused" if is_refused else "answered", "outputs": step.get("outputs", [])})
        calls += step["do"] == "call"
        if fault == "second" and calls == 2 and case["case"].endswith("/counter"):
            for output in steps[-1]["outputs"]:
                data = bytearray(base64.b64decode(output["data"]))
                data[-1] ^= 0x40
                output["data"] = base64.b64encode(data).decode()
        if is_refused and step["do"] == "load":
            break
    print(json.dumps({"case": case["case"], "steps": steps}))
"""


class Written(Judged):
    """The suite as files, and the results of who has no process for us."""

    def test_results_are_judged_later(self):
        some = SOME[1] + ",rules"
        code, out, err = assay("suite", "-o", self.folder / "suite", "--programs", some)
        self.assertEqual((code, err), (0, ""))
        lines = [json.loads(line) for line in (self.folder / "suite" / "manifest.jsonl").read_text().splitlines()]
        self.assertEqual(out, f"{len(lines) - 1} cases in {self.folder / 'suite'}\n")
        self.assertEqual(lines[0]["header"]["cases"], len(lines) - 1)
        for case in lines[1:]:
            self.assertTrue(all((self.folder / "suite" / file).exists() for file in [case["program"], *case.get("data", [])]))
        results = self.folder / "results.jsonl"
        for fault, defects in {
            "none": [],
            "second": ["the runtime gives wrong values in calls behind the first"],
            "accepts": ["the runtime accepts invalid calls with a file that breaks T13"],
            "crash": ['the runtime ends in a segmentation fault in a step "load", with a file that breaks H7'],
        }.items():
            with self.subTest(fault):
                done = subprocess.run([sys.executable, "-c", VENDOR, self.folder / "suite", fault], capture_output=True, text=True, check=True)
                results.write_text(done.stdout)
                _, said, header, cases, found = self.judged("--programs", some, f"results:{results}")
                self.assertEqual((header["testee"], [defect["sentence"] for defect in found]), ("vendor", defects), said)
                self.assertEqual({case["verdict"] for case in cases.values()} - {"pass"}, {"none": set(), "crash": {"crash"}}.get(fault, {"fail"}))
                code, out, _ = assay("report", self.folder / "run.jsonl")
                self.assertEqual((code, "vendor" in out), (0, True))

    def test_invalid_results_are_refused(self):
        for text, words in (
            ("", "has no line"), ('{"case": 1}', "line 1: the line is neither"), ("{", "call.json"),
            ('{"results": 5}', 'the key "results" must have a string'), ("x" * ((16 << 20) + 1), "line 1: it is longer than"),
        ):
            self.refuses(text, words)
        for case, steps, words in (
            (5, [], 'the key "case" must have a string'), ("a", {"is": "answered"}, 'the key "steps" must have a list'),
            ("a", [5], 'the key "is" must have a string'), ("a", [{"is": 5}], 'the key "is" must have a string'),
            ("a", [{"is": "well"}], "is none of answered"), ("a", [{"is": "refused", "message": 5}], 'the key "message"'),
            ("a", [{"is": "answered", "outputs": 5}], 'the key "outputs" must have a list'),
            ("a", [{"is": "answered", "outputs": [{"dtype": 5}]}], "dtype"),
        ):
            self.refuses('{"results": "x"}\n' + json.dumps({"case": case, "steps": steps}), "line 2: ", words)

    def refuses(self, text, *words):
        (self.folder / "results.jsonl").write_text(text)
        code, _, err = assay("runtime", f"results:{self.folder / 'results.jsonl'}")
        self.assertEqual(code, 3, err)
        for word in words:
            self.assertIn(word, err)


class LevelZero(Judged):
    def judge(self, fault, programs):
        return self.judged("--programs", programs, "runner:" + shlex.join(map(str, (sys.executable, SUPPORT / "faulty_runner.py", fault))), env=os.environ | {"PATH": f"{pathlib.Path(ASSAY).resolve().parent}:{os.environ['PATH']}"})

    def test_a_runner(self):
        code, said, _, cases, _ = self.judge("none", "recorded/mlp,reload/mlp,recorded/counter,recorded/methods,inputs/mlp:*,files/mlp:file:*,instances/mlp,sizes/dynamic_batch*")
        unsupported = {case for case, found in self.verdicts(cases).items() if found[0] == "unsupported"}
        self.assertEqual((code, len(self.verdicts(cases)) - len(unsupported)), (0, 0), said)
        self.assertEqual({case for case in cases if cases[case]["verdict"] == "pass" and "files/" not in case}, {"recorded/mlp", "reload/mlp", "recorded/methods"})
        self.assertIn("keeps no state", cases["recorded/counter"]["message"])
        self.assertIn("cannot say an input of another dtype", cases["inputs/mlp:dtype"]["message"])

    def test_each_planted_fault_is_found(self):
        for fault, found in ("wrong", ("fail", "value")), ("crash", ("crash", "segmentation-fault")), ("silent", ("unsupported", "")):
            with self.subTest(fault):
                self.assertEqual(self.verdicts(self.judge(fault, "recorded/mlp")[3]), {"recorded/mlp": found})


class Examples(Judged):
    """Ends as others would write them: doc/examples/protocol."""

    def test_a_server_in_c_works(self):
        code, said, _, cases, _ = self.judged(*SOME, "--", BUILD / "example_runtime")
        self.assertEqual((code, {found[0] for found in self.verdicts(cases).values()} - {"unsupported"}), (0, set()), said)


if __name__ == "__main__":
    unittest.main()
