#pragma once

#include <string>
#include <utility>
#include <vector>

#include "reference/program/build.h"
#include "reference/runtime/runtime.h"
#include "tests/support/tensors.h"

// Programs of a few instructions, made ready to run.
namespace assay {

using enum DType;

inline Tensor floats(const std::vector<Real>& values) {
  return tensor(float32, {static_cast<Int>(values.size())}, values);
}
inline Bytes bytes_of(const std::vector<Real>& values) {
  const Tensor tensor = floats(values);
  return {tensor.bytes.begin(), tensor.bytes.end()};
}

inline LoadedProgram loaded(const ProgramBuilder& program, RuntimeOptions options = {}) {
  auto result = LoadedProgram::load(in_memory(program.bytes()), {}, std::move(options));
  if (!result) throw result.faults.front();
  return std::move(*result);
}

inline Method ready(const ProgramBuilder& program, RuntimeOptions options = {}) {
  auto method = loaded(program, std::move(options)).method("forward");
  if (!method) throw method.faults.front();
  return std::move(*method);
}

// The rule that is broken; "" if there is none.
inline std::string rule(const Refusal& refusal) { return refusal ? refusal->rule : ""; }
inline std::vector<Real> values(const Method& method, std::size_t output = 0) {
  return values_of(std::get<Tensor>(*method.output(output)));
}

// out = x + x. The caller supplies both tensors.
struct Doubling {
  ProgramBuilder program;
  PlanBuilder plan = program.method();
  PlanBuilder::Index x, out;

  explicit Doubling(pte::TensorShapeDynamism dynamism = pte::TensorShapeDynamism::STATIC) {
    x = plan.tensor(float32, {2}, dynamism), out = plan.tensor(float32, {2}, dynamism);
    plan.plan().inputs = {x}, plan.plan().outputs = {out};
    plan.add_tensors(x, x, out);
  }
};

// The refusal of the first request that fails: load the program, prepare its method, set the inputs, or run.
inline Refusal refusal_of_run(File program, const std::vector<Value>& inputs = {}, RuntimeOptions options = {}) {
  const auto loaded = LoadedProgram::load(std::move(program), {}, std::move(options));
  if (!loaded) return loaded.faults.front();
  auto method = loaded->method("forward");
  if (!method) return method.faults.front();
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (const Refusal refused = method->set_input(i, inputs[i])) return refused;
  return method->execute();
}
inline Refusal refusal_of_run(const ProgramBuilder& program, const std::vector<Value>& inputs = {},
                              RuntimeOptions options = {}) {
  return refusal_of_run(in_memory(program.bytes()), inputs, std::move(options));
}

// The rule of that refusal; "" if nothing is refused.
inline std::string broken(const ProgramBuilder& program, const std::vector<Value>& inputs = {},
                          RuntimeOptions options = {}) {
  return rule(refusal_of_run(program, inputs, std::move(options)));
}

// The program `inner` as the payload of a delegate without arguments; the delegate call may be in a loop.
inline ProgramBuilder delegating(const Bytes& inner, bool in_a_loop = false) {
  ProgramBuilder program;
  PlanBuilder plan = program.method();
  plan.delegate("ProgramBackend", pte::DataLocation::SEGMENT, program.segment(inner));
  plan.delegate_call(0, {});
  if (!in_a_loop) return program;
  const auto done = plan.boolean(false);
  plan.call("executorch_prim::eq.Scalar", {plan.integer(1), plan.integer(2), done});
  plan.jump_if_false(done, 0);
  return program;
}

// n instructions that change nothing.
inline ProgramBuilder moving(int n) {
  ProgramBuilder program;
  PlanBuilder plan = program.method();
  const auto from = plan.integer(1), to = plan.integer(2);
  for (int i = 0; i < n; ++i) plan.move(from, to);
  return program;
}

// The rule that a plan of one instruction breaks. `make` adds the instruction.
template <class F>
std::string broken_by(F make) {
  ProgramBuilder program;
  PlanBuilder plan = program.method();
  make(program, plan);
  return broken(program);
}

}  // namespace assay
