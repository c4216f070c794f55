"""assay run --with TESTEE --against TESTEE: programs on runtimes and on libraries of kernels, of which some do wrong."""
import json
import os
import pathlib
import resource
import signal
import subprocess
import unittest

from folder import WithFolder
from source import PROGRAMS, SOURCE

ASSAY = os.environ["ASSAY"]
BUILD = pathlib.Path(os.environ["ASSAY_BUILD"])
KERNELS, RUNTIME = BUILD / "libplanted_kernels.so", BUILD / "libplanted_runtime.so"
HAS_OFFICIAL = (pathlib.Path(ASSAY).parent / "libassay_executorch.so").exists()
MLP = ("run", PROGRAMS / "mlp" / "program.pte", "--input", PROGRAMS / "mlp" / "call0_input0.npy")


def assay(*arguments, planted="", **how):
    environment = os.environ | {"ASSAY_PLANTED": planted}
    done = subprocess.run([ASSAY, *map(str, arguments)], capture_output=True, text=True, check=False, timeout=120, env=environment, **how)
    return done.returncode, done.stdout, done.stderr


def files_of_at_most_2048_bytes():
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2048, 2048))


def calls(name):
    return "run", PROGRAMS / name / "program.pte", "--calls", PROGRAMS / name / "calls.json"


class Check(unittest.TestCase):
    def test_the_kernels_are_called(self):
        code, out, err = assay("check", MLP[1], "--with", KERNELS)
        self.assertEqual((code, err), (0, ""), out)
        self.assertIn(" has a kernel for every call\n  calls of its kernels: 8 tried, 0 known from its contract only\n", out)

    def test_a_crash_and_a_hang_are_lines(self):
        for deed, words in ("abort", "crash (abort): "), ("hang", "timeout"):
            code, out, err = assay("check", MLP[1], "--with", KERNELS, "--timeout", "1", planted=f"aten::relu.out={deed}")
            self.assertEqual((code, err), (5, ""), out)
            lines = [line for line in out.splitlines() if line.startswith("    instruction ")]
            self.assertEqual(len(lines), 2, out)
            for i, line in zip((2, 5), lines):
                self.assertIn(f"    instruction {i} of forward: aten::relu.out, float32 (3, 32) contiguous, float32 (3, 32) contiguous: {words}", line)

    @unittest.skipUnless(HAS_OFFICIAL, "built without the official kernels")
    def test_a_line_names_dim_orders_and_the_words_of_the_kernel(self):
        code, out, err = assay("check", PROGRAMS / "channels_last_mixed" / "program.pte", "--with", "executorch")
        self.assertEqual((code, err), (5, ""), out)
        self.assertRegex(out, r"  executorch lacks\n    instruction 4 of forward: aten::mul.out, float32 \(2, 3, 4, 5\) channels_last, "
                              r"float32 \(\) contiguous, float32 \(2, 3, 4, 5\) channels_last: the kernel says: .*different dim orders?")


