"""Kernels of other people: the examples of doc/examples/kernel_library, compiled against the header alone, and what else a library may be."""
import json
import os
import pathlib
import re
import shlex
import subprocess
import unittest

from folder import WithFolder
from page import follow_kernel_page, steps
from source import SOURCE

ASSAY = os.environ["ASSAY"]
BUILD = pathlib.Path(os.environ["ASSAY_BUILD"]).resolve()
PLANTED = BUILD / "libplanted_kernels.so"
API, EXAMPLES = SOURCE / "conformance" / "api", SOURCE / "doc" / "examples" / "kernel_library"
WARNINGS = "-Wall", "-Wextra", "-pedantic", "-Werror"
RELU = "y[i] = x[i] < 0 ? 0 : x[i];"
BUG = "y[i] = x[i] < 0 ? x[i] / 128 : x[i];"
TABLE = """
#include "kernel_library.h"
#include <stddef.h>
int has(void* context, const char* op) { return 1; }
const char* kernel(void* context, size_t i) { return "aten::relu.out"; }
assay_kernel_reply call(void* context, const char* op, const assay_kernel_host* host, assay_kernel_value* values, size_t count) {
  CALL
}
const assay_kernel_library* assay_kernel_library_v1(void) {
  static const assay_kernel_library table = {.version = ASSAY_KERNEL_LIBRARY_VERSION, .name = "strange", .has = has, .call = call};
  return &table;
}
"""


def run(*command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False, timeout=300)
    return done.returncode, done.stdout, done.stderr


class Library(WithFolder):
    def compiled(self, source, *options, compiler=("cc", "-std=c11")):
        library = self.folder / "libmine.so"
        code, out, err = run(*compiler, *WARNINGS, *options, "-O2", "-shared", "-fPIC", "-I", API, source, "-o", library)
        self.assertEqual((code, out, err), (0, "", ""))
        return library

    def compiled_text(self, text):
        source = self.folder / "mine.c"
        source.write_text(text)
        return self.compiled(source, "-w")

    def judged(self, library, *options, operators="aten::relu.out"):
        """The exit code, what is said beside the table, and the lines of the run."""
        lines = self.folder / "run.jsonl"
        choice = ("--operators", operators) if operators else ()
        code, _, err = run(ASSAY, "kernels", library, *choice, "-o", lines, *options)
        return code, err, [json.loads(line) for line in lines.read_text().splitlines()]


