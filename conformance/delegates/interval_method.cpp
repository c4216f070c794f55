#include "conformance/delegates/interval_method.h"

#include "reference/program/taken.h"

namespace assay::delegates {
namespace {

Fault not_computed(const auto&... parts) {
  return Fault(Outcome::unsupported, "delegate.graph", concat("right values are not known: ", parts...));
}

RuntimeOptions with(CallOperator call, const Budget& budget) {
  RuntimeOptions options;
  options.budget = budget;
  options.call = std::move(call);
  return options;
}

// A tensor with the same elements in row-major order.
Tensor viewed(Tensor t, const Tensor& like) {
  t.sizes = like.sizes, t.dim_order = like.dim_order;
  return t;
}

}  // namespace

IntervalMethod::IntervalMethod(const ValidProgram& program, std::string_view name, std::vector<Arithmetic> arithmetic,
                               const Budget& budget)
    : arithmetic_(std::move(arithmetic)),
      loaded_(program, with([this](const auto&... call) { return answer(call...); }, budget)),
      method_(taken(loaded_.method(name))) {
  const auto& chains = *method_.plan().chains();
  if (chains.size() != 1) throw not_computed(name, " has ", chains.size(), " chains of instructions");
  for (const pte::Instruction* instruction : *chains.Get(0)->instructions())
    if (!instruction->instr_args_as_KernelCall() && !instruction->instr_args_as_FreeCall())
      throw not_computed(name, " has the instruction ",
                         pte::EnumNameInstructionArguments(instruction->instr_args_type()));
}

const pte::KernelCall* IntervalMethod::call_at(std::uint32_t instruction) const {
  const auto& all = *method_.plan().chains()->Get(0)->instructions();
  return instruction < all.size() ? all.Get(instruction)->instr_args_as_KernelCall() : nullptr;
}

std::string_view IntervalMethod::operator_of(const pte::KernelCall& call) const {
  return format::text_of(method_.plan().operators()->Get(static_cast<std::uint32_t>(call.op_index()))->name());
}

std::vector<RightOutput> IntervalMethod::run(std::span<const Value> inputs) {
  const auto& plan = method_.plan();
  for (std::uint32_t i = 0; i < inputs.size(); ++i) {
    require_done(method_.set_input(i, inputs[i]));
    intervals_.erase(place(plan.inputs()->Get(i)));
  }
  calls_ = 0;
  std::uint32_t next = 0;
  do step(next++);
  while (method_.running());
  std::vector<RightOutput> all;
  for (std::uint32_t i = 0; i < format::size_of(plan.outputs()); ++i) all.push_back(output(i));
  return all;
}

void IntervalMethod::step(std::uint32_t instruction) {
  call_ = call_at(instruction);
  require_done(method_.step());
  if (!call_ || !operator_of(*call_).starts_with("executorch_prim::et_")) return;
  if (operator_of(*call_) != "executorch_prim::et_view") throw not_computed("calls ", operator_of(*call_));
  keep_view(*call_);
}

RightOutput IntervalMethod::output(std::uint32_t i) const {
  const Value value = taken(method_.output(i));
  const Tensor* out = std::get_if<Tensor>(&value);
  if (!out) throw not_computed("output ", i, " is no tensor");
  return {*out, interval_at(method_.plan().outputs()->Get(i)).value_or(Interval{*out, *out})};
}

// A tensor of this value of the plan, or the tensors of its list.
std::vector<IntervalMethod::Index> IntervalMethod::tensors_at(Index value) const {
  const auto* list = method_.plan().values()->Get(static_cast<std::uint32_t>(value))->val_as_TensorList();
  return list ? std::vector<Index>(list->items()->begin(), list->items()->end()) : std::vector<Index>{value};
}

std::optional<Interval> IntervalMethod::interval_at(Index tensor) const {
  const auto found = intervals_.find(place(tensor));
  if (found == intervals_.end()) return {};
  const auto& [lowest, highest, common_error] = found->second;
  const Tensor is = std::get<Tensor>(taken(method_.value(static_cast<std::size_t>(tensor))));
  if (is.bytes.size() != lowest.bytes.size() || is.dtype != lowest.dtype)
    throw not_computed("value ", tensor, " is a part of another value");
  return Interval{viewed(lowest, is), viewed(highest, is), common_error};
}

std::vector<Argument> IntervalMethod::with_intervals(const Operator& op, std::span<const Value> arguments) const {
  std::vector<Argument> all;
  for (std::uint32_t i = 0; i < arguments.size(); ++i) {
    all.push_back({arguments[i]});
    const bool has_tensors =
        std::holds_alternative<Tensor>(arguments[i]) || std::holds_alternative<Tensors>(arguments[i]);
    if (!has_tensors || op.arguments[i].out) continue;
    for (const Index t : tensors_at(call_->args()->Get(i))) all.back().intervals.push_back(interval_at(t));
  }
  return all;
}

// A call of the program.
Answer IntervalMethod::answer(const Operator& op, std::span<Value> arguments, const Budget& budget) {
  const Arithmetic arithmetic = calls_ < arithmetic_.size() ? arithmetic_[calls_] : Arithmetic::rounded;
  ++calls_;
  judge::Expectation expected = judge::expect(op, arguments, budget);
  if (expected.answer.outcome != Outcome::ok) return expected.answer;
  std::vector<Interval> outs = intervals_of(op, with_intervals(op, arguments), expected, arithmetic, budget);
  auto next = outs.begin();
  for (std::uint32_t i = 0; i < arguments.size(); ++i)
    if (op.arguments[i].out)
      for (const Index out : tensors_at(call_->args()->Get(i))) keep(out, std::move(*next++));
  std::ranges::move(expected.arguments, arguments.begin());
  return expected.answer;
}

void IntervalMethod::keep(Index out, Interval interval) {
  if (interval.is_point()) return void(intervals_.erase(place(out)));
  if (!method_.plan().values()->Get(static_cast<std::uint32_t>(out))->val_as_Tensor())
    throw not_computed("a number depends on numbers that are rounded");
  intervals_.insert_or_assign(place(out), std::move(interval));
}

void IntervalMethod::keep_view(const pte::KernelCall& view) {
  const auto self = interval_at(view.args()->Get(0));
  const Index out = view.args()->Get(2);
  if (!self) return void(intervals_.erase(place(out)));
  const Tensor is = std::get<Tensor>(taken(method_.value(static_cast<std::size_t>(out))));
  keep(out, {viewed(self->lowest, is), viewed(self->highest, is), self->most_common_error});
}

}  // namespace assay::delegates