class With(WithFolder):
    def test_a_right_testee_gives_the_outputs_of_the_reference(self):
        alone = assay(*MLP)
        for testee in "reference", KERNELS, RUNTIME:
            self.assertEqual(assay(*MLP, "--with", testee), alone)
            code, out, err = assay(*MLP, "--with", testee, "--against", "reference", "--rtol", "0", "--atol", "0")
            self.assertEqual((code, err), (0, ""), out)
            self.assertIn("  pass output 0  float32 (3, 4): equal\n1 call, 1 output compared: no difference\n", out)

    def test_arenas_that_methods_share(self):
        for testee in "reference", RUNTIME, "optimized":
            code, out, err = assay(*calls("shared_state"), "--share-arenas", "--with", testee)
            self.assertEqual((code, err), (0, ""), out)

    def test_packed_constants_are_kept(self):
        kept = self.folder / "kept"
        alone = assay(*MLP, "--with", "optimized")
        self.assertEqual(assay(*MLP, "--with", "optimized", "--packed-cache", kept), alone)
        file, = kept.iterdir()
        written = file.stat().st_mtime_ns
        self.assertEqual(assay(*MLP, "--with", "optimized", "--packed-cache", kept), alone)
        self.assertEqual(file.stat().st_mtime_ns, written)
        file.write_bytes(file.read_bytes()[:-1])
        self.assertEqual(assay(*MLP, "--with", "optimized", "--packed-cache", kept), alone)
        self.assertNotEqual(file.stat().st_mtime_ns, written)
        file.unlink()
        code, _, err = assay(*MLP, "--with", "optimized", "--packed-cache", kept, preexec_fn=files_of_at_most_2048_bytes)
        self.assertEqual((code, list(kept.iterdir())), (7, []), err)
        code, out, err = assay(*MLP, "--packed-cache", kept)
        self.assertEqual((code, out), (5, ""), err)
        self.assertIn("--packed-cache is for the optimized runtime", err)

    def test_calls_and_bundles(self):
        for testee in KERNELS, RUNTIME:
            for arguments in calls("kv_cache"), calls("cond_layers"), calls("external_two_files"), calls("in_place"), calls("tensor_lists"), calls("string_input"), calls("dynamic_arithmetic"), calls("delegate_layers"), ("run", PROGRAMS / "methods" / "program.bpte"):
                alone = assay(*arguments)
                self.assertEqual(alone[0], 0, alone)
                self.assertEqual(assay(*arguments, "--with", testee), alone)
                code, out, err = assay(*arguments, "--with", testee, "--against", "reference", "--json")
                self.assertEqual((code, err), (0, ""), out)
                answer = json.loads(out)
                self.assertEqual((answer["calls_that_differ"], all(call["agrees"] for call in answer["calls"])), (0, True))

    def test_a_missing_program_is_refused(self):
        command = f"cat {MLP[1]} | {ASSAY} run /dev/stdin --input {MLP[3]} --with {RUNTIME}"
        done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False, timeout=120)
        self.assertEqual((done.returncode, done.stdout, done.stderr), assay(*MLP))

    def test_outputs_are_written(self):
        self.assertEqual(assay(*MLP, "--output-dir", self.folder / "reference")[0], 0)
        self.assertEqual(assay(*MLP, "--with", RUNTIME, "--against", "reference", "--output-dir", self.folder / "with")[0], 0)
        self.assertEqual((self.folder / "with" / "0.npy").read_bytes(), (self.folder / "reference" / "0.npy").read_bytes())

    def test_a_trace_is_of_the_instructions(self):
        code, out, _ = assay(*MLP, "--with", KERNELS, "--trace", "--json")
        steps = [step["name"] for step in json.loads(out)["trace"]]
        self.assertEqual((code, steps), (0, [step["name"] for step in json.loads(assay(*MLP, "--trace", "--json")[1])["trace"]]))
        code, out, err = assay(*MLP, "--with", RUNTIME, "--trace")
        self.assertEqual((code, out, err.count("\n")), (5, "", 1))
        self.assertIn("does not tell of its instructions", err)

    def test_memory_is_limited_where_it_is_counted(self):
        for options in ("--with", RUNTIME), ("--against", RUNTIME):
            code, out, err = assay(*MLP, *options, "--max-bytes", "100000000")
            self.assertEqual((code, out, err.count("\n")), (5, "", 1))
            self.assertIn("does not say what memory it takes: --max-bytes is for", err)

    def test_testees_are_one_word_in_every_command(self):
        for testee, code, words in ("nobody", 4, "there is no testee"), ("./nothing.so", 4, "missing"):
            for option in "--with", "--against":
                done, out, err = assay(*MLP, option, testee)
                self.assertEqual((done, out, err.count("\n")), (code, "", 1), err)
                self.assertIn(words, err)


