#include "reference/runtime/call_rules.h"

#include <algorithm>

#include "reference/program/checks.h"
#include "reference/runtime/storage.h"

namespace assay {
namespace {

using pte::KernelTypes;

std::size_t index(std::int32_t i) { return static_cast<std::size_t>(i); }

// What an operand may be: one value, or one of some kinds.
struct Operand {
  std::vector<Value> kinds;
  bool known = true;
};

// The values of a plan, as far as they are known before it runs.
class KnownValues {
 public:
  explicit KnownValues(const pte::ExecutionPlanT& plan) : plan_(plan), replaced_(plan.values.size()) {
    for (const std::int32_t i : plan.inputs) replace_number(i);
    for (const auto& chain : plan.chains)
      for (const auto& instruction : chain->instructions) execute(instruction->instr_args);
    if (!moves_keep_layouts_)
      for (const std::size_t to : moved_to_) replaced_[to] = true;
  }

  const pte::TensorT* tensor(std::size_t i) const { return plan_.values[i]->val.AsTensor(); }

  Operand operator[](std::size_t i) const {
    const pte::KernelTypesUnion& v = plan_.values[i]->val;
    if (replaced_[i] && is_number(v.type)) return {{Value(), Int{0}, 0.0, false}, false};
    if (const auto* list = v.AsIntList()) return integers(*list, !replaced_[i]);
    if (const auto* list = v.AsTensorList()) return tensors(list->items, !replaced_[i]);
    if (const auto* list = v.AsOptionalTensorList()) return tensors(list->items, !replaced_[i]);
    return {{declared(v)}, !replaced_[i]};
  }

 private:
  void replace_number(std::int32_t i) {
    if (!tensor(index(i))) replaced_[index(i)] = true;
  }

  void execute(const pte::InstructionArgumentsUnion& what) {
    if (const auto* kernel = what.AsKernelCall())
      call(find_operator(operator_name(*plan_.operators[index(kernel->op_index)])), kernel->args);
    if (const auto* delegate = what.AsDelegateCall())
      std::ranges::for_each(delegate->args, [this](auto i) { replace_number(i); });
    if (const auto* move = what.AsMoveCall()) this->move(index(move->move_from), index(move->move_to));
  }

  // An operator that the spec does not have may write any number.
  void call(const Operator* op, const std::vector<std::int32_t>& args) {
    const std::size_t taken = op ? op->arguments.size() - op->mutated() : 0;
    for (std::size_t i = 0; i < args.size(); ++i)
      if (!op || (i < taken && op->arguments[i].is_out_number())) replace_number(args[i]);
    if (!op || args.size() != taken + 1) return;
    const std::vector<std::size_t> operand = operands(*op, args);
    if (const std::size_t out = operand[operand.size() - op->outs()]; out != index(args.back()))
      move(out, index(args.back()));
  }

  void move(std::size_t from, std::size_t to) {
    const pte::TensorT *a = tensor(from), *b = tensor(to);
    if (a && b) {
      moved_to_.push_back(to);
      moves_keep_layouts_ = moves_keep_layouts_ && same_layout(*a, *b) && a->shape_dynamism == b->shape_dynamism;
    } else {
      replaced_[to] = true;
    }
  }

  static Tensor tensor(const pte::TensorT& t) {
    const HeldTensor held = declared_tensor(t);
    const bool fixed = held.dynamism == HeldTensor::Dynamism::fixed;
    return {held.dtype, fixed ? held.sizes : Dims::unknown(held.sizes.size()), held.dim_order, {}};
  }

  static Value declared(const pte::KernelTypesUnion& v) {
    if (const auto* t = v.AsTensor()) return tensor(*t);
    if (const auto* n = v.AsInt()) return Int{n->int_val};
    if (const auto* d = v.AsDouble()) return d->double_val;
    if (const auto* b = v.AsBool()) return b->bool_val;
    if (const auto* s = v.AsString()) return s->string_val;
    if (const auto* l = v.AsDoubleList()) return l->items;
    if (const auto* l = v.AsBoolList()) return Bools(l->items.begin(), l->items.end());
    return {};
  }

  Operand integers(const pte::IntListT& list, bool known) const {
    Ints ints;
    for (const std::int64_t i : list.items) {
      const auto* n = plan_.values[static_cast<std::size_t>(i)]->val.AsInt();
      known = known && n && !replaced_[static_cast<std::size_t>(i)];
      ints.push_back(known ? n->int_val : 0);
    }
    return {{std::move(ints)}, known};
  }

  Operand tensors(const std::vector<std::int32_t>& items, bool known) const {
    Tensors all;
    for (const std::int32_t i : items) {
      const pte::TensorT* t = i < 0 ? nullptr : tensor(index(i));
      known = known && !(t && replaced_[index(i)]);
      all.push_back(t ? std::optional(tensor(*t)) : std::nullopt);
    }
    return {{std::move(all)}, known};
  }

