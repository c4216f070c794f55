#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reference/program/decoded.h"
#include "reference/runtime/runtime.h"

// Parts of a method of a program of operators.
namespace assay::delegates {

// Some of a method's calls of operators, one after the other, as a program of its own. Its method "forward" has the
// inputs and outputs of the part: the tensors that these calls read from before, and those that the method needs
// afterwards.
struct PlainPart {
  Program program;
  std::vector<Tensor> inputs;  // the values that the reference has there
};

// Cuts a method of one chain of calls of operators (as IntervalMethod takes it).
class PlainCutter {
 public:
  // Executes the method and keeps the value of each tensor. The budget is charged for the execution and the values.
  // Throws Fault: those of the runtime; "delegate.build" (unsupported) if a call changes a tensor that had a value
  // before.
  PlainCutter(const ValidProgram& plain, std::string_view method, std::span<const Value> inputs, const Budget& budget);

  std::uint32_t calls() const { return static_cast<std::uint32_t>(calls_.size()); }

  // The calls from `begin` to before `end`. Throws Fault "delegate.build" (unsupported) if they need a number that an
  // earlier call computed, or that is an input of the method.
  PlainPart cut(std::uint32_t begin, std::uint32_t end) const;

  std::string described(std::uint32_t call) const;  // "instruction 3 of forward, aten::mm.out: float32 (2, 3) -> ..."

 private:
  using Index = std::int32_t;
  struct Call {
    std::uint32_t instruction;
    std::vector<Index> reads, writes;  // tensors
    std::vector<Index> reads_numbers, writes_numbers;
  };

  void note(std::uint32_t instruction);
  void keep(Index tensor);
  Tensor tensor(Index i) const;
  void note_base(Index tensor);
  Index base_of(Index tensor) const;
  std::set<Index> needed_after(std::uint32_t call) const;

  ValidProgram plain_;
  Reserved reserved_;
  LoadedProgram loaded_;
  Method method_;
  std::vector<Index> number_inputs_;
  std::vector<Call> calls_;
  std::vector<Index> order_;        // tensors that the inputs or calls give a value, in this order
  std::map<Index, Tensor> values_;  // of these tensors
  std::map<Index, Index> bases_;    // of tensors that no call writes: the tensor whose memory and elements they share
};

}  // namespace assay::delegates
