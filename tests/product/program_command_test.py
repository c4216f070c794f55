"""assay run, check and inspect, as somebody at a shell meets them."""
import json
import os
import pathlib
import re
import struct
import subprocess
import unittest

from folder import WithFolder
from source import PROGRAMS, SOURCE

ASSAY = os.environ["ASSAY"]
RULES = SOURCE / "spec" / "format" / "rules.yaml"


def assay(*arguments):
    done = subprocess.run([ASSAY, *map(str, arguments)], capture_output=True, text=True, check=False, timeout=120)
    return done.returncode, done.stdout, done.stderr


def program(name):
    return PROGRAMS / name / "program.pte"


def npy(descr, shape, data=b""):
    header = str({"descr": descr, "fortran_order": False, "shape": shape}).encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data


class Programs(WithFolder):
    def floats(self, *shape):
        count = 1
        for n in shape:
            count *= n
        return self.write("x.npy", npy("<f4", shape, struct.pack(f"<{count}f", *range(count))))

    def refused(self, code, *words, by=()):
        """The command is refused with one sentence that has all the words."""
        got, _, err = assay(*by)
        self.assertEqual(got, code, err)
        self.assertTrue(err.startswith("assay: "), err)
        for word in words:
            self.assertIn(word, err)


class Delegates(Programs):
    """assay delegate."""

    F32_CONV = SOURCE / "golden" / "delegated" / "f32_conv" / "program.pte"
    DEFECTS = SOURCE / "golden" / "delegate_defects"

    def passes(self, *words):
        code, out, err = assay("delegate", *words)
        self.assertEqual(code, 0, out + err)
        return re.search(r"(\d+) of (\d+) promised calls pass", out).groups()

    def test_runtimes_in_this_process_and_in_another(self):
        for testee in (["optimized", self.F32_CONV], [self.F32_CONV, "--", ASSAY, "serve", "reference"]):
            self.assertEqual(self.passes(*testee), ("20", "20"))

    def test_calls_of_a_program_of_a_user(self):
        alone = self.write("alone.pte", self.F32_CONV.read_bytes())
        self.assertEqual(self.passes("reference", alone), ("10", "10"))  # one made call
        gelu = self.DEFECTS / "tanh_gelu"
        code, out, _ = assay("delegate", "reference", gelu / "program.pte", "--graph", gelu / "plain.pte")
        self.assertEqual(code, 1)
        self.assertIn("0/all: method forward\n", out)
        code, out, _ = assay("run", gelu / "plain.pte", "--calls", gelu / "calls.json")
        self.assertEqual(code, 0, out)

    def test_programs_that_cannot_be_judged(self):
        opaque = self.write("opaque.pte", self.F32_CONV.read_bytes().replace(b"XnnpackBackend", b"XnnpackBackenX"))
        broken = self.write("broken.pte", self.F32_CONV.read_bytes().replace(b"XN01", b"XN09"))
        for code, words, by in ((5, ["delegate.cases", "calls no XNNPACK delegate"], [program("mlp")]),
                                (5, ["delegate.cases", "calls no XNNPACK delegate"], [self.F32_CONV, program("mlp")]),
                                (5, ["D2", "XnnpackBackenX", "--graph"], [opaque]),
                                (3, ["X5", "XN09"], [broken]),
                                (5, ["delegate.graph", "DelegateCall"], [self.F32_CONV, "--graph", self.F32_CONV]),
                                (4, ["delegate.graph", "exactly one PROGRAM"], ["--graph", program("mlp")]),
                                (7, ["limits.memory", "--max-bytes"], [self.F32_CONV, "--max-bytes", "20000"]),
                                (7, ["limits.work", "--max-work"], [self.F32_CONV, "--max-work", "30000"]),
                                (5, ["delegate.cases", "no such case"], ["--cases", "nothing"])):
            self.refused(code, *words, by=["delegate", "reference", *by])


