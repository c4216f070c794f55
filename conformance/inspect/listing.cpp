#include "conformance/inspect/listing.h"

#include <algorithm>
#include <span>

#include "conformance/text/printable.h"
#include "format/operator_roles.h"
#include "reference/budget.h"
#include "reference/operator.h"

namespace assay::inspect {
namespace {

using Role = Operand::Role;

// Names and roles by position; empty if the operator is unknown.
Buffer<Operand> pattern(const pte::Operator& op) {
  Buffer<Operand> operands;
  if (const Operator* known = find_operator(cut_name(op)))
    for (const SchemaArgument& a : known->arguments)
      operands.push_back({a.name, 0, a.out ? Role::output : Role::input});
  else if (const format::OperatorRoles* roles = format::find_roles(op))
    for (const format::ArgumentRole& a : roles->arguments())
      operands.push_back({"", 0, a.use == format::Use::read ? Role::input : Role::output});
  return operands;
}

// The last argument of an unknown operator is the returned value; an out before it has the same index.
Buffer<Operand> unknown(std::span<const std::int32_t> args) {
  Buffer<Operand> operands;
  operands.reserve(args.size());
  const bool repeats = args.size() > 1 && args[args.size() - 2] == args.back();
  for (const std::int32_t value : args.first(args.size() - repeats)) operands.push_back({"", value, Role::input});
  if (!operands.empty()) operands.back().role = Role::output;
  return operands;
}

// The returned value comes behind the arguments. It is nothing new if it is the out, or a list of the outs.
Buffer<Operand> operands_of(const pte::ExecutionPlan& plan, const pte::Operator* op,
                            std::span<const std::int32_t> args) {
  Buffer<Operand> operands = op ? pattern(*op) : Buffer<Operand>();
  if (operands.empty() || operands.size() > args.size()) return unknown(args);
  const std::size_t arguments = operands.size();
  for (std::size_t i = 0; i < arguments; ++i) operands[i].value = args[i];
  operands.reserve(args.size());
  const auto is_shown = [&](Int value) {
    return std::ranges::count(std::span(operands).first(arguments), value, &Operand::value) > 0;
  };
  for (const std::int32_t value : args.subspan(arguments)) {
    const auto* v = value_at(plan, value);
    bool repeats = v && v->val_as_TensorList();
    each_tensor(plan, value, [&](Int tensor) { repeats = repeats && is_shown(tensor); });
    if (!repeats && !is_shown(value)) operands.push_back({"result", value, Role::output});
  }
  return operands;
}

// Returns null if there is none with this index.
const pte::Operator* operator_of(const pte::ExecutionPlan& plan, const pte::KernelCall& call) {
  const std::int32_t index = call.op_index();
  return index >= 0 && index < Int{format::size_of(plan.operators())}
             ? plan.operators()->Get(static_cast<std::uint32_t>(index))
             : nullptr;
}

}  // namespace

Listed listed(const pte::ExecutionPlan& plan, const pte::Instruction& instruction) {
  if (const auto* call = instruction.instr_args_as_KernelCall()) {
    const std::span args = format::items(call->args());
    Budget::Scope::work(static_cast<Int>(args.size()));
    const pte::Operator* op = operator_of(plan, *call);
    return {op ? cut_name(*op) : "operator " + std::to_string(call->op_index()), operands_of(plan, op, args), {}, {}};
  }
  Listed l{"FreeCall", {}, {}, {}};
  if (const auto* call = instruction.instr_args_as_DelegateCall()) {
    const std::span args = format::items(call->args());
    Budget::Scope::work(static_cast<Int>(args.size()));
    l.operands.reserve(args.size());
    l.name = "DelegateCall", l.delegate = call->delegate_index();
    for (const std::int32_t value : args) l.operands.push_back({"", value, Role::either});
  } else if (const auto* move = instruction.instr_args_as_MoveCall()) {
    l.name = "MoveCall", l.operands = {{"", move->move_from(), Role::input}, {"", move->move_to(), Role::output}};
  } else if (const auto* jump = instruction.instr_args_as_JumpFalseCall()) {
    l.name = "JumpFalseCall", l.operands = {{"", jump->cond_value_index(), Role::input}},
    l.target = jump->destination_instruction();
  } else if (const auto* free = instruction.instr_args_as_FreeCall()) {
    l.operands = {{"", free->value_index(), Role::input}};
  }
  return l;
}

std::string cut_name(const pte::Operator& op) {
  const auto part = [](const flatbuffers::String* s) {
    return std::string(format::text_of(s).substr(0, text::most_shown));
  };
  return part(op.name()) + (format::text_of(op.overload()).empty() ? "" : '.' + part(op.overload()));
}

bool works_on_handles(const pte::Operator& op) { return format::find_roles(op) && !find_operator(cut_name(op)); }
bool is_known(const pte::Operator& op) { return format::find_roles(op) || find_operator(cut_name(op)); }

const pte::EValue* value_at(const pte::ExecutionPlan& plan, Int index) {
  return index >= 0 && index < format::size_of(plan.values()) ? plan.values()->Get(static_cast<std::uint32_t>(index))
                                                              : nullptr;
}

const pte::Tensor* tensor_at(const pte::ExecutionPlan& plan, Int index) {
  const auto* value = value_at(plan, index);
  return value ? value->val_as_Tensor() : nullptr;
}

}  // namespace assay::inspect