class Examples(Library):
    def assert_right(self, library, operators, *options):
        code, err, (header, *cases, footer) = self.judged(library, *options, operators=operators)
        self.assertEqual((code, footer["footer"]["complete"]), (0, True), err)
        self.assertEqual({case["verdict"] for case in cases}, {"pass", "unsupported"})
        for operator in operators.split(","):
            for valid in True, False:
                self.assertTrue([case for case in cases if case["operator"] == operator and case["valid"] == valid and case["verdict"] == "pass"], (operator, valid))
        return header["header"]

    def test_a_library_in_c_works(self):
        library = self.compiled(EXAMPLES / "kernels.c")
        header = self.assert_right(library, "aten::add.out,aten::mm.out,aten::relu.out", "--contract", EXAMPLES / "contract.yaml", "--strict")
        self.assertEqual((header["testee"], header["interface"], header["kernels.c"]), ("example in C", "kernel library 1", "1.0"))
        self.assertRegex(header["libmine.so"], "^[0-9a-f]{16}$")

    def test_a_library_in_cpp_works(self):
        for standard in "-std=c++17", "-std=c++20":
            library = self.compiled(EXAMPLES / "kernels.cpp", compiler=("c++", standard))
        self.assert_right(library, "aten::floor.out,aten::relu.out")

    def test_promised_calls_are_answered(self):
        library = self.compiled(EXAMPLES / "kernels.c")
        cases = self.judged(library, "--contract", EXAMPLES / "contract.yaml", operators="aten::mm.out,aten::relu.out")[2][1:-1]
        self.assertEqual({case["verdict"] for case in cases if case["promised"]}, {"pass"})

    def test_promises_without_an_answered_call_are_named(self):
        library = self.compiled(EXAMPLES / "kernels.c")
        contract = self.folder / "contract.yaml"
        planted = "{arguments: [self, out], sets: [[float32, complex128]], rows: [0 0]}"
        contract.write_text(f"contract: planted\nabout: A test.\ndeclarations: {{source: here, operators: {{'aten::relu.out': {planted}}}}}\n")
        lines = self.judged(library, "--contract", contract, "--html", self.folder / "report.html")[2]
        self.assertEqual(lines[-1]["footer"]["untried"], [{"name": "aten::relu.out", "text": "complex128"}])
        sentence = "promised, but not answered in any call: aten::relu.out (complex128)"
        self.assertIn(f"\n{sentence}\n", run(ASSAY, "report", self.folder / "run.jsonl")[1])
        self.assertIn(sentence, (self.folder / "report.html").read_text())
        contract.write_text(contract.read_text().replace(", complex128", ""))
        self.assertNotIn("untried", self.judged(library, "--contract", contract)[2][-1]["footer"])

    def test_a_bug_is_one_defect(self):
        library = self.compiled(EXAMPLES / "kernels.c", "-DBUG")
        code, _, lines = self.judged(library, "--contract", EXAMPLES / "contract.yaml", operators="aten::add.out,aten::mm.out,aten::relu.out")
        defect, = [line["defect"] for line in lines if "defect" in line]
        self.assertEqual((code, defect["verdict"], defect["class"], defect["operators"]), (1, "fail", "value", ["aten::relu.out"]))
        self.assertEqual(defect["promised_cases"], defect["cases"])
        self.assertIn("aten::relu.out gives wrong values for negative numbers", defect["sentence"])
        command = shlex.split(defect["command"])
        self.assertEqual(command, ["assay", "case", defect["smallest"]["case"], "--contract", str(EXAMPLES / "contract.yaml"), "--testee", str(library)])
        code, out, _ = run(ASSAY, *command[1:])
        self.assertEqual(code, 1)
        self.assertIn("but must be 0", out)

    def test_the_header_needs_nothing_else(self):
        for compiler in ("cc", "-x", "c", "-std=c11"), ("c++", "-x", "c++", "-std=c++11"):
            self.assertEqual(run(*compiler, *WARNINGS, "-ffreestanding", "-fshort-enums", "-fsyntax-only", API / "kernel_library.h"), (0, "", ""))