  const pte::ExecutionPlanT& plan_;
  std::vector<bool> replaced_;  // by an input or an instruction
  std::vector<std::size_t> moved_to_;
  bool moves_keep_layouts_ = true;
};

class CallCheck {
 public:
  CallCheck(const pte::ExecutionPlanT& plan, CallFaults& found) : plan_(plan), values_(plan), found_(found) {}

  void run(const pte::KernelCallT& call, const Place& place) {
    const std::string name = operator_name(*plan_.operators[index(call.op_index)]);
    const Operator* op = find_operator(name);
    if (!op) return void(++found_.not_asked);
    try {
      ++(found_.*ask(*op, operands(*op, call.args)));
    } catch (const Fault& f) {
      const std::string where = text(place.text(), " (", name, ")", f.place.empty() ? "" : ", ", f.place);
      if (found_.faults.size() < 100)
        found_.faults.emplace_back(f.outcome, f.rule, f.message, where);
      else
        ++found_.more;
    }
  }

 private:
  using Count = Int CallFaults::*;

  Count ask(const Operator& op, const std::vector<std::size_t>& operand) const {
    std::vector<Value> arguments;
    bool known = true;
    for (std::size_t i = 0; i < operand.size(); ++i) {
      const SchemaArgument& a = op.arguments[i];
      Operand o = a.is_out_number() ? Operand{{Value()}} : values_[operand[i]];
      const bool fits = std::ranges::any_of(o.kinds, [&](const Value& v) { return is_of_type(v, a); });
      const bool there = !a.out || a.is_out_number() || !std::holds_alternative<std::monostate>(o.kinds.front());
      if (!fits || !there)
        throw broken("I10", {nullptr, a.name}, "must be of type ", a.type, ", but is ", kind_name(o.kinds.front()));
      known = known && o.known;
      arguments.push_back(std::move(o.kinds.front()));
    }
    return known ? ask(op, operand, std::move(arguments)) : &CallFaults::not_asked;
  }

  Count ask(const Operator& op, const std::vector<std::size_t>& operand, std::vector<Value> arguments) const try {
    const Answer answer = call(op, arguments, {}, Mode::rules);
    if (answer.outcome == Outcome::exhausted || !answer.unknown.empty()) return &CallFaults::in_part;
    if (answer.outcome != Outcome::ok) throw refusal(op, answer);
    for (std::size_t i = operand.size() - op.outs(); i < operand.size(); ++i) check_result(arguments[i], operand[i]);
    return &CallFaults::in_full;
  } catch (const Unknown&) {
    return &CallFaults::in_part;
  }

  void check_result(const Value& result, std::size_t i) const {
    if (const Tensor* t = std::get_if<Tensor>(&result)) check_result(*t, i);
    if (const Tensors* list = std::get_if<Tensors>(&result))
      for (std::size_t k = 0; k < list->size(); ++k)
        check_result(*(*list)[k], index(plan_.values[i]->val.AsTensorList()->items[k]));
  }

  void check_result(const Tensor& result, std::size_t i) const {
    declared_tensor(*values_.tensor(i)).check_sizes(result.sizes, "T24", {nullptr, "result"});
  }

  const pte::ExecutionPlanT& plan_;
  KnownValues values_;
  CallFaults& found_;
};

}  // namespace

std::vector<std::size_t> operands(const Operator& op, std::span<const std::int32_t> args) {
  const std::size_t taken = op.arguments.size() - op.mutated();
  if (args.size() != taken && args.size() != taken + 1)
    throw broken("I9", {}, "has ", args.size(), " arguments, but ", op.name, " takes ", taken, " and its result");
  std::vector<std::size_t> values(args.begin(), args.begin() + static_cast<std::ptrdiff_t>(taken));
  values.resize(op.arguments.size());
  for (std::size_t i = 0; i < taken; ++i)
    if (op.arguments[i].mutated) values[op.new_value_of(i)] = values[i];
  return values;
}

Fault refusal(const Operator& op, const Answer& answer) {
  if (answer.rule == text(op.id, ".arguments")) return broken("I10", {}, answer.message);
  return Fault(answer.outcome, answer.rule, answer.message);
}

CallFaults faults_of_calls(const ValidProgram& program) {
  CallFaults found;
  const auto& plans = program->tables.execution_plan;
  for (std::size_t p = 0; p < plans.size(); ++p) {
    CallCheck check(*plans[p], found);
    const Place plan{nullptr, "plan", static_cast<Int>(p)};
    for (std::size_t c = 0; c < plans[p]->chains.size(); ++c) {
      const Place chain = plan.in("chain", static_cast<Int>(c));
      const auto& instructions = plans[p]->chains[c]->instructions;
      for (std::size_t i = 0; i < instructions.size(); ++i)
        if (const auto* kernel = instructions[i]->instr_args.AsKernelCall())
          check.run(*kernel, chain.in("instruction", static_cast<Int>(i)));
    }
  }
  return found;
}

}  // namespace assay