class Planted(WithFolder):
    def test_the_first_wrong_instruction_is_named(self):
        against = (*MLP, "--with", KERNELS, "--against", "reference")
        steps = [step["name"] for step in json.loads(assay(*MLP, "--trace", "--json")[1])["trace"]]
        for operator in "aten::relu.out", "aten::addmm.out":
            at = steps.index(operator)
            code, out, err = assay(*against, planted=f"{operator}=wrong")
            self.assertEqual((code, err), (1, ""), out)
            self.assertIn("FAIL output 0", out)
            self.assertIn(f"first wrong: instruction {at} of forward, {operator}: fail (value): ", out)
            wrong = json.loads(assay(*against, "--json", planted=f"{operator}=wrong")[1])["first_wrong"]
            self.assertEqual((wrong["instruction"], wrong["operator"], wrong["verdict"], wrong["class"]), (at, operator, "fail", "value"))
            self.assertGreater(wrong["distance"], 1)

    def test_a_wrong_instruction_is_named_though_no_output_shows_it(self):
        code, out, _ = assay(*MLP, "--with", KERNELS, "--against", "reference", "--atol", "1e39", planted="aten::addmm.out=wrong")
        self.assertIn("no difference", out)
        self.assertIn("first wrong: instruction ", out)
        self.assertEqual(code, 1)

    def test_an_instruction_of_a_delegate(self):
        against = (*calls("delegate_layers"), "--with", KERNELS, "--against", "reference")
        self.assertIn("first wrong: instruction 0 (DelegateCall) of forward, aten::addmm.out: fail ", assay(*against, planted="aten::addmm.out=wrong")[1])
        self.assertIn("first wrong: instruction 1 of forward, aten::tanh.out: fail ", assay(*against, planted="aten::tanh.out=wrong")[1])

    def test_the_first_wrong_node_of_a_delegate(self):
        linear = SOURCE / "golden/delegated/f32_linear"
        call, planted = ("run", linear / "program.pte", "--calls", linear / "calls.json"), "aten::addmm.out=wrong"
        code, out, err = assay(*call, "--with", KERNELS, "--against", "reference", planted=planted)
        self.assertEqual((code, err), (1, ""), out)
        self.assertIn("first wrong: instruction 0 (DelegateCall) of forward, node 0, FullyConnected, aten::addmm.out: fail ", out)
        for testees in (RUNTIME, "reference"), ("reference", RUNTIME), ("optimized", RUNTIME):
            against = (*call, "--with", testees[0], "--against", testees[1])
            code, out, err = assay(*against, planted=planted)
            self.assertEqual((code, err), (1, ""), out)
            self.assertIn(f"first wrong of {RUNTIME}: delegate 0 of forward, node 0, FullyConnected: ", out)
            self.assertEqual("optimized: no wrong delegate was found: 4 of 4 cases pass" in out, "optimized" in testees, out)
            wrong = json.loads(assay(*against, "--json", planted=planted)[1])
            of = "" if testees[0] == RUNTIME else "_against"
            self.assertEqual((wrong["first_wrong" + of]["testee"], wrong["first_wrong" + of]["nodes"]), (str(RUNTIME), [0]))
            self.assertEqual("delegates" in wrong, "optimized" in testees)
            code, out, err = assay(*against, planted="aten::addmm.out=abort")
            self.assertEqual((code, err), (1, ""), out)
            self.assertRegex(out, f"first wrong of {RUNTIME}: delegate 0 of forward, node 0, FullyConnected: .*\n.*signal")

    def test_what_ends_or_damages_the_process_is_an_answer(self):
        deeds = {"abort": "crash (abort): ", "hang": "timeout: "}
        for testee in KERNELS, RUNTIME:
            for deed, words in deeds.items() if testee == RUNTIME else (deeds | {"damage": "fail (writes-out-of-bounds): "}).items():
                planted = f"aten::relu.out={deed}"
                code, out, err = assay(*MLP, "--with", testee, "--timeout", "1", planted=planted)
                self.assertEqual((code, err), (1, ""), out)
                self.assertIn(f"{testee}: {words}", out)
                self.assertEqual("instruction" in out, testee == KERNELS, out)
                code, out, err = assay(*MLP, "--with", testee, "--against", "reference", "--timeout", "1", "--json", planted=planted)
                self.assertEqual((code, err), (1, ""), out)
                answer = json.loads(out)
                self.assertEqual(answer["calls"][0]["verdict"], words.split()[0].rstrip(":"))
                self.assertEqual("first_wrong" in answer, testee == KERNELS)

    def test_calls_after_a_crash_are_made(self):
        code, out, err = assay("run", PROGRAMS / "methods" / "program.bpte", "--with", RUNTIME, planted="aten::addmm.out=abort")
        self.assertEqual((code, err), (1, ""))
        self.assertIn("4 calls", out)

    def test_a_refusal_is_in_the_testees_words(self):
        for testee, code, words in (KERNELS, 4, "planted says: not today"), (RUNTIME, 5, "planted says: planted: not today"):
            done, out, err = assay(*MLP, "--with", testee, planted="aten::relu.out=refuse")
            self.assertEqual((done, out, err.count("\n")), (code, "", 1), err)
            self.assertIn(words, err)
            done, out, err = assay(*MLP, "--with", testee, "--against", "reference", planted="aten::relu.out=refuse")
            self.assertEqual((done, err), (1, ""))
            self.assertIn("FAIL is refused: ", out)

    def test_a_call_that_both_refuse_is_not_compared(self):
        wrong = ("run", PROGRAMS / "mlp" / "program.pte", "--input", "1", "--with", RUNTIME, "--against", "reference")
        code, out, err = assay(*wrong)
        self.assertEqual((code, err.count("\n")), (4, 1), out + err)
        self.assertIn("assay: invalid, testee: planted says: R1: ", err)
        self.assertIn("  refused by testee\n1 call, 0 outputs compared: 1 of the calls were refused, not compared\n", out)

    def test_both_may_refuse_by_the_expected_rule(self):
        for fails, code in ("R1", 0), ("R2", 1):
            file = self.write("calls.json", {"calls": [{"inputs": [1], "fails": fails}]})
            done, out, err = assay("run", PROGRAMS / "mlp" / "program.pte", "--calls", file, "--with", KERNELS, "--against", "reference")
            self.assertEqual((done, err), (code, ""), out)
            self.assertIn("no difference" if code == 0 else "but is to be refused by", out)

    def test_the_reference_answers_missing_operators_and_reports_them(self):
        code, out, err = assay(*MLP, "--with", KERNELS, planted="aten::relu.out=lack")
        self.assertEqual((code, err), (0, ""))
        self.assertIn(f"answered by the reference, not by {KERNELS}: aten::relu.out, it has no kernel\n", out)
        answer = json.loads(assay(*MLP, "--with", "recorded", "--json")[1])
        self.assertIn("aten::relu.out", answer["answered_by_reference"])


@unittest.skipUnless(HAS_OFFICIAL, "built without the official runtime")
class Official(WithFolder):
    def test_it_agrees_with_the_reference(self):
        for name in "mlp", "kv_cache", "cnn", "dynamic_batch", "external_constants":
            for runtime in "executorch", "executorch+xnnpack":
                code, out, err = assay(*calls(name), "--with", runtime, "--against", "reference", "--rtol", "1e-4", "--atol", "1e-5")
                self.assertEqual((code, err), (0, ""), (name, out))
        self.assertEqual(assay("run", PROGRAMS / "methods" / "program.bpte", "--with", "executorch", "--rtol", "1e-4")[0], 0)

    def test_a_refusal_has_the_message_of_the_runtime(self):
        code, out, err = assay("run", PROGRAMS / "mlp" / "program.pte", "--input", "1", "--with", "executorch")
        self.assertEqual((code, out, err.count("\n")), (4, "", 1))
        self.assertIn("executorch says: Error::InvalidArgument: ", err)


if __name__ == "__main__":
    unittest.main()
