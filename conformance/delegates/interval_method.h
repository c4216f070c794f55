#pragma once

#include <map>
#include <vector>

#include "conformance/delegates/intervals.h"
#include "conformance/delegates/place_of_tensor.h"
#include "reference/runtime/runtime.h"

// Methods of programs, computed with intervals of right values.
namespace assay::delegates {

// An output with the interval of each of its elements.
struct RightOutput {
  Tensor expected;
  Interval interval;
};

// A method whose instructions are calls of operators, one after the other. Each call of an operator is right within its
// entry's bound, and the bounds of earlier calls are pushed through later calls.
class IntervalMethod {
 public:
  // `arithmetic` has an item for each of the method's first calls of operators; later calls are `rounded`. Throws
  // Fault: those of the runtime; "delegate.graph" (unsupported) if the method has an instruction of another kind.
  IntervalMethod(const ValidProgram& program, std::string_view name, std::vector<Arithmetic> arithmetic = {},
                 const Budget& budget = {});
  IntervalMethod(const IntervalMethod&) = delete;
  IntervalMethod& operator=(const IntervalMethod&) = delete;

  const pte::ExecutionPlan& plan() const { return method_.plan(); }

  // Executes the method. State keeps its values and intervals from one execution to the next. Throws Fault: those of
  // the runtime; "delegate.graph" (unsupported) if an output is no tensor, or if a number depends on an interval.
  std::vector<RightOutput> run(std::span<const Value> inputs);

 private:
  using Index = std::int32_t;

  const pte::KernelCall* call_at(std::uint32_t instruction) const;
  std::string_view operator_of(const pte::KernelCall& call) const;
  void step(std::uint32_t instruction);
  Answer answer(const Operator& op, std::span<Value> arguments, const Budget& budget);
  std::vector<Argument> with_intervals(const Operator& op, std::span<const Value> arguments) const;
  std::vector<Index> tensors_at(Index value) const;
  PlaceOfTensor place(Index tensor) const { return place_of_tensor(method_.plan(), tensor); }
  std::optional<Interval> interval_at(Index tensor) const;
  void keep(Index out, Interval interval);
  void keep_view(const pte::KernelCall& view);
  RightOutput output(std::uint32_t i) const;

  std::vector<Arithmetic> arithmetic_;
  LoadedProgram loaded_;
  Method method_;
  const pte::KernelCall* call_ = nullptr;  // the current instruction
  std::size_t calls_ = 0;                  // the number of calls of operators in the current execution
  std::map<PlaceOfTensor, Interval> intervals_;
};

}  // namespace assay::delegates
