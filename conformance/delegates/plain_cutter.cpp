#include "conformance/delegates/plain_cutter.h"

#include <algorithm>

#include "conformance/delegates/place_of_tensor.h"
#include "conformance/inspect/listing.h"
#include "reference/program/build.h"
#include "reference/program/taken.h"

namespace assay::delegates {
namespace {

Fault not_cut(const auto&... parts) {
  return Fault(Outcome::unsupported, "delegate.build", concat("the plain program cannot be cut: ", parts...));
}

// Gives each tensor of these memory of its own, and no other tensor.
void place(PlanBuilder& plan, const std::set<std::int32_t>& tensors) {
  constexpr std::uint64_t alignment = 64;
  plan.plan().non_const_buffer_sizes = {0}, plan.plan().non_const_buffer_device.clear();
  for (const auto& value : plan.plan().values)
    if (pte::TensorT* t = value->val.AsTensor()) t->allocation_info.reset();
  for (const std::int32_t t : tensors) {
    if (plan.at(t).shape_dynamism == pte::TensorShapeDynamism::DYNAMIC_UNBOUND)
      plan.at(t).shape_dynamism = pte::TensorShapeDynamism::DYNAMIC_BOUND;
    const auto& sizes = plan.plan().non_const_buffer_sizes;
    const auto used = sizes.size() > 1 ? static_cast<std::uint64_t>(sizes[1]) : 0;
    plan.place(t, 1, (used + alignment - 1) / alignment * alignment);
  }
}

// Adds the call. A view becomes a copy, so that each tensor has memory of its own.
void add(PlanBuilder& plan, std::unique_ptr<pte::InstructionT> instruction) {
  const pte::KernelCallT& call = *instruction->instr_args.AsKernelCall();
  if (plan.plan().operators[static_cast<std::size_t>(call.op_index)]->name == "executorch_prim::et_view")
    plan.call("aten::view_copy.out", {call.args[0], call.args[1], call.args[2], call.args[2]});
  else
    plan.plan().chains[0]->instructions.push_back(std::move(instruction));
}

}  // namespace

PlainCutter::PlainCutter(const ValidProgram& plain, std::string_view method, std::span<const Value> inputs,
                         const Budget& budget)
    : plain_(plain), reserved_(budget), loaded_(plain, {.budget = budget}), method_(taken(loaded_.method(method))) {
  for (std::uint32_t i = 0; i < inputs.size(); ++i) {
    require_done(method_.set_input(i, inputs[i]));
    const Index input = method_.plan().inputs()->Get(i);
    if (inspect::tensor_at(method_.plan(), input))
      keep(input);
    else
      number_inputs_.push_back(input);
  }
  std::uint32_t next = 0;
  do {
    require_done(method_.step());
    note(next++);
  } while (method_.running());
  for (const Index t : *method_.plan().outputs())
    if (inspect::tensor_at(method_.plan(), t)) note_base(t);
}

// The present value of a tensor. That of a constant stays.
Tensor PlainCutter::tensor(Index i) const {
  return std::get<Tensor>(taken(method_.value(static_cast<std::size_t>(i))));
}

// Notes the value of a tensor that just got one.
void PlainCutter::keep(Index i) {
  Tensor value = tensor(i);
  reserved_.add(value.bytes.size(), "a value");
  if (!values_.emplace(i, std::move(value)).second || inspect::tensor_at(method_.plan(), i)->data_buffer_idx() != 0)
    throw not_cut("value ", i, " of ", format::text_of(method_.plan().name()), " is changed");
  order_.push_back(i);
}

// Notes which tensor has written the elements of a tensor that is read and that no call has written.
void PlainCutter::note_base(Index tensor) {
  const pte::Tensor* t = inspect::tensor_at(method_.plan(), tensor);
  if (values_.contains(tensor) || !t->allocation_info() || t->data_buffer_idx() != 0) return;
  const auto place = [this](Index i) { return place_of_tensor(method_.plan(), i); };
  const auto base = std::find_if(order_.rbegin(), order_.rend(), [&](Index i) { return place(i) == place(tensor); });
  if (base == order_.rend() || values_.at(*base).bytes.size() != this->tensor(tensor).bytes.size())
    throw not_cut("value ", tensor, " of ", format::text_of(method_.plan().name()), " is not written as a whole");
  bases_.emplace(tensor, *base);
}

PlainCutter::Index PlainCutter::base_of(Index tensor) const {
  const auto base = bases_.find(tensor);
  return base == bases_.end() ? tensor : base->second;
}

void PlainCutter::note(std::uint32_t instruction) {
  const pte::ExecutionPlan& plan = method_.plan();
  const pte::Instruction& is = *plan.chains()->Get(0)->instructions()->Get(instruction);
  if (!is.instr_args_as_KernelCall()) return;  // frees memory
  Call call{instruction, {}, {}, {}, {}};
  for (const inspect::Operand& operand : inspect::listed(plan, is).operands) {
    const bool is_out = operand.role == inspect::Operand::Role::output;
    const std::size_t before = call.reads.size() + call.writes.size();
    inspect::each_tensor(plan, operand.value,
                         [&](Int t) { (is_out ? call.writes : call.reads).push_back(static_cast<Index>(t)); });
    if (call.reads.size() + call.writes.size() > before) continue;
    (is_out ? call.writes_numbers : call.reads_numbers).push_back(static_cast<Index>(operand.value));
    if (const auto* list = inspect::value_at(plan, operand.value)->val_as_IntList())
      for (const std::int64_t item : *list->items()) call.reads_numbers.push_back(static_cast<Index>(item));
  }
  std::ranges::for_each(call.reads, [this](Index t) { note_base(t); });
  std::ranges::for_each(call.writes, [this](Index t) { keep(t); });
  calls_.push_back(std::move(call));
}

// The tensors that calls from this one on, or the outputs of the method, read.
std::set<PlainCutter::Index> PlainCutter::needed_after(std::uint32_t call) const {
  std::set<Index> needed;
  for (const Index t : *method_.plan().outputs()) needed.insert(base_of(t));
  for (const Call& c : std::span(calls_).subspan(call))
    for (const Index t : c.reads) needed.insert(base_of(t));
  return needed;
}

PlainPart PlainCutter::cut(std::uint32_t begin, std::uint32_t end) const {
  const std::set<Index> needed = needed_after(end);
  std::set<Index> inside, inputs, outputs, numbers(number_inputs_.begin(), number_inputs_.end());
  for (std::uint32_t i = 0; i < begin; ++i)
    numbers.insert(calls_[i].writes_numbers.begin(), calls_[i].writes_numbers.end());
  for (const Call& call : std::span(calls_).subspan(begin, end - begin)) {
    for (const Index n : call.reads_numbers)
      if (numbers.contains(n))
        throw not_cut("instruction ", call.instruction, " needs number ", n, ", which is computed before");
    for (const Index t : call.reads)
      if (const Index base = base_of(t); values_.contains(base) && !inside.contains(base)) inputs.insert(base);
    inside.insert(call.writes.begin(), call.writes.end());
  }
  std::ranges::set_intersection(inside, needed, std::inserter(outputs, outputs.end()));
  PlainPart cut{decoded(*plain_), {}};
  auto& plans = cut.program.tables.execution_plan;
  std::erase_if(plans, [&](const auto& p) { return p->name != format::text_of(method_.plan().name()); });
  PlanBuilder plan(*plans.front());
  plan.plan().name = "forward", plan.plan().inputs.clear(), plan.plan().outputs.clear();
  std::vector<std::unique_ptr<pte::InstructionT>> all;
  std::swap(all, plan.plan().chains[0]->instructions);
  plan.plan().chains[0]->stacktrace.clear();
  for (const Call& call : std::span(calls_).subspan(begin, end - begin)) add(plan, std::move(all[call.instruction]));
  for (const Index t : order_) {
    if (inputs.contains(t)) plan.plan().inputs.push_back(t), cut.inputs.push_back(values_.at(t));
    if (outputs.contains(t)) plan.plan().outputs.push_back(t);
  }
  inside.merge(inputs);
  place(plan, inside);
  for (const auto& [tensor, base] : bases_)
    if (const auto& memory = plan.at(base).allocation_info)
      plan.at(tensor).allocation_info = std::make_unique<pte::AllocationDetailsT>(*memory);
  return cut;
}

std::string PlainCutter::described(std::uint32_t call) const {
  const pte::ExecutionPlan& plan = method_.plan();
  const Call& c = calls_[call];
  const inspect::Listed listed = inspect::listed(plan, *plan.chains()->Get(0)->instructions()->Get(c.instruction));
  const auto all_of = [this](const std::vector<Index>& tensors) {
    std::string text;
    for (const Index t : tensors) {
      const auto value = values_.find(t);
      text += concat(text.empty() ? "" : ", ", describe(value == values_.end() ? tensor(t) : value->second));
    }
    return text;
  };
  return concat("instruction ", c.instruction, " of ", format::text_of(plan.name()), ", ", listed.name, ": ",
                all_of(c.reads), " -> ", all_of(c.writes));
}

}  // namespace assay::delegates
