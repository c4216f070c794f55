#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "format/check_method.h"
#include "format/operator_roles.h"
#include "format/take.h"
#include "format/workspace.h"

// Enumerates what instructions do to the values of their method. Requires a method that meets the rules of
// instructions, so that every index is the index of a value.
namespace assay::format {

struct Effect {
  Use use;
  std::uint32_t value;
  // For an alias, the aliased value. For a row, the value that is the row's index.
  std::uint32_t other = 0;
};

// A method's tables. Instructions are numbered consecutively through all chains.
class Method {
 public:
  Method(const pte::ExecutionPlan& plan, Workspace& workspace);

  const pte::ExecutionPlan& plan() const { return plan_; }
  std::uint32_t values() const { return plan_.values()->size(); }
  const pte::EValue& value(std::uint32_t v) const { return *plan_.values()->Get(v); }
  pte::KernelTypes type(std::uint32_t v) const { return value(v).val_type(); }
  // Returns null if the value is not a tensor.
  const pte::Tensor* tensor(std::uint32_t v) const { return value(v).val_as_Tensor(); }

  std::uint32_t instructions() const { return instructions_; }
  // The chain of an instruction, and the instruction's index in that chain.
  struct Position {
    std::uint32_t chain, index;
  };
  Position position(std::uint32_t i) const {
    const auto chain = static_cast<std::uint32_t>(std::ranges::upper_bound(starts_, i) - starts_.begin() - 1);
    return {chain, i - starts_[chain]};
  }
  const pte::Instruction& instruction(std::uint32_t i) const {
    const Position p = position(i);
    return *plan_.chains()->Get(p.chain)->instructions()->Get(p.index);
  }
  const pte::KernelCall* kernel_call(std::uint32_t i) const { return instruction(i).instr_args_as_KernelCall(); }
  const pte::JumpFalseCall* jump(std::uint32_t i) const { return instruction(i).instr_args_as_JumpFalseCall(); }
  std::uint32_t target(std::uint32_t i, const pte::JumpFalseCall& jump) const {
    return starts_[position(i).chain] + static_cast<std::uint32_t>(jump.destination_instruction());
  }
  const pte::Operator& op(const pte::KernelCall& call) const {
    return *plan_.operators()->Get(static_cast<std::uint32_t>(call.op_index()));
  }
  const OperatorRoles* roles(const pte::KernelCall& call) const {
    return roles_[static_cast<std::size_t>(call.op_index())];
  }

 private:
  const pte::ExecutionPlan& plan_;
  std::uint32_t instructions_ = 0;
  std::span<std::uint32_t> starts_;  // for each chain, the number of its first instruction
  std::span<const OperatorRoles*> roles_;
};

// Calls f(value) for each element of a list, or for a value that is not a list.
template <class F>
void each_element(const Method& m, std::uint32_t value, F f) {
  const auto all = [&](const auto* items) {
    for (const auto item : *items)
      if (item >= 0) f(static_cast<std::uint32_t>(item));
  };
  const pte::EValue& v = m.value(value);
  switch (v.val_type()) {
    case pte::KernelTypes::IntList:
      return all(v.val_as_IntList()->items());
    case pte::KernelTypes::TensorList:
      return all(v.val_as_TensorList()->items());
    case pte::KernelTypes::OptionalTensorList:
      return all(v.val_as_OptionalTensorList()->items());
    default:
      f(value);
  }
}

// The number of values in a list; 1 for a value that is not a list.
std::uint64_t count_elements(const pte::EValue& v);

// The number of effects of all instructions. The elements of a list count once for each instruction that uses the list.
std::uint64_t count_effects(const Method& m);

using TakeEffect = Take<Effect>;

// Calls take(Effect) for each effect of a call of an operator whose roles are known, in the order of its arguments. The
// effect of a list argument is enumerated for each element of the list.
void each_effect(const Method& m, const OperatorRoles& roles, const pte::KernelCall& call, TakeEffect take);
void each_effect(const Method& m, const pte::Instruction& instruction, TakeEffect take);

}  // namespace assay::format
