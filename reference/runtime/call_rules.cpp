#include "reference/runtime/call_rules.h"

#include <concepts>

#include "reference/program/memory.h"
#include "reference/runtime/known_values.h"
#include "reference/runtime/storage.h"

namespace assay {
namespace {

using format::items;

std::uint32_t index(std::integral auto i) { return static_cast<std::uint32_t>(i); }

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
      const std::string where = concat(text_of(place), f.place.empty() ? "" : ", ", f.place);
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
  if (answer.rule == concat(op.id, ".arguments")) return broken("I10", {}, answer.message);
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
        if (!workspace.counts_only())
          MethodCalls(method, budget, found).check(format::place_of_plan(program->tables(), p));
      });
  } catch (const Fault& exhausted) {
    found.faults.push_back(exhausted);
  }
  return found;
}

}  // namespace assay
