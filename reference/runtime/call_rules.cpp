#include "reference/runtime/call_rules.h"

#include <algorithm>

#include "format/method.h"
#include "reference/runtime/storage.h"

namespace assay {
namespace {

using format::is_number;
using format::items;
using format::size_of;
using pte::KernelTypes;

template <class I>
std::size_t index(I i) {
  return static_cast<std::size_t>(i);
}

template <class T>
Dims dims(const flatbuffers::Vector<T>* list) {
  Dims d;
  for (const T n : items(list)) d.push_back(n);
  return d;
}

// What an operand may be: one value, or one of some kinds.
struct Operand {
  std::vector<Value> kinds;
  bool known = true;
};

// The values of a plan, as far as they are known before it runs.
class KnownValues {
 public:
  explicit KnownValues(const pte::ExecutionPlan& plan) : plan_(plan), replaced_(size_of(plan.values())) {
    for (const std::int32_t i : items(plan.inputs())) replace_number(index(i));
    for (const auto* chain : *plan.chains())
      for (const auto* instruction : *chain->instructions()) execute(*instruction);
    if (!moves_keep_layouts_)
      for (const std::size_t to : moved_to_) replaced_[to] = true;
  }

  const pte::EValue& declared(std::size_t i) const { return *plan_.values()->Get(static_cast<std::uint32_t>(i)); }
  const pte::Tensor* tensor(std::size_t i) const { return declared(i).val_as_Tensor(); }

  Operand operator[](std::size_t i) const {
    const pte::EValue& v = declared(i);
    const bool known = !replaced_[i];
    if (const auto* l = v.val_as_IntList()) return integers(items(l->items()), known);
    if (const auto* l = v.val_as_TensorList()) return tensors(items(l->items()), known);
    if (const auto* l = v.val_as_OptionalTensorList()) return tensors(items(l->items()), known);
    if (!known && is_number(v.val_type())) return {{Value(), Int{0}, 0.0, false}, false};
    return {{value_of(v)}, known};
  }

 private:
  void replace_number(std::size_t i) {
    if (!tensor(i)) replaced_[i] = true;
  }

  void execute(const pte::Instruction& what) {
    if (const auto* call = what.instr_args_as_KernelCall()) {
      const auto& op = *plan_.operators()->Get(static_cast<std::uint32_t>(call->op_index()));
      execute(find_operator(operator_name(op)), items(call->args()));
    }
    if (const auto* delegate = what.instr_args_as_DelegateCall())
      for (const std::int32_t i : items(delegate->args())) replace_number(index(i));
    if (const auto* move = what.instr_args_as_MoveCall()) this->move(index(move->move_from()), index(move->move_to()));
  }

  // An operator that the spec does not have may write any number.
  void execute(const Operator* op, std::span<const std::int32_t> args) {
    const std::size_t taken = op ? op->arguments.size() - op->mutated() : 0;
    for (std::size_t i = 0; i < args.size(); ++i)
      if (!op || (i < taken && op->arguments[i].is_out_number())) replace_number(index(args[i]));
    if (!op || args.size() != taken + 1) return;
    const std::vector<std::size_t> operand = operands(*op, args);
    const std::size_t out = operand[operand.size() - op->outs()], returned = index(args.back());
    if (out != returned) move(out, returned);
  }

  void move(std::size_t from, std::size_t to) {
    const pte::Tensor *a = tensor(from), *b = tensor(to);
    if (!a || !b) return void(replaced_[to] = true);
    moved_to_.push_back(to);
    moves_keep_layouts_ = moves_keep_layouts_ && a->scalar_type() == b->scalar_type() &&
                          a->shape_dynamism() == b->shape_dynamism() && dims(a->sizes()) == dims(b->sizes()) &&
                          dims(a->dim_order()) == dims(b->dim_order());
  }

  static Tensor tensor_of(const pte::Tensor& t) {
    const bool fixed = t.shape_dynamism() == pte::TensorShapeDynamism::STATIC;
    const Dims sizes = dims(t.sizes());
    return {*dtype_numbered(static_cast<Int>(t.scalar_type())),
            fixed ? sizes : Dims::unknown(sizes.size()),
            dims(t.dim_order()),
            {}};
  }

  static Value value_of(const pte::EValue& v) {
    if (const auto* t = v.val_as_Tensor()) return tensor_of(*t);
    if (const auto* n = v.val_as_Int()) return Int{n->int_val()};
    if (const auto* d = v.val_as_Double()) return d->double_val();
    if (const auto* b = v.val_as_Bool()) return b->bool_val();
    if (const auto* s = v.val_as_String()) return s->string_val()->str();
    if (const auto* l = v.val_as_DoubleList()) return Doubles(l->items()->begin(), l->items()->end());
    if (const auto* l = v.val_as_BoolList()) return Bools(l->items()->begin(), l->items()->end());
    return {};
  }

  Operand integers(std::span<const std::int64_t> list, bool known) const {
    Ints ints;
    for (const std::int64_t i : list) {
      const auto* n = declared(index(i)).val_as_Int();
      known = known && n && !replaced_[index(i)];
      ints.push_back(known ? n->int_val() : 0);
    }
    return {{std::move(ints)}, known};
  }

