#include <reference/program/build.h>
#include <reference/program/program.h>

// Builds a program that adds its input to itself, and checks it.
int main() {
  assay::ProgramBuilder program;
  assay::PlanBuilder plan = program.method("forward");
  const auto x = plan.planned(assay::DType::float32, {4}), sum = plan.planned(assay::DType::float32, {4}, 1, 16);
  plan.call_named("aten::add.out", {{"self", x}, {"other", x}, {"out", sum}});
  plan.plan().inputs = {x};
  plan.plan().outputs = {sum};
  const auto opened = assay::open_program(assay::in_memory(program.bytes()));
  return opened && assay::validate(*opened) ? 0 : 1;
}
