#include "conformance/programs/listing.h"

#include <algorithm>
#include <span>

#include "reference/operator.h"

namespace assay {
namespace {

using Role = Operand::Role;

// Those that work on memory instead of values, and stand in no specification of operators.
struct Handled {
  std::string_view name;
  Operand operands[3];
};
const Handled handled[] = {
    {"executorch_prim::et_view.default",
     {{"self", 0, Role::input}, {"size", 1, Role::input}, {"out", 2, Role::output}}},
    {"executorch_prim::et_copy_index.tensor",
     {{"copy_to", 0, Role::output}, {"copy_from", 1, Role::input}, {"index", 2, Role::input}}},
};

// Names and roles by position; empty where the operator is not known.
std::vector<Operand> pattern(std::string_view name) {
  std::vector<Operand> operands;
  const auto found = std::ranges::find(handled, name, &Handled::name);
  if (found != std::end(handled)) return {std::begin(found->operands), std::end(found->operands)};
  if (const Operator* op = find_operator(name))
    for (const SchemaArgument& a : op->arguments)
      operands.push_back({std::string(a.name), 0, a.out ? Role::output : Role::input});
  return operands;
}

// Of an operator that is not known the last argument is what it returns, which an out argument before it repeats.
std::vector<Operand> unknown(const std::vector<std::int32_t>& args) {
  std::vector<Operand> operands;
  const bool repeats = args.size() > 1 && args[args.size() - 2] == args.back();
  for (const std::int32_t value : std::span(args).first(args.size() - repeats))
    operands.push_back({"", value, Role::input});
  if (!operands.empty()) operands.back().role = Role::output;
  return operands;
}

std::vector<Operand> operands_of(std::string_view name, const std::vector<std::int32_t>& args) {
  std::vector<Operand> operands = pattern(name);
  if (operands.empty() || operands.size() > args.size()) return unknown(args);
  for (std::size_t i = 0; i < operands.size(); ++i) operands[i].value = args[i];
  return operands;
}

}  // namespace

Listed listed(const pte::ExecutionPlanT& plan, const pte::InstructionT& instruction) {
  const auto& what = instruction.instr_args;
  if (const auto* call = what.AsKernelCall()) {
    const bool there = call->op_index >= 0 && static_cast<std::size_t>(call->op_index) < plan.operators.size();
    const std::string name = there ? operator_name(*plan.operators[static_cast<std::size_t>(call->op_index)])
                                   : "operator " + std::to_string(call->op_index);
    return {name, operands_of(name, call->args), {}, {}};
  }
  Listed l{"FreeCall", {}, {}, {}};
  if (const auto* call = what.AsDelegateCall()) {
    l.name = "DelegateCall", l.delegate = call->delegate_index;
    for (const std::int32_t value : call->args) l.operands.push_back({"", value, Role::either});
  } else if (const auto* move = what.AsMoveCall()) {
    l.name = "MoveCall", l.operands = {{"", move->move_from, Role::input}, {"", move->move_to, Role::output}};
  } else if (const auto* jump = what.AsJumpFalseCall()) {
    l.name = "JumpFalseCall", l.operands = {{"", jump->cond_value_index, Role::input}},
    l.target = jump->destination_instruction;
  } else if (const auto* free = what.AsFreeCall()) {
    l.operands = {{"", free->value_index, Role::input}};
  }
  return l;
}

bool is_known_operator(std::string_view name) {
  return find_operator(name) || std::ranges::find(handled, name, &Handled::name) != std::end(handled);
}

const pte::KernelTypesUnion* value_at(const pte::ExecutionPlanT& plan, Int index) {
  return index >= 0 && static_cast<std::size_t>(index) < plan.values.size()
             ? &plan.values[static_cast<std::size_t>(index)]->val
             : nullptr;
}

std::vector<Int> tensors_of(const pte::ExecutionPlanT& plan, Int index) {
  const auto* value = value_at(plan, index);
  if (!value) return {};
  std::vector<Int> all;
  if (value->type == pte::KernelTypes::Tensor) all = {index};
  if (const auto* list = value->AsTensorList()) all.assign(list->items.begin(), list->items.end());
  if (const auto* list = value->AsOptionalTensorList()) all.assign(list->items.begin(), list->items.end());
  std::erase_if(all, [&](Int i) {
    const auto* v = value_at(plan, i);
    return !v || v->type != pte::KernelTypes::Tensor;
  });
  return all;
}

}  // namespace assay
