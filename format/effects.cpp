#include "format/effects.h"

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

namespace {

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

}  // namespace

std::uint64_t count_effects(const Method& m) {
  std::uint64_t all = 0;
  for (std::uint32_t i = 0; i < m.instructions(); ++i) {
    const pte::Instruction& instruction = m.instruction(i);
    const auto* call = instruction.instr_args_as_KernelCall();
    const auto* delegated = instruction.instr_args_as_DelegateCall();
    all += 2;  // of a move, or what a call returns
    for (const std::int32_t a : items(call ? call->args() : delegated ? delegated->args() : nullptr))
      all += count_elements(m.value(static_cast<std::uint32_t>(a)));
  }
  return all;
}

}  // namespace assay::format
