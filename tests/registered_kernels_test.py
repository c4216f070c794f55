"""assay kernels executorch:./lib.so: kernels that register themselves with ExecuTorch's macros, as their authors build them."""
import json
import os
import pathlib
import subprocess
import unittest

from folder import WithFolder

ASSAY = os.environ["ASSAY"]
PACKAGE = os.environ.get("ASSAY_EXECUTORCH", "")
RELU = """
#include <executorch/extension/kernel_util/make_boxed_from_unboxed_functor.h>
#include <executorch/runtime/kernel/kernel_includes.h>

using executorch::aten::Tensor;

Tensor& relu_out(executorch::runtime::KernelRuntimeContext& context, const Tensor& in, Tensor& out) {
  ET_KERNEL_CHECK(context, in.scalar_type() == executorch::aten::ScalarType::Float && out.scalar_type() == in.scalar_type(), NotSupported, out);
  ET_KERNEL_CHECK(context, executorch::runtime::tensors_have_same_dim_order(in, out), InvalidArgument, out);
  ET_KERNEL_CHECK(context, executorch::runtime::resize_tensor(out, in.sizes()) == executorch::runtime::Error::Ok, InvalidArgument, out);
  const float* x = in.const_data_ptr<float>();
  float* y = out.mutable_data_ptr<float>();
  for (ssize_t i = 0; i < in.numel(); ++i) y[i] = x[i] < 0 ? 0 : x[i];
  return out;
}
EXECUTORCH_LIBRARY(aten, "relu.out", relu_out);
"""


def run(*command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False, timeout=300)
    return done.returncode, done.stdout, done.stderr


@unittest.skipUnless(PACKAGE, "built without the official runtime")
class Registered(WithFolder):
    def compiled(self, text):
        package = pathlib.Path(PACKAGE)
        source, library = self.folder / "mine.cpp", self.folder / "libmine.so"
        source.write_text(text)
        code, out, err = run("c++", "-std=c++17", "-O2", "-shared", "-fPIC", "-w", "-DC10_USING_CUSTOM_GENERATED_MACROS", "-DET_EVENT_TRACER_ENABLED",
                             "-I", package / "include", "-I", package / "include/executorch/runtime/core/portable_type/c10",
                             source, package / "lib/libexecutorch.so", "-o", library)
        self.assertEqual(code, 0, out + err)
        return library

    def judged(self, library):
        lines = self.folder / "run.jsonl"
        code, _, err = run(ASSAY, "kernels", f"executorch:{library}", "--operators", "aten::relu.out", "-o", lines)
        return code, err, [json.loads(line) for line in lines.read_text().splitlines()]

    def test_a_right_one(self):
        library = self.compiled(RELU)
        code, err, (header, *cases, footer) = self.judged(library)
        self.assertEqual(code, 0, err)
        self.assertEqual(header["header"]["kernels"], "1")
        self.assertEqual(header["header"]["testee"], f"executorch:{library}")
        self.assertIn("libmine.so", header["header"])
        verdicts = {case["verdict"] for case in cases if case.get("promised") and case["valid"] and case["dtypes"] == ["float32", "float32"]}
        self.assertEqual(verdicts, {"pass"})

    def test_a_wrong_one(self):
        code, err, (_, *cases, _) = self.judged(self.compiled(RELU.replace("x[i] < 0 ? 0 : x[i]", "x[i] < 0 ? x[i] / 128 : x[i]")))
        self.assertEqual(code, 1, err)
        defects = [line["defect"] for line in cases if "defect" in line]
        self.assertEqual([d["class"] for d in defects], ["value"])

    def test_in_a_program(self):
        program = pathlib.Path(__file__).resolve().parent.parent / "golden" / "programs" / "mlp"
        code, out, err = run(ASSAY, "run", program / "program.pte", "--calls", program / "calls.json", "--with", f"executorch:{self.compiled(RELU)}")
        self.assertEqual(code, 0, err)
        self.assertNotIn("aten::relu.out", out)

    def test_what_registers_nothing(self):
        for library, words in (
            (self.compiled("int nothing;"), "registers no kernels with the ExecuTorch that assay was built with"),
            (self.folder / "none.so", "is missing"),
            (self.folder / "mine.cpp", "cannot be loaded"),
        ):
            code, out, err = run(ASSAY, "kernels", f"executorch:{library}", "--operators", "aten::relu.out")
            self.assertEqual((code, out), (4, ""), err)
            self.assertIn(words, err)


if __name__ == "__main__":
    unittest.main()