class Misdeeds(Library):
    def assert_blamed(self, deed, verdict, failure, *options):
        text = (EXAMPLES / "kernels.c").read_text()
        self.assertIn(RELU, text)
        code, err, (_, *cases, _) = self.judged(self.compiled_text(text.replace(RELU, f"{{ {deed} }}")), "--mutations", "0", "--shard", "1/1", *options)
        failures = {(case["verdict"], case["class"]) for case in cases if case.get("verdict") in ("fail", "crash", "timeout")}
        self.assertEqual((code, failures), (1, {(verdict, failure)}), err)

    def test_each_violation_has_its_class(self):
        for deed, verdict, failure in (
            (RELU + " y[n] = 1;", "fail", "writes-out-of-bounds"),
            (RELU + " y[-1] = 1;", "fail", "writes-out-of-bounds"),
            (RELU + " if (i + 1 == n) *(char*)self->data ^= 1;", "fail", "changes-input"),
            ("if (i > 0) " + RELU, "fail", "unwritten"),
            ("static float calls; y[i] = calls++;", "fail", "not-repeatable"),
            ("const float* t = host->allocate(host->context, 4, 64); y[i] = *t;", "fail", "reads-uninitialised"),
            ("float* t = host->allocate(host->context, 4, 4); t[1] = 1; " + RELU, "fail", "heap-damage"),
            ("static float* t; if (!t) t = host->allocate(host->context, 4, 4); *t = 1; " + RELU, "fail", "uses-freed"),
            ("static volatile float *t, *seen; static int calls; if (!t) t = host->allocate(host->context, 4, 4); if (i == 0 && ++calls > 20) seen = t, *seen; " + RELU, "fail", "spoils-state"),
            ("*(volatile float*)8 = x[i]; " + RELU, "crash", "segmentation-fault"),
            ("__builtin_abort();", "crash", "abort"),
        ):
            with self.subTest(deed):
                self.assert_blamed(deed, verdict, failure)

    def test_a_hang_is_a_timeout(self):
        lines = self.judged(self.compiled(EXAMPLES / "kernels.c", "-DBUG"), "--mutations", "0")[2]
        smallest = next(line["defect"]["smallest"] for line in lines if "defect" in line)
        number, dtype = smallest["inputs"][0]["text"].split(":")
        self.assertEqual(dtype, "f32")
        self.write("cases.txt", smallest["case"].encode() + b"\n")
        self.assert_blamed(f"for (volatile int forever = x[i] == (float)({number}); forever;) {{}}" + RELU, "timeout", "", "--timeout", "1", "--cases", self.folder / "cases.txt")

    def test_the_output_of_a_crashing_kernel_is_reported(self):
        text = (EXAMPLES / "kernels.c").read_text().replace(RELU, '{ host->log(host->context, "no vectors here"); __builtin_abort(); }')
        cases = self.judged(self.compiled_text(text), "--mutations", "0")[2][1:-1]
        self.assertIn("no vectors here", next(case["message"] for case in cases if case.get("verdict") == "crash"))

    def test_an_exception_of_a_kernel_is_an_abort(self):
        source = self.folder / "mine.cpp"
        source.write_text((EXAMPLES / "kernels.cpp").read_text().replace("return kernels.find", 'throw std::string("lost"); return kernels.find'))
        _, _, (_, *cases, _) = self.judged(self.compiled(source, compiler=("c++", "-std=c++17")), "--mutations", "0")
        self.assertEqual({(case["verdict"], case["class"]) for case in cases if "verdict" in case}, {("crash", "abort")})


class Thorough(Library):
    """What goes wrong in harder circumstances alone."""

    RESIZE = """  if (!host->resize(host->context, out, self->rank, self->sizes))
    return refuse(ASSAY_KERNEL_INVALID, "the result does not fit in out");
  const float* x"""

    def test_a_right_library_passes(self):
        _, err, lines = self.judged(self.compiled(EXAMPLES / "kernels.c"), "--thorough", "--mutations", "20", operators="aten::add.out,aten::mm.out,aten::relu.out")
        self.assertEqual([line["defect"]["sentence"] for line in lines if "defect" in line], [], err)
        self.assertEqual(lines[0]["header"]["thorough"], "yes")

    def test_outs_that_are_not_resized_are_detected_by_default(self):
        text = (EXAMPLES / "kernels.c").read_text()
        code, err, lines = self.judged(self.compiled_text(text.replace(self.RESIZE, "  const float* x")), "--mutations", "0")
        self.assertEqual(code, 1, err)
        failures = {(case["verdict"], case["class"]) for case in lines if case.get("verdict") in ("fail", "crash", "timeout")}
        self.assertEqual(failures, {("fail", "shape")})
        for defect in (line["defect"] for line in lines if "defect" in line):
            self.assertRegex(defect["smallest"]["message"], "with outs that come (larger|smaller)")

    def test_each_thorough_circumstance_is_detected(self):
        text = (EXAMPLES / "kernels.c").read_text()
        self.assertIn(self.RESIZE, text)
        needs = 'float* t = host->allocate(host->context, 4, 4); '
        for change, verdict, failure, circumstance in (
            ("  host->resize(host->context, out, self->rank, self->sizes);\n  const float* x", "fail", "writes-out-of-bounds", "with too little memory for outs"),
            (self.RESIZE.replace("  const", f"  {needs}*t = 1;\n  const"), "crash", "segmentation-fault", ""),
            (self.RESIZE.replace("  const", f'  {needs}if (!t) return refuse(ASSAY_KERNEL_INVALID, "no memory");\n  const'), "fail", "refused-though-valid", "with allocation 1 refused"),
            (self.RESIZE.replace("  const", f'  {needs}if (!t) return refuse(ASSAY_KERNEL_EXHAUSTED, "no memory");\n  const'), None, None, None),
        ):
            with self.subTest(change):
                library = self.compiled_text(text.replace(self.RESIZE, change))
                self.assertEqual(self.judged(library, "--mutations", "0")[0], 0)
                code, err, lines = self.judged(library, "--thorough", "--mutations", "0")
                self.assertEqual(code, 0 if verdict is None else 1, err)
                failures = {(case["verdict"], case["class"]) for case in lines if case.get("verdict") in ("fail", "crash", "timeout")}
                self.assertEqual(failures, {(verdict, failure)} if verdict else set())
                for defect in (line["defect"] for line in lines if "defect" in line):
                    self.assertIn(circumstance, defect["smallest"]["message"])
                    self.assertIn("--thorough", defect["command"])
                    self.assertEqual(run(ASSAY, *shlex.split(defect["command"])[1:])[0], 1)


