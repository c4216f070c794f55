#include "conformance/programs/listing.h"

#include <algorithm>
#include <span>

#include "conformance/text/printable.h"
#include "reference/budget.h"
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
Buffer<Operand> pattern(std::string_view name) {
  Buffer<Operand> operands;
  const auto found = std::ranges::find(handled, name, &Handled::name);
  if (found != std::end(handled)) return {std::begin(found->operands), std::end(found->operands)};
  if (const Operator* op = find_operator(name))
    for (const SchemaArgument& a : op->arguments) operands.push_back({a.name, 0, a.out ? Role::output : Role::input});
  return operands;
}

// Of an operator that is not known the last argument is what it returns, which an out argument before it repeats.
Buffer<Operand> unknown(std::span<const std::int32_t> args) {
  Buffer<Operand> operands;
  operands.reserve(args.size());
  const bool repeats = args.size() > 1 && args[args.size() - 2] == args.back();
  for (const std::int32_t value : args.first(args.size() - repeats)) operands.push_back({"", value, Role::input});
  if (!operands.empty()) operands.back().role = Role::output;
  return operands;
}

// What a call returns stands behind its arguments: nothing new where it is the out argument.
Buffer<Operand> operands_of(std::string_view name, std::span<const std::int32_t> args) {
  Buffer<Operand> operands = pattern(name);
  if (operands.empty() || operands.size() > args.size()) return unknown(args);
  const std::size_t arguments = operands.size();
  for (std::size_t i = 0; i < arguments; ++i) operands[i].value = args[i];
  operands.reserve(args.size());
  for (const std::int32_t value : args.subspan(arguments))
    if (std::ranges::count(std::span(operands).first(arguments), Int{value}, &Operand::value) == 0)
      operands.push_back({"result", value, Role::output});
  return operands;
}

std::string name_of(const pte::ExecutionPlan& plan, const pte::KernelCall& call) {
  const auto index = static_cast<std::uint32_t>(call.op_index());
  return call.op_index() >= 0 && index < format::size_of(plan.operators())
             ? cut_name(*plan.operators()->Get(index))
             : "operator " + std::to_string(call.op_index());
}

}  // namespace

Listed listed(const pte::ExecutionPlan& plan, const pte::Instruction& instruction) {
  if (const auto* call = instruction.instr_args_as_KernelCall()) {
    const std::span args = format::items(call->args());
    Budget::Scope::work(static_cast<Int>(args.size()));
    const std::string name = name_of(plan, *call);
    return {name, operands_of(name, args), {}, {}};
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
  const auto part = [](const flatbuffers::String* s) { return std::string(format::text_of(s).substr(0, most_shown)); };
  return part(op.name()) + (format::text_of(op.overload()).empty() ? "" : '.' + part(op.overload()));
}

bool is_handled(std::string_view name) {
  return std::ranges::find(handled, name, &Handled::name) != std::end(handled);
}

bool is_known_operator(std::string_view name) { return find_operator(name) || is_handled(name); }

Fault no_method(const pte::Program& program, std::string_view name) {
  constexpr std::uint32_t most = 20;
  const std::uint32_t methods = format::size_of(program.execution_plan());
  std::string names;
  for (const pte::ExecutionPlan& plan : tables(program.execution_plan()) | std::views::take(most))
    names += (names.empty() ? "" : ", ") + shown(format::text_of(plan.name()));
  return {Outcome::invalid, "G3",
          text("there is no method ", Quoted{name}, "; there are: ", names, methods > most ? ", ..." : "")};
}

const pte::EValue* value_at(const pte::ExecutionPlan& plan, Int index) {
  return index >= 0 && index < format::size_of(plan.values()) ? plan.values()->Get(static_cast<std::uint32_t>(index))
                                                              : nullptr;
}

const pte::Tensor* tensor_at(const pte::ExecutionPlan& plan, Int index) {
  const auto* value = value_at(plan, index);
  return value ? value->val_as_Tensor() : nullptr;
}

}  // namespace assay
