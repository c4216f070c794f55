#include "reference/runtime/call_rules.h"

#include <concepts>

#include "format/flow_effects.h"
#include "reference/program/memory.h"
#include "reference/runtime/storage.h"

namespace assay {
namespace {

using format::Effect;
using format::items;

std::uint32_t index(std::integral auto i) { return static_cast<std::uint32_t>(i); }

bool same_layout(const pte::Tensor& a, const pte::Tensor& b) {
  return a.scalar_type() == b.scalar_type() && a.shape_dynamism() == b.shape_dynamism() &&
         dims(a.sizes()) == dims(b.sizes()) && dims(a.dim_order()) == dims(b.dim_order());
}

// Sizes that the program only bounds are unknown.
Tensor tensor_of(const pte::Tensor& t) {
  const Dims sizes = dims(t.sizes());
  const bool fixed = t.shape_dynamism() == pte::TensorShapeDynamism::STATIC;
  return {*dtype_numbered(t.scalar_type()), fixed ? sizes : Dims::unknown(sizes.size()), dims(t.dim_order()), {}};
}

template <class List>
List copied(const auto& items) {
  constexpr Int work_of_item = 10;
  Budget::Scope::work(work_of_item * Int{items.size()});
  return List(items.begin(), items.end());
}

// The value itself, unless it is a list of indices of other values.
Value value_of(const pte::EValue& v) {
  if (const auto* t = v.val_as_Tensor()) return tensor_of(*t);
  if (const auto* n = v.val_as_Int()) return Int{n->int_val()};
  if (const auto* d = v.val_as_Double()) return d->double_val();
  if (const auto* b = v.val_as_Bool()) return b->bool_val();
  if (const auto* s = v.val_as_String()) return copied<std::string>(*s->string_val());
  if (const auto* l = v.val_as_DoubleList()) return copied<Doubles>(*l->items());
  if (const auto* l = v.val_as_BoolList()) return copied<Bools>(*l->items());
  return {};
}

// The values of a method that are known before it runs.
class KnownValues {
 public:
  explicit KnownValues(const format::Method& method) : method_(method), replaced_(method.values()) {
    for (const std::int32_t i : items(method.plan().inputs())) replaced_[index(i)] = !method.tensor(index(i));
    for (std::uint32_t i = 0; i < method.instructions(); ++i)
      each_effect(method, method.instruction(i), [this](const Effect& e) { take(e); });
    if (!moves_keep_layouts_)
      for (const std::uint32_t to : moved_to_) replaced_[to] = true;
  }

  // Returns nothing if only an execution knows the value.
  std::optional<Value> operator[](std::uint32_t i) const {
    const pte::EValue& v = method_.value(i);
    if (const auto* l = v.val_as_IntList()) return integers(copied<Ints>(*l->items()));
    if (const auto* l = v.val_as_TensorList()) return tensors(copied<Ints>(*l->items()));
    if (const auto* l = v.val_as_OptionalTensorList()) return tensors(copied<Ints>(*l->items()));
    return replaced_[i] ? std::nullopt : std::optional(value_of(v));
  }

 private:
  void take(const Effect& e) {
    Budget::Scope::work(1);
    if (!writes(e.use)) return;
    if (const pte::Tensor* to = method_.tensor(e.value); !to) {
      replaced_[e.value] = true;
    } else if (e.use == format::Use::moved || e.use == format::Use::returned) {
      moved_to_.push_back(e.value);
      moves_keep_layouts_ = moves_keep_layouts_ && same_layout(*method_.tensor(e.other), *to);
    }
  }

  // The values whose indices a list has.
  std::optional<Value> integers(Ints list) const {
    for (Int& i : list) {
      const pte::Int* n = method_.value(index(i)).val_as_Int();
      if (!n || replaced_[index(i)]) return {};
      i = n->int_val();
    }
    return list;
  }

  std::optional<Value> tensors(const Ints& list) const {
    Tensors all;
    for (const Int i : list) {
      const pte::Tensor* t = i < 0 ? nullptr : method_.tensor(index(i));
      if (t && replaced_[index(i)]) return {};
      all.push_back(t ? std::optional(tensor_of(*t)) : std::nullopt);
    }
    return all;
  }