class Strangers(Library):
    def assert_refused(self, library, code, words):
        for command in ("kernels", library, "--operators", "aten::relu.out"), ("contract", library, "--operators", "aten::relu.out"):
            done, out, err = run(ASSAY, *command)
            self.assertEqual(done, code, err)
            self.assertIn(words, err)
            self.assertEqual(out, "")

    def test_a_library_without_the_interface_is_refused(self):
        good = TABLE.replace("CALL", "return (assay_kernel_reply){ASSAY_KERNEL_UNSUPPORTED, NULL};")
        for before, after, code, words in (
            ("assay_kernel_library_v1(void) {", "another(void);\nconst assay_kernel_library* another(void) {", 4, "invalid, testee: .* does not export assay_kernel_library_v1"),
            ("= ASSAY_KERNEL_LIBRARY_VERSION", "= 2", 5, "unsupported, library.version: libmine.so: its table is of version 2 .* here is version 1"),
            ("return &table", "(void)table; return NULL", 4, "library.table: .* returns no table"),
            ('"strange"', '""', 4, "library.table: .* no name"),
            (".has = has", ".has = NULL", 4, "library.table: .* no function has"),
            (".call = call", ".call = NULL", 4, "library.table: .* no function call"),
            (".call = call", ".call = call, .fact_count = 1", 4, "library.table: .* no facts"),
            (".call = call", ".call = call, .kernel = kernel", 4, "library.table: .* names kernels without end"),
        ):
            with self.subTest(words):
                code_done, out, err = run(ASSAY, "kernels", self.compiled_text(good.replace(before, after)), "--operators", "aten::relu.out")
                self.assertEqual((code_done, out), (code, ""), err)
                self.assertRegex(err, words)

    def test_a_file_that_is_not_a_library_is_refused(self):
        (self.folder / "text.so").write_text("not a library\n")
        self.assert_refused(self.folder / "text.so", 4, "cannot be loaded")
        self.assert_refused(self.folder / "none.so", 4, "missing")

    def test_invalid_replies_end_the_run(self):
        for call, words in (
            ("return (assay_kernel_reply){99, NULL};", "library replies to a call of aten::relu.out with outcome 99"),
            ("values[count - 1].as.tensor.dtype = 99; return (assay_kernel_reply){ASSAY_KERNEL_OK, NULL};", "an out has dtype 99"),
        ):
            self.assert_refused(self.compiled_text(TABLE.replace("CALL", call)), 4, words)

    def test_a_library_that_answers_nothing_is_not_judged(self):
        library = self.compiled_text(TABLE.replace("CALL", "return (assay_kernel_reply){ASSAY_KERNEL_UNSUPPORTED, NULL};"))
        code, err, (_, *cases, _) = self.judged(library)
        self.assertEqual({case["verdict"] for case in cases if case["valid"]}, {"unsupported"})
        self.assertEqual(code, 5)
        self.assertIn("strange was not judged", err)
        code, err, _ = self.judged(self.compiled(EXAMPLES / "kernels.c"), operators="aten::abs.out")
        self.assertEqual(code, 5)
        self.assertIn("example in C was not judged", err)

    def test_refusals_have_the_message_of_the_library(self):
        for outcome, shown in ("INVALID", "invalid: not so"), ("INTERNAL", "invalid: internal: not so"), ("EXHAUSTED", "exhausted: not so"), ("FAULT", "fault: not so"):
            library = self.compiled_text(TABLE.replace("CALL", f'return (assay_kernel_reply){{ASSAY_KERNEL_{outcome}, "not so"}};'))
            code, _, lines = self.judged(library, "--mutations", "0")
            self.assertEqual(code, 1)
            self.assertEqual({(case["class"], case["got"]) for case in lines[1:-1] if case.get("valid")}, {("refused-though-valid", shown)})


