#pragma once

#include <functional>
#include <initializer_list>
#include <string>

#include "conformance/corrupt/sample.h"

namespace assay {

// A method with an input and an output. The plan puts the output directly behind the input.
struct Planned {
  using Index = PlanBuilder::Index;

  ProgramBuilder program;
  PlanBuilder plan = program.method();
  Index x = plan.planned(DType::float32, {4}), out = plan.planned(DType::float32, {4}, 1, 16);

  Planned() { plan.plan().inputs = {x}, plan.plan().outputs = {out}; }

  Index at(std::uint32_t offset, std::initializer_list<std::int32_t> sizes = {4}, std::uint32_t memory = 1) {
    return plan.planned(DType::float32, sizes, memory, offset);
  }
  Index dynamic_at(std::uint32_t offset, std::initializer_list<std::int32_t> sizes = {4}) {
    const Index i = at(offset, sizes);
    plan.at(i).shape_dynamism = pte::TensorShapeDynamism::DYNAMIC_BOUND;
    return i;
  }
  Index weight() { return plan.constant(DType::float32, {4}, program.constant(numbers({1, 2, 3, 4}))); }
  Index condition() { return plan.planned(DType::boolean, {}, 3, conditions_++); }
  void input(Index i) { plan.plan().inputs.push_back(i); }
  void output(Index i) { plan.plan().outputs.push_back(i); }
  void name(Index i, const std::string& name) { plan.extra(i).fully_qualified_name = name; }

  void relu(Index from, Index to) { plan.call("aten::relu.out", {from, to, to}); }
  void copy(Index to, Index from) { plan.call("aten::copy_", {to, from, plan.boolean(false), to}); }
  void view(Index self, Index to) { plan.call("executorch_prim::et_view.default", {self, plan.integers({4}), to}); }
  Index number(const std::string& op, Index a, Index b) {
    const Index result = plan.integer(0);
    plan.call("executorch_prim::" + op + ".Scalar", {a, b, result});
    return result;
  }
  Index next() {  // the index of the next instruction
    const auto& chains = program.program().tables.execution_plan[0]->chains;
    return chains.empty() ? 0 : static_cast<Index>(chains[0]->instructions.size());
  }
  // Adds a jump over the instructions that `then` adds.
  void unless(Index condition, const std::function<void()>& then) {
    plan.jump_if_false(condition, 0);
    auto& jump = *plan.plan().chains[0]->instructions.back()->instr_args.AsJumpFalseCall();
    then();
    jump.destination_instruction = next();
  }
  void always(Index to) { plan.jump_if_false(plan.boolean(false), to); }
  // Adds a loop in the form in which exporters emit a map: the body runs for each of n rows, with a counter.
  void loop(Index n, const std::function<void(Index)>& body) {
    const Index counter = plan.integer(0), done = plan.boolean(false), begin = next();
    body(counter);
    plan.call("executorch_prim::add.Scalar", {counter, plan.integer(1), counter});
    plan.call("executorch_prim::eq.Scalar", {counter, n, done});
    plan.jump_if_false(done, begin);
    plan.call("executorch_prim::sub.Scalar", {counter, n, counter});
  }
  void add_row(Index to, Index from, Index row) { plan.call("executorch_prim::et_copy_index.tensor", {to, from, row}); }

  std::vector<Fault> faults() const {
    const auto file = open_program(in_memory(program.bytes()));
    return file ? faults_of(*file) : file.faults;
  }

 private:
  std::uint32_t conditions_ = 0;
};

}  // namespace assay
