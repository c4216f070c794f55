#include "optimized/prepare/pte/plan_reader.h"

// The instructions of a plan, through all of its chains.
namespace assay::optimized {

bool PlanReader::read_call(Instruction& to, const pte::KernelCall& call) {
  const format::OperatorRoles* roles = method_.roles(call);
  const pte::Operator& op = method_.op(call);
  if (!roles)
    return refuse(fault_, "I4", source_.place().in("instruction", to.index), "there is no operator ",
                  format::Quoted{format::text_of(op.name())}, ", overload ",
                  format::Quoted{format::text_of(op.overload())});
  const auto all = pointers(format::items(call.args()));
  const std::size_t n = roles->arguments().size();
  if (all.size() < n) return true;  // there is too little memory, which the caller reports
  to.call = {roles, all.first(n), all.size() > n ? all.back() : nullptr, options_.set, options_.relaxed};
  return true;
}

bool PlanReader::read_instruction(std::uint32_t i) {
  using Kind = Instruction::Kind;
  const pte::Instruction& from = method_.instruction(i);
  Instruction& to = source_.instructions[i];
  to.index = method_.position(i).index;
  if (const auto* call = from.instr_args_as_KernelCall()) return read_call(to, *call);
  if (const auto* call = from.instr_args_as_DelegateCall()) {
    to.kind = Kind::delegate, to.target = static_cast<std::uint32_t>(call->delegate_index());
    to.call.arguments = pointers(format::items(call->args()));
  } else if (const auto* move = from.instr_args_as_MoveCall()) {
    const std::int32_t ends[] = {move->move_from(), move->move_to()};
    to.kind = Kind::move, to.call.arguments = pointers(std::span<const std::int32_t>(ends));
  } else if (const auto* jump = from.instr_args_as_JumpFalseCall()) {
    const std::int32_t condition[] = {jump->cond_value_index()};
    to.kind = Kind::jump, to.target = method_.target(i, *jump);
    to.call.arguments = pointers(std::span<const std::int32_t>(condition));
  } else if (const auto* free = from.instr_args_as_FreeCall()) {
    to.kind = Kind::free, to.target = static_cast<std::uint32_t>(free->value_index());
  }
  return true;
}

}  // namespace assay::optimized