class Interface(Library):
    def test_every_kind_of_value_reaches_the_library(self):
        operators = "add,cat,index*,split*,_local_scalar_dense,avg_pool2d,upsample*,gelu,any,executorch_prim::*,full,native_layer_norm,topk,convolution,div,constant_pad_nd"
        code, err, (_, *cases, _) = self.judged(PLANTED, "--mutations", "10", operators=operators)
        self.assertEqual((code, {case["verdict"] for case in cases}), (0, {"pass"}), err)

    def test_the_functions_of_the_host_work(self):
        """What a kernel may ask for, asked in every way."""
        refused = "return (assay_kernel_reply){ASSAY_KERNEL_UNSUPPORTED, "
        call = f"""
  const int64_t wide[] = {{INT64_MAX, 2}}, negative[] = {{-1}}, one = 1;
  assay_kernel_tensor *in = &values[0].as.tensor, *out = &values[1].as.tensor, copy = *out;
  void* c = host->context;
  if (host->resize(c, in, 1, &one)) {refused}"an input was resized"}};
  if (host->resize(c, &copy, 1, &one)) {refused}"a copy was resized"}};
  if (host->resize(c, out, 2, wide) || host->resize(c, out, 1, negative) || host->resize(c, out, 17, wide)) {refused}"a size that is none"}};
  if (!host->resize(c, out, in->rank, in->sizes)) {refused}"the sizes of the result were refused"}};
  if (out->rank != in->rank || out->data != copy.data) {refused}"the out is another"}};
  if (host->allocate(c, 17u << 20, 16) || host->allocate(c, 1, 3) || host->allocate(c, (size_t)-1, 1)) {refused}"too much was given"}};
  for (size_t a = 1; a <= 4096; a *= 2)
    if ((uintptr_t)host->allocate(c, 24, a) % a) {refused}"badly aligned"}};
  if (host->ticks(c) > host->ticks(c) || !host->ticks_per_second) {refused}"time went back"}};
  if (resets != 1) {refused}"not reset once"}};
  return (assay_kernel_reply){{ASSAY_KERNEL_INVALID, "all is well"}};"""
        reset = "static int resets; void reset(void* context) { ++resets; }\nint has"
        text = TABLE.replace("CALL", call).replace("int has", reset).replace(".call = call", ".call = call, .reset = reset")
        cases = self.judged(self.compiled_text(text), "--mutations", "0")[2][1:-1]
        self.assertEqual({case["got"] for case in cases if case.get("valid")}, {"invalid: all is well"})


class Page(WithFolder):
    """doc/test_your_kernel.md: its C is relu.c, its commands are run in order, and what stands below one is said by it."""

    def test_the_guide_has_the_stated_output(self):
        (self.folder / "build").mkdir()
        (self.folder / "build" / "release").symlink_to(BUILD)
        install = re.sub("^cmake --(preset|build).*", "", steps("test_your_kernel.md")[0][0], flags=re.MULTILINE)
        subprocess.run(["sh", "-ec", install], check=True, capture_output=True, cwd=self.folder, env=os.environ | {"HOME": str(self.folder)})
        prefix = (self.folder / "assay").rename(self.folder / "prefix")
        follow_kernel_page(self, prefix, self.folder)


if __name__ == "__main__":
    unittest.main()
