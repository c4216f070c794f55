#include "format/flow_effects.h"

namespace assay::format {

Method::Method(const pte::ExecutionPlan& plan, Workspace& workspace)
    : plan_(plan),
      starts_(workspace.take<std::uint32_t>(plan.chains()->size())),
      roles_(workspace.take<const OperatorRoles*>(size_of(plan.operators()))) {
  for (std::uint32_t c = 0; c < plan.chains()->size(); ++c) {
    if (!starts_.empty()) starts_[c] = instructions_;
    instructions_ += plan.chains()->Get(c)->instructions()->size();
  }
  for (std::uint32_t i = 0; i < roles_.size(); ++i) roles_[i] = find_roles(*plan.operators()->Get(i));
}

std::uint64_t count_elements(const pte::EValue& v) {
  switch (v.val_type()) {
    case pte::KernelTypes::IntList:
      return v.val_as_IntList()->items()->size();
    case pte::KernelTypes::TensorList:
      return v.val_as_TensorList()->items()->size();
    case pte::KernelTypes::OptionalTensorList:
      return v.val_as_OptionalTensorList()->items()->size();
    default:
      return 1;
  }
}

std::uint64_t count_effects(const Method& m) {
  std::uint64_t all = 0;
  for (std::uint32_t i = 0; i < m.instructions(); ++i) {
    const pte::Instruction& instruction = m.instruction(i);
    const auto* call = instruction.instr_args_as_KernelCall();
    const auto* delegated = instruction.instr_args_as_DelegateCall();
    all += 2;  // the effects of a move, or of the value that a call returns
    for (const std::int32_t a : items(call ? call->args() : delegated ? delegated->args() : nullptr))
      all += count_elements(m.value(static_cast<std::uint32_t>(a)));
  }
  return all;
}

void each_effect(const Method& m, const OperatorRoles& roles, const pte::KernelCall& call, TakeEffect take) {
  const auto argument = [&](std::size_t i) {
    return static_cast<std::uint32_t>(call.args()->Get(static_cast<std::uint32_t>(i)));
  };
  const auto arguments = roles.arguments();
  std::uint32_t changed = 0;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Use use = arguments[i].use;
    if (use == Use::changed || use == Use::overwritten) changed = argument(i);
    const std::uint32_t other = use == Use::viewed ? argument(0) : use == Use::grown ? argument(2) : 0;
    each_element(m, argument(i), [&](std::uint32_t v) { take({use, v, other}); });
  }
  if (roles.returns_changed() && argument(arguments.size()) != changed)
    take({Use::returned, argument(arguments.size()), changed});
}

void each_effect(const Method& m, const pte::Instruction& instruction, TakeEffect take) {
  const auto index = [](std::int32_t i) { return static_cast<std::uint32_t>(i); };
  const auto either = [&](const flatbuffers::Vector<std::int32_t>& args) {
    for (const std::int32_t a : args) each_element(m, index(a), [&](std::uint32_t v) { take({Use::either, v}); });
  };
  switch (instruction.instr_args_type()) {
    case pte::InstructionArguments::KernelCall: {
      const auto& call = *instruction.instr_args_as_KernelCall();
      const OperatorRoles* roles = m.roles(call);
      return roles ? each_effect(m, *roles, call, take) : either(*call.args());
    }
    case pte::InstructionArguments::DelegateCall:
      return either(*instruction.instr_args_as_DelegateCall()->args());
    case pte::InstructionArguments::MoveCall: {
      const auto& move = *instruction.instr_args_as_MoveCall();
      const std::uint32_t from = index(move.move_from()), to = index(move.move_to());
      take({Use::read, from});
      return take({m.tensor(to) ? Use::moved : Use::written, to, from});
    }
    case pte::InstructionArguments::JumpFalseCall:
      return take({Use::read, index(instruction.instr_args_as_JumpFalseCall()->cond_value_index())});
    case pte::InstructionArguments::FreeCall:
      return take({Use::freed, index(instruction.instr_args_as_FreeCall()->value_index())});
    case pte::InstructionArguments::NONE:
      return;
  }
}

}  // namespace assay::format
