#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "format/method.h"
#include "format/roles.h"
#include "format/workspace.h"

// What instructions do to the values of their method. Every index is that of a value, as the rules of instructions ask.
namespace assay::format {

struct Effect {
  Use use;
  std::uint32_t value;
  std::uint32_t other = 0;  // what an alias is of; by which index rows are added
};

constexpr bool is_alias(Use use) { return use == Use::viewed || use == Use::returned || use == Use::moved; }

// Whether the value, or the bytes of it, are another afterwards.
constexpr bool writes(Use use) { return use != Use::read && use != Use::asked; }

// A method's tables, its instructions numbered through all chains.
class Method {
 public:
  Method(const pte::ExecutionPlan& plan, Workspace& workspace);

  const pte::ExecutionPlan& plan() const { return plan_; }
  std::uint32_t values() const { return plan_.values()->size(); }
  const pte::EValue& value(std::uint32_t v) const { return *plan_.values()->Get(v); }
  pte::KernelTypes type(std::uint32_t v) const { return value(v).val_type(); }
  const pte::Tensor* tensor(std::uint32_t v) const { return value(v).val_as_Tensor(); }  // null: is none

  std::uint32_t instructions() const { return instructions_; }
  // Chain and index in it.
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
  std::span<std::uint32_t> starts_;  // of each chain
  std::span<const OperatorRoles*> roles_;
};

// The tensors or numbers that a value is or lists.
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

// How many effects all instructions have, of which a list that many share makes many.
std::uint64_t count_effects(const Method& m);

// f(Effect) for what a call of a known operator does, in the order of its arguments; a list is its elements.
template <class F>
void each_effect(const Method& m, const OperatorRoles& roles, const pte::KernelCall& call, F f) {
  const auto argument = [&](std::size_t i) {
    return static_cast<std::uint32_t>(call.args()->Get(static_cast<std::uint32_t>(i)));
  };
  const auto arguments = roles.arguments();
  std::uint32_t changed = 0;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Use use = arguments[i].use;
    if (use == Use::changed || use == Use::overwritten) changed = argument(i);
    const std::uint32_t other = use == Use::viewed ? argument(0) : use == Use::grown ? argument(2) : 0;
    each_element(m, argument(i), [&](std::uint32_t v) { f(Effect{use, v, other}); });
  }
  if (roles.returns_changed() && argument(arguments.size()) != changed)
    f(Effect{Use::returned, argument(arguments.size()), changed});
}

template <class F>
void each_effect(const Method& m, const pte::Instruction& instruction, F f) {
  const auto index = [](std::int32_t i) { return static_cast<std::uint32_t>(i); };
  const auto either = [&](const flatbuffers::Vector<std::int32_t>& args) {
    for (const std::int32_t a : args) each_element(m, index(a), [&](std::uint32_t v) { f(Effect{Use::either, v}); });
  };
  switch (instruction.instr_args_type()) {
    case pte::InstructionArguments::KernelCall: {
      const auto& call = *instruction.instr_args_as_KernelCall();
      const OperatorRoles* roles = m.roles(call);
      return roles ? each_effect(m, *roles, call, f) : either(*call.args());
    }
    case pte::InstructionArguments::DelegateCall:
      return either(*instruction.instr_args_as_DelegateCall()->args());
    case pte::InstructionArguments::MoveCall: {
      const auto& move = *instruction.instr_args_as_MoveCall();
      const std::uint32_t from = index(move.move_from()), to = index(move.move_to());
      f(Effect{Use::read, from});
      return f(Effect{m.tensor(to) ? Use::moved : Use::written, to, from});
    }
    case pte::InstructionArguments::JumpFalseCall:
      return f(Effect{Use::read, index(instruction.instr_args_as_JumpFalseCall()->cond_value_index())});
    case pte::InstructionArguments::FreeCall:
      return f(Effect{Use::freed, index(instruction.instr_args_as_FreeCall()->value_index())});
    case pte::InstructionArguments::NONE:
      return;
  }
}

}  // namespace assay::format