  const format::Method& method_;
  std::vector<bool> replaced_;  // for each value, whether an input or an instruction replaces it
  std::vector<std::uint32_t> moved_to_;
  bool moves_keep_layouts_ = true;  // each moved tensor is declared like the target of the move
};

void check_result(const Tensor& result, const pte::Tensor& out) {
  HeldTensor held;
  held.declared = dims(out.sizes());
  held.dynamism = static_cast<HeldTensor::Dynamism>(out.shape_dynamism());
  held.check_sizes(result.sizes, "T24", {nullptr, "result"});
}

void check_result(const format::Method& method, const Value& result, std::uint32_t value) {
  if (const Tensor* t = std::get_if<Tensor>(&result)) return check_result(*t, *method.tensor(value));
  const Tensors* list = std::get_if<Tensors>(&result);
  for (std::uint32_t k = 0; list && k < list->size(); ++k)
    check_result(*(*list)[k], *method.tensor(index(method.value(value).val_as_TensorList()->items()->Get(k))));
}

using Count = Int CallFaults::*;  // the counter of the calls that were checked as far as this one

Count ask(const format::Method& method, const KnownValues& values, const Operator& op, const pte::KernelCall& call,
          const Budget& budget) try {
  constexpr Int work_of_call = 1000;
  Budget::Scope::work(work_of_call);
  const std::vector<std::size_t> operand = operands(op, items(call.args()));
  Buffer<Value> arguments;
  for (std::size_t i = 0; i < operand.size(); ++i) {
    auto known = op.arguments[i].is_out_number() ? Value() : values[index(operand[i])];
    if (!known) return &CallFaults::not_asked;
    arguments.push_back(std::move(*known));
  }
  const Answer answer = assay::call(op, arguments, budget, Mode::rules);
  if (answer.outcome == Outcome::exhausted || !answer.unknown.empty()) return &CallFaults::in_part;
  if (answer.outcome != Outcome::ok) throw refusal(op, answer);
  for (std::size_t i = operand.size() - op.outs(); i < operand.size(); ++i)
    check_result(method, arguments[i], index(operand[i]));
  return &CallFaults::in_full;
} catch (const Unknown&) {
  return &CallFaults::in_part;
}

class MethodCalls {
 public:
  MethodCalls(const format::Method& method, const Budget& budget, CallFaults& found)
      : method_(method), values_(method), budget_(budget), found_(found) {
    for (std::uint32_t i = 0; i < format::size_of(method.plan().operators()); ++i)
      operators_.push_back(find_operator(operator_name(*method.plan().operators()->Get(i))));
  }

  void check(const Place& plan) {
    for (std::uint32_t i = 0; i < method_.instructions(); ++i)
      if (const pte::KernelCall* call = method_.kernel_call(i)) {
        const format::Method::Position at = method_.position(i);
        const Place chain = plan.in("chain", at.chain);
        check(*call, chain.in("instruction", at.index));
      }
  }

 private:
  void check(const pte::KernelCall& call, const Place& place) {
    const Operator* op = operators_[index(call.op_index())];
    if (!op) return void(++found_.not_asked);
    try {
      ++(found_.*ask(method_, values_, *op, call, budget_));
    } catch (const Fault& f) {
      const std::string where = text(text_of(place), " (", op->name, ")", f.place.empty() ? "" : ", ", f.place);
      Fault fault(f.outcome, f.rule, f.message, where);
      if (f.outcome == Outcome::exhausted) throw fault;
      if (found_.faults.size() < 100)
        found_.faults.push_back(std::move(fault));
      else
        ++found_.more;
    }
  }

  const format::Method& method_;
  KnownValues values_;
  std::vector<const Operator*> operators_;
  const Budget& budget_;
  CallFaults& found_;
};

}  // namespace

std::vector<std::size_t> operands(const Operator& op, std::span<const std::int32_t> args) {
  std::vector<std::size_t> values(args.begin(), args.end());
  values.resize(op.arguments.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    if (op.arguments[i].mutated) values[op.new_value_of(i)] = values[i];
  return values;
}

Fault refusal(const Operator& op, const Answer& answer) {
  if (answer.rule == text(op.id, ".arguments")) return broken("I10", {}, answer.message);
  return Fault(answer.outcome, answer.rule, answer.message);
}

CallFaults faults_of_calls(const ValidProgram& program, const Budget& budget) {
  CallFaults found;
  const Budget::Scope scope(budget, "the check of calls");
  const auto& plans = *program->tables().execution_plan();
  try {
    for (std::uint32_t p = 0; p < plans.size(); ++p)
      with_workspace([&](format::Workspace& workspace) {
        const format::Method method(*plans.Get(p), workspace);
        if (!workspace.counts_only()) MethodCalls(method, budget, found).check({nullptr, "plan", p});
      });
  } catch (const Fault& exhausted) {
    found.faults.push_back(exhausted);
  }
  return found;
}

}  // namespace assay