  Operand tensors(std::span<const std::int32_t> list, bool known) const {
    Tensors all;
    for (const std::int32_t i : list) {
      const pte::Tensor* t = i < 0 ? nullptr : tensor(index(i));
      known = known && !(t && replaced_[index(i)]);
      all.push_back(t ? std::optional(tensor_of(*t)) : std::nullopt);
    }
    return {{std::move(all)}, known};
  }

  const pte::ExecutionPlan& plan_;
  std::vector<bool> replaced_;  // by an input or an instruction
  std::vector<std::size_t> moved_to_;
  bool moves_keep_layouts_ = true;
};

class CallCheck {
 public:
  CallCheck(const pte::ExecutionPlan& plan, const Budget& budget, CallFaults& found)
      : plan_(plan), values_(plan), budget_(budget), found_(found) {}

  void run(const pte::KernelCall& call, const Place& place) {
    const std::string name = operator_name(*plan_.operators()->Get(static_cast<std::uint32_t>(call.op_index())));
    const Operator* op = find_operator(name);
    if (!op) return void(++found_.not_asked);
    const Budget::Scope scope(budget_, op->name);
    try {
      ++(found_.*ask(*op, operands(*op, items(call.args()))));
    } catch (const Fault& f) {
      const std::string where = text(text_of(place), " (", name, ")", f.place.empty() ? "" : ", ", f.place);
      if (f.outcome == Outcome::exhausted) throw Fault(f.outcome, f.rule, f.message, where);
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
      Operand o = take(op.arguments[i], operand[i]);
      known = known && o.known;
      arguments.push_back(std::move(o.kinds.front()));
    }
    return known ? ask(op, operand, std::move(arguments)) : &CallFaults::not_asked;
  }

  Operand take(const SchemaArgument& a, std::size_t i) const {
    constexpr Int work_of_operand = 200;  // nanoseconds, likewise of an element
    Budget::Scope::work(work_of_operand * (1 + elements(i)));
    if (a.is_out_number()) return {{Value()}};
    Operand o = values_[i];
    const bool fits = std::ranges::any_of(o.kinds, [&](const Value& v) { return is_of_type(v, a); });
    if (!fits || (a.out && std::holds_alternative<std::monostate>(o.kinds.front())))
      throw broken("I10", {nullptr, a.name}, "must be of type ", a.type, ", but is ", kind_name(o.kinds.front()));
    return o;
  }

  Int elements(std::size_t i) const {
    const pte::EValue& v = values_.declared(i);
    if (const auto* l = v.val_as_IntList()) return size_of(l->items());
    if (const auto* l = v.val_as_TensorList()) return size_of(l->items());
    if (const auto* l = v.val_as_OptionalTensorList()) return size_of(l->items());
    if (const auto* l = v.val_as_DoubleList()) return size_of(l->items());
    if (const auto* l = v.val_as_BoolList()) return size_of(l->items());
    return 0;
  }

  Count ask(const Operator& op, const std::vector<std::size_t>& operand, std::vector<Value> arguments) const try {
    const Answer answer = call(op, arguments, budget_, Mode::rules);
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
        check_result(*(*list)[k], index(items(values_.declared(i).val_as_TensorList()->items())[k]));
  }

  void check_result(const Tensor& result, std::size_t i) const {
    const pte::Tensor& out = *values_.tensor(i);
    HeldTensor held;
    held.declared = dims(out.sizes());
    held.dynamism = static_cast<HeldTensor::Dynamism>(out.shape_dynamism());
    held.check_sizes(result.sizes, "T24", {nullptr, "result"});
  }

  const pte::ExecutionPlan& plan_;
  KnownValues values_;
  const Budget& budget_;
  CallFaults& found_;
};

void check_calls(const pte::ExecutionPlan& plan, const Place& place, const Budget& budget, CallFaults& found) {
  CallCheck check(plan, budget, found);
  for (std::uint32_t c = 0; c < plan.chains()->size(); ++c) {
    const Place chain = place.in("chain", c);
    const auto& instructions = *plan.chains()->Get(c)->instructions();
    for (std::uint32_t i = 0; i < instructions.size(); ++i)
      if (const auto* call = instructions.Get(i)->instr_args_as_KernelCall())
        check.run(*call, chain.in("instruction", i));
  }
}

}  // namespace

std::vector<std::size_t> operands(const Operator& op, std::span<const std::int32_t> args) {
  const std::size_t taken = op.arguments.size() - op.mutated(), returned = op.arguments.back().is_out_number() ? 0 : 1;
  if (args.size() != taken + returned)
    throw broken("I9", {}, "has ", args.size(), " arguments, but ", op.name, " takes ", taken,
                 returned ? " and its result" : " with its result");
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

CallFaults faults_of_calls(const ValidProgram& program, const Budget& budget) {
  CallFaults found;
  const auto& plans = *program->tables().execution_plan();
  try {
    for (std::uint32_t p = 0; p < plans.size(); ++p) check_calls(*plans.Get(p), {nullptr, "plan", p}, budget, found);
  } catch (const Fault& exhausted) {
    found.faults.push_back(exhausted);
  }
  return found;
}

}  // namespace assay