class Bundles(Programs):
    BUNDLE = PROGRAMS / "methods" / "program.bpte"

    def off_by_one(self):
        """The bundle, where one output of encode is expected to be larger by 1."""
        expected = (PROGRAMS / "methods" / "call0_output0.npy").read_bytes()[-32:]
        whole = self.BUNDLE.read_bytes()
        self.assertEqual(whole.count(expected), 1)
        first, *rest = struct.unpack("<8f", expected)
        return self.write("wrong.bpte", whole.replace(expected, struct.pack("<8f", first + 1, *rest)))

    def test_every_case_of_every_method_is_compared(self):
        code, out, err = assay("run", self.BUNDLE)
        self.assertEqual((code, err), (0, ""))
        self.assertIn("4 calls, 4 outputs compared: no difference", out)
        for method in ("encode", "decode", "both"):
            self.assertIn(method, out)
        code, out, err = assay("run", self.off_by_one())
        self.assertEqual((code, err), (1, ""))
        self.assertIn("off by 1", out)
        self.assertIn("1 of the calls differ", out)
        self.assertEqual(assay("run", self.off_by_one(), "--atol", "1.5")[0], 0)

    def test_cases_of_one_method(self):
        code, out, err = assay("run", self.BUNDLE, "--method", "encode")
        self.assertEqual((code, err), (0, ""))
        self.assertIn("2 calls, 2 outputs compared: no difference", out)
        self.assertEqual(assay("run", self.off_by_one(), "--method", "decode")[0], 0)
        self.refused(4, 'there is no method "other"; the methods are ', by=["run", self.BUNDLE, "--method", "other"])
        self.refused(4, "R4", by=["run", self.BUNDLE, "--method", "encode", "--output-dir", self.folder / "out"])
        calls = PROGRAMS / "methods" / "calls.json"
        self.assertEqual(assay("run", self.BUNDLE, "--calls", calls), assay("run", self.BUNDLE.with_suffix(".pte"), "--calls", calls))

    def test_check_and_inspect(self):
        code, out, _ = assay("check", self.BUNDLE)
        self.assertEqual((code, out.splitlines()[0]), (0, "valid"))
        code, out, _ = assay("inspect", self.BUNDLE)
        self.assertEqual(code, 0)
        for cases in ("2 cases of encode", "1 case of decode", "1 case of both"):
            self.assertIn(cases, out)

    def test_a_part_of_one_is_malformed(self):
        whole = self.BUNDLE.read_bytes()
        for size in (0, 7, 8, 300, len(whole) // 2):
            self.refused(3, "B1" if size >= 8 else "", by=["run", self.write("part.bpte", whole[:size])])


class Run(Programs):
    def test_without_inputs_describes_the_required_inputs(self):
        self.refused(4, "invalid, R4: \"forward\": the method wants 1 input, but 0 came: --input float32 (3, 16)", by=["run", program("mlp")])
        self.refused(4, "R4", "float32 up to (16, 6)", by=["run", program("dynamic_batch")])

    def test_outputs_are_printed_or_written(self):
        x = PROGRAMS / "mlp" / "call0_input0.npy"
        code, out, err = assay("run", program("mlp"), "--input", x)
        self.assertEqual((code, err), (0, ""))
        self.assertTrue(out.startswith("0: float32 (3, 4)  [["), out)
        code, out, err = assay("run", program("mlp"), "--input", x, "--output-dir", self.folder / "new" / "out")
        self.assertEqual((code, err), (0, ""))
        got = (self.folder / "new" / "out" / "0.npy").read_bytes()
        want = (PROGRAMS / "mlp" / "call0_output0.npy").read_bytes()
        self.assertEqual(got[:128], want[:128])
        for a, b in zip(struct.unpack("<12f", got[128:]), struct.unpack("<12f", want[128:]), strict=True):
            self.assertAlmostEqual(a, b, 5)

    def test_bfloat16_lands_as_raw_bits(self):
        calls = PROGRAMS / "bfloat16"
        self.assertEqual(assay("run", program("bfloat16"), "--input", calls / "call0_input0.npy", "--output-dir", self.folder)[0], 0)
        self.assertIn(b"'descr': '|V2'", (self.folder / "0.npy").read_bytes())

    def test_json(self):
        code, out, _ = assay("run", program("mlp"), "--input", self.floats(3, 16), "--json", "--trace")
        answer = json.loads(out)
        self.assertEqual((code, answer["outcome"], answer["outputs"][0]["sizes"]), (0, "ok", [3, 4]))
        self.assertEqual([s["instruction"] for s in answer["trace"]], list(range(len(answer["trace"]))))
        code, out, _ = assay("run", program("mlp"), "--json")
        self.assertEqual((code, json.loads(out)["rule"]), (4, "R4"))

    def test_trace(self):
        code, out, err = assay("run", program("mlp"), "--input", self.floats(3, 16), "--trace")
        self.assertEqual((code, err), (0, ""))
        self.assertIn("aten::relu.out", out)
        self.assertRegex(out, r"-> out +%\d+ +float32 \(3, 32\) +min 0 +max ")

    def test_wrong_inputs(self):
        mlp, x = program("mlp"), self.floats(3, 16)
        self.refused(4, "G3", '"backward"', "forward", by=["run", mlp, "--method", "backward", "--input", x])
        self.refused(4, "R4", "wants 1 input, but 2 came", by=["run", mlp, "--input", x, "--input", x])
        self.refused(4, "R1: input 0", "integer", "tensor", by=["run", mlp, "--input", "-1"])
        self.refused(4, "R1: input 0", "int64", "float32", by=["run", mlp, "--input", self.write("i.npy", npy("<i8", (3, 16), bytes(384)))])
        self.refused(4, "R1: input 0", "(3, 15)", "(3, 16)", by=["run", mlp, "--input", self.floats(3, 15)])
        self.refused(4, "R1: input 0", "(3, 16, 1)", "(3, 16)", by=["run", mlp, "--input", self.floats(3, 16, 1)])
        self.refused(4, "R1: input 0", "(17, 6)", "upper bound 16", by=["run", program("dynamic_batch"), "--input", self.floats(17, 6)])

    def test_files_that_are_none(self):
        mlp = program("mlp")
        self.refused(3, "file", "nowhere.pte", by=["run", self.folder / "nowhere.pte"])
        self.refused(3, "file", "folder", by=["run", self.folder])
        self.refused(3, "H1", "0 bytes", by=["run", self.write("empty.pte", b"")])
        self.refused(3, "H2", by=["run", self.write("text.pte", b"no program" * 10)])
        self.refused(3, "npy.magic", "text.npy", by=["run", mlp, "--input", self.write("text.npy", b"no array")])
        self.refused(3, "nowhere.npy", by=["run", mlp, "--input", "nowhere.npy"])
        self.refused(5, "npy.dtype", ">f4", by=["run", mlp, "--input", self.write("big.npy", npy(">f4", (1,), bytes(4)))])
        self.refused(3, "F1", "program.pte", by=["run", mlp, "--data", mlp])
        self.refused(7, "output", by=["run", mlp, "--input", self.floats(3, 16), "--output-dir", mlp])

    def test_data_files(self):
        folder = PROGRAMS / "external_constants"
        files = sorted(folder.glob("*.ptd"))
        data = [word for file in files for word in ("--data", file)]
        calls = ["run", folder / "program.pte", "--calls", folder / "calls.json"]
        self.assertEqual(assay(*calls)[0], 0)
        self.assertEqual(assay(*calls, *data)[0], 0)
        bare = ["run", folder / "program.pte", "--input", folder / "call0_input0.npy"]
        self.assertEqual(assay(*bare, *data)[0], 0)
        self.refused(4, "T19", by=bare)
        self.refused(4, "F8", by=[*bare, *data, *data])
        other = next(PROGRAMS.glob("external_two_files/*.ptd"))
        self.refused(4, "T", by=[*bare, "--data", other])

    def test_limits(self):
        x = self.floats(3, 16)
        for testee in "reference", "optimized":
            run = ["run", program("mlp"), "--input", x, "--with", testee]
            self.refused(7, "limits.memory", by=[*run, "--max-bytes", "6000"])
            self.refused(7, "I17", "2 instructions", by=[*run, "--max-instructions", "2"])
        self.refused(7, "limits.memory", by=["explain", program("mlp"), "--max-bytes", "6000"])
        self.refused(7, "limits.memory", by=["select", program("mlp"), "--max-bytes", "6000", "-o", self.folder])

    def renamed(self, name, *words):
        """A copy of the program whose last letter of each of these words is X."""
        content = program(name).read_bytes()
        for word in words:
            self.assertIn(word, content)
            content = content.replace(word, word[:-1] + b"X")
        return self.write(name + ".pte", content)

    def test_missing_operators_and_backends(self):
        self.refused(5, "I4", "aten::relX.out", "aten::addmX.out", by=["run", self.renamed("mlp", b"aten::relu", b"aten::addmm"), "--input", self.floats(3, 16)])
        x = PROGRAMS / "delegate_inline" / "call0_input0.npy"
        self.refused(5, "D2", "ProgramBackenX", by=["run", self.renamed("delegate_inline", b"ProgramBackend"), "--input", x])

    def test_a_command_line_without_meaning(self):
        for arguments in ["run"], ["run", program("mlp"), "--calls", "x", "--input", "1"], ["run", program("mlp"), "--max-bytes", "-1"], ["check"], ["inspect"]:
            code, _, err = assay(*arguments)
            self.assertEqual((code, err.count("\n")), (2, 1), err)


class Calls(Programs):
    def calls(self, *calls):
        return ["run", program("mlp"), "--calls", self.write("calls.json", {"calls": calls})]

    def test_recorded_calls_pass(self):
        code, out, err = assay("run", program("kv_cache"), "--calls", PROGRAMS / "kv_cache" / "calls.json")
        self.assertEqual((code, err), (0, ""))
        self.assertIn("6 calls, 6 outputs compared: no difference\n", out)

    def test_a_mismatch_names_its_element(self):
        want = [0.0] * 12
        y = self.write("y.npy", npy("<f4", (3, 4), struct.pack("<12f", *want)))
        call = {"method": "forward", "inputs": [str(self.floats(3, 16))], "outputs": [y.name], "atol": 1e-3}
        code, out, err = assay(*self.calls(call))
        self.assertEqual((code, err), (1, ""))
        self.assertRegex(out, r"FAIL output 0  float32 \(3, 4\): 12 of 12 outside rtol 0, atol 0.001; worst at \(\d, \d\): got -?\d.*, want 0, off by ")
        code, out, _ = assay(*self.calls(call), "--json")
        self.assertEqual((code, json.loads(out)["calls"][0]["outputs"][0]["outside"]), (1, 12))
        self.assertEqual(assay(*self.calls(call | {"atol": 1e3}))[0], 0)

    def test_other_sizes_dtypes_and_counts_differ(self):
        x = str(self.floats(3, 16))
        for outputs in [["x.npy"], [7], [None], ["x.npy", "x.npy"], []]:
            self.assertEqual(assay(*self.calls({"method": "forward", "inputs": [x], "outputs": outputs, "atol": 1e9}))[0], 1, outputs)

    def test_a_call_that_must_fail(self):
        code, out, _ = assay(*self.calls({"method": "forward", "inputs": [7], "fails": "R1"}))
        self.assertEqual(code, 0, out)
        self.assertEqual(assay(*self.calls({"method": "forward", "inputs": [7], "fails": "R2"}))[0], 1)
        self.assertEqual(assay(*self.calls({"method": "forward", "inputs": [7]}))[0], 4)

    def test_a_file_without_calls_is_no_success(self):
        self.refused(4, "run.calls", by=self.calls())

    def test_a_path_with_the_character_nul_is_refused(self):
        x = str(self.floats(3, 16))
        for content in ({"inputs": [x + "\0.npy"]}, {"inputs": [x], "outputs": ["x.npy\0"]}):
            self.refused(3, "NUL", by=self.calls(content))

    def test_invalid_files_of_calls_are_refused(self):
        for content, rule in (b"", "call.json"), (b"[]", "calls.format"), (b"{}", "calls.format"), (b'{"calls":[7]}', "calls.format"), (b'{"calls":[{"inputs":["nowhere.npy"]}]}', "file"), (b'{"calls":[{"inputs":[],"outs":[]}]}', "calls.format"), (b'{"calls":[{"inputs":[],"rtol":-1}]}', "calls.format"), (b'{"calls":["' + b"x" * (16 << 20) + b'"]}', "the file is longer than 16777216 bytes"):
            self.refused(3, "calls.json", rule, by=["run", program("mlp"), "--calls", self.write("calls.json", content)])

    def test_scalar_outputs(self):
        code, out, err = assay("run", program("dynamic_arithmetic"), "--calls", PROGRAMS / "dynamic_arithmetic" / "calls.json")
        self.assertEqual((code, err), (0, ""), out)


class Check(Programs):
    def test_valid(self):
        code, out, err = assay("check", program("mlp"))
        self.assertEqual((code, err), (0, ""))
        self.assertTrue(out.startswith("valid\n  forward: 8 instructions, 4864 bytes of planned memory\n  the reference has all 3 operators that it calls\n"), out)
        code, out, _ = assay("check", program("mlp"), "--json")
        self.assertEqual((code, json.loads(out)["valid"]), (0, True))

    def test_states_what_was_checked_and_what_was_not(self):
        rules = {line.split(":")[0]: line for line in RULES.read_text().splitlines() if re.match(r"[A-Z]\d+:", line)}

        def marked(letters, *where):
            return [i for i, line in rules.items() if i[0] in letters and any(f"checked: {w}" in line for w in where)]

        data = next(PROGRAMS.glob("external_constants/*.ptd"))
        cases = [([program("mlp")], "HGMVTIDR"), ([data.parent / "program.pte", "--data", data], "HGMVTIDRF"), ([data], "F"), ([Bundles.BUNDLE], "HGMVTIDRB")]
        for arguments, letters in cases:
            code, out, _ = assay("check", *arguments)
            self.assertEqual(code, 0, out)
            asked, all_rules = marked(letters, "decode", "validate"), [i for i in rules if i[0] in letters]
            self.assertIn(f"asked {len(asked)} of {len(all_rules)} rules: ", out)
            for ids, words in (marked(letters, "runtime"), "left to a run"), (marked(letters, "later"), "not checked yet"):
                self.assertEqual(f"    {words}: {' '.join(ids)}\n" in out, bool(ids), out)
            report = json.loads(assay("check", *arguments, "--json")[1])["rules"]
            self.assertEqual([r["rule"] for r in report["not_asked"]], [i for i in all_rules if i not in asked])
            self.assertEqual(sum(a["asked"] for a in report["areas"]), len(asked))
        out = assay("check", self.write("cut.pte", program("mlp").read_bytes()[:100]))[1]
        self.assertIn(f"asked at most {len(marked('HGMVTIDR', 'decode'))} of ", out)
        self.assertIn("not asked, as the file cannot be read so far: H16 G2 ", out)

    def test_calls_are_checked_by_the_reference(self):
        code, out, _ = assay("check", program("mlp"), "--json")
        calls = json.loads(out)["calls"]
        self.assertEqual((code, sum(calls.values())), (0, 8))
        code, out, _ = assay("check", program("mlp"))
        self.assertRegex(out, r"asked the reference of 8 calls: \d in full, \d as far as their operands are known, 0 not at all\n")

    def test_payloads(self):
        for name in "delegate_inline", "delegate_segment", "delegate_named_data", "delegate_parts":
            report = json.loads(assay("check", program(name), "--json")[1])["payloads"]
            self.assertGreaterEqual(report["checked"], 1, name)
            self.assertEqual((report["not_checked"], report["more_not_checked"]), ([], 0), name)
        other = self.write("other.pte", program("delegate_inline").read_bytes().replace(b"ProgramBackend", b"ProgramBackenX"))
        code, out, _ = assay("check", other)
        self.assertEqual(code, 0)
        self.assertIn("payloads not checked: 1\n    delegate 0 of forward, for ProgramBackenX\n", out)

    def test_a_backend_that_a_testee_lacks_is_listed(self):
        inline = program("delegate_inline")
        other = self.write("other.pte", inline.read_bytes().replace(b"ProgramBackend", b"ProgramBackenX"))
        for testee in "reference", "optimized":
            code, out, _ = assay("check", inline, "--with", testee)
            self.assertEqual((code, "has a kernel for every call" in out), (0, True), out)
            code, out, _ = assay("check", other, "--with", testee)
            self.assertEqual(code, 5, out)
            self.assertIn(f"  {testee} lacks\n    delegate 0 of forward: the backend ProgramBackenX\n", out)
            x = assay("run", other, "--calls", inline.parent / "calls.json", "--with", testee)
            self.assertIn("D2", x[2])

    def test_external_data_that_no_file_has_are_named(self):
        folder = PROGRAMS / "external_constants"
        code, out, _ = assay("check", folder / "program.pte")
        self.assertEqual(code, 0)
        self.assertRegex(out, r"\n  to run, it wants \d+ external data that no file has \(T19; --data gives data files\): \S+")
        wanted = json.loads(assay("check", folder / "program.pte", "--json")[1])["wanted_data"]["names"]
        self.assertTrue(wanted)
        [data] = folder.glob("*.ptd")
        self.assertNotIn("external data", assay("check", folder / "program.pte", "--data", data)[1])
        self.assertIn("T19", assay("run", folder / "program.pte", "--input", folder / "call0_input0.npy")[2])

    def test_operators_that_a_library_lacks_are_listed(self):
        code, out, _ = assay("check", program("mlp"), "--with", "reference")
        self.assertEqual((code, "  reference has a kernel for every call\n" in out), (0, True), out)
        renamed = self.write("renamed.pte", program("mlp").read_bytes().replace(b"aten::relu", b"aten::relX"))
        code, out, _ = assay("check", renamed, "--with", "reference")
        self.assertEqual(code, 5)
        self.assertRegex(out, r"  reference lacks\n    instruction \d of forward: aten::relX.out, which the specification lacks\n")
        code, out, _ = assay("check", renamed, "--with", "reference", "--json")
        self.assertEqual((code, len(json.loads(out)["testee"]["lacks"])), (5, 2))
        self.refused(4, "testee", by=["check", program("mlp"), "--with", "nobody"])

    @unittest.skipUnless((pathlib.Path(ASSAY).parent / "libassay_executorch.so").exists(), "built without the official kernels")
    def test_what_the_official_kernels_lack(self):
        code, out, _ = assay("check", program("mlp"), "--with", "executorch")
        self.assertEqual((code, "  executorch has a kernel for every call\n" in out), (0, True), out)
        lacking = {name: json.loads(assay("check", program(name), "--with", "executorch", "--json")[1])["testee"] for name in ("fast_hadamard_transform", "double", "channels_last")}
        self.assertTrue(any(t["lacks"] for t in lacking.values()), lacking)

    def test_damage_is_named_with_rule_and_place(self):
        content = program("mlp").read_bytes()
        for length in 0, 4, 63, 64, 100, len(content) - 1:
            code, out, err = assay("check", self.write("cut.pte", content[:length]))
            self.assertEqual((code, err), (3, ""), length)
            self.assertRegex(out, r"^malformed, [A-Z]\d+: .")
        code, out, _ = assay("check", self.write("cut.pte", content[:100]), "--json")
        self.assertEqual((code, json.loads(out)["faults"][0]["outcome"]), (3, "malformed"))

    def test_files_that_are_none(self):
        self.refused(3, "nowhere", by=["check", self.folder / "nowhere"])
        self.refused(3, "folder", by=["check", self.folder])

    def test_data_files(self):
        file = next(PROGRAMS.glob("external_constants/*.ptd"))
        self.assertEqual(assay("check", file)[0], 0)
        code, out, _ = assay("check", self.write("cut.ptd", file.read_bytes()[:100]))
        self.assertEqual(code, 3, out)
        self.assertEqual(assay("check", file.parent / "program.pte", "--data", file)[0], 0)


class Inspect(Programs):
    def test_text(self):
        code, out, err = assay("inspect", program("scan_sum"))
        self.assertEqual((code, err), (0, ""))
        self.assertRegex(out, r"  > +2  aten::select_copy.int_out +self=%1 f32\[6,4\]  dim=0  index=%\d+  ->  %\d+ f32\[4\]\n")
        self.assertRegex(out, r"JumpFalseCall +%\d+  to 2\n")
        self.assertIn("memory 1: 272 bytes planned for 8 tensors", out)

    def test_every_recorded_program_is_described(self):
        for path in sorted(PROGRAMS.glob("*/program.pte")):
            code, out, err = assay("inspect", path, "--json")
            self.assertEqual((code, err), (0, ""), path)
            for method in json.loads(out)["methods"]:
                self.assertEqual(sum(o["calls"] for o in method["operators"]), len(method["instructions"]))
                for memory in method["memory"]:
                    self.assertLessEqual(memory["most_in_use"], memory["bytes"], path)
            code, out, err = assay("inspect", path)
            self.assertEqual((code, err), (0, ""), path)
            for line in out.splitlines():
                if "|" in line[:20]:
                    self.assertLessEqual(len(line), 100)

    def test_a_method_alone(self):
        code, out, _ = assay("inspect", program("shared_state"), "--method", "read", "--json")
        self.assertEqual((code, [m["name"] for m in json.loads(out)["methods"]]), (0, ["read"]))
        self.refused(4, "G3", "nothing", by=["inspect", program("shared_state"), "--method", "nothing"])

    def test_data_files(self):
        file = next(PROGRAMS.glob("external_constants/*.ptd"))
        code, out, _ = assay("inspect", file)
        self.assertEqual(code, 0)
        self.assertIn("named data\n", out)
        self.assertTrue(json.loads(assay("inspect", file, "--json")[1])["named_data"])

    def test_a_file_that_does_not_decode_is_refused(self):
        self.refused(3, "H2", by=["inspect", self.write("text.pte", b"no program" * 10)])


if __name__ == "__main__":
    unittest.main()
