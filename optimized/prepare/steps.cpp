#include "optimized/prepare/build.h"
#include "optimized/runtime/handles.h"
#include "optimized/runtime/table.h"

// Instructions become steps.
namespace assay::optimized {

using format::items;

namespace {

struct DelegateState {
  const Backend* backend;
  void* delegate;
};

bool run_delegate(const Step& step, Run& run) {
  const auto& state = *static_cast<const DelegateState*>(step.state);
  return state.backend->execute(state.delegate, step.call.arguments, *run.fault);
}

}  // namespace

std::span<Value*> Builder::arguments(Indices args) { return pointers(items(args)); }

void Builder::add(std::uint32_t instruction, bool (*run)(const Step&, Run&), const void* state, const Call& call) {
  made_->steps_[steps_++] = {run, state, call, instruction};
}

bool Builder::make_call(std::uint32_t i, const pte::KernelCall& call) {
  const format::OperatorRoles* roles = method_.roles(call);
  const pte::Operator& op = method_.op(call);
  const format::Place place = where_.in("instruction", method_.position(i).index);
  const auto unsupported = [&](std::string_view sentence) {
    return refuse(fault_, "I4", place, sentence, format::Quoted{format::text_of(op.name())}, ", overload ",
                  format::Quoted{format::text_of(op.overload())});
  };
  if (!roles) return unsupported("there is no operator ");
  const auto all = arguments(call.args());
  if (!has_room()) return false;
  const Call made{roles, all.first(roles->arguments().size()),
                  all.size() > roles->arguments().size() ? all.back() : nullptr};
  if (const Handle* handle = find_handle(roles->name)) return add(i, handle->run, nullptr, made), true;
  const Kernel* kernel = find_kernel(made);
  if (!kernel) kernel = options_.fallback;
  if (!kernel) return unsupported("there is no kernel for a call of these dtypes and this layout of ");
  Stores stores{tables_, packed_};
  const void* state = kernel->prepare ? kernel->prepare(made, stores) : nullptr;
  scratch_ = std::max(scratch_, stores.scratch);
  add(i, kernel->run, state, made);
  return has_room();
}

bool Builder::make_delegate_call(std::uint32_t i, const pte::DelegateCall& call) {
  const pte::BackendDelegate& tables = *plan_.delegates()->Get(static_cast<std::uint32_t>(call.delegate_index()));
  const std::string_view id = format::text_of(tables.id());
  for (const Backend& backend : options_.backends) {
    if (backend.id != id) continue;
    const auto state = tables_.take<DelegateState>(1);
    const auto all = arguments(call.args());
    if (!has_room()) return false;
    Call made{nullptr, all};
    state[0] = {&backend, nullptr};
    if (memories_) {
      state[0].delegate = backend.begin(
          backend.context, {program_.view(), tables, format::payload(program_.view(), tables), named_}, fault_);
      if (!state[0].delegate) return false;
    }
    add(i, run_delegate, state.data(), made);
    return true;
  }
  return refuse(fault_, "D2", where_.in("delegate", call.delegate_index()), "there is no backend ", format::Quoted{id});
}

bool Builder::make_step(std::uint32_t i) {
  const pte::Instruction& instruction = method_.instruction(i);
  if (const auto* kernel = instruction.instr_args_as_KernelCall()) return make_call(i, *kernel);
  if (const auto* delegate = instruction.instr_args_as_DelegateCall()) return make_delegate_call(i, *delegate);
  if (const auto* move = instruction.instr_args_as_MoveCall()) {
    const auto pair = tables_.take<Value*>(2);
    if (!has_room()) return false;
    pair[0] = &values_[static_cast<std::size_t>(move->move_from())],
    pair[1] = &values_[static_cast<std::size_t>(move->move_to())];
    add(i, run_move, nullptr, {nullptr, pair});
    return true;
  }
  if (const auto* jump = instruction.instr_args_as_JumpFalseCall()) {
    const auto condition = tables_.take<Value*>(1);
    const auto target = tables_.take<std::uint32_t>(1);
    if (!has_room()) return false;
    condition[0] = &values_[static_cast<std::size_t>(jump->cond_value_index())];
    target[0] = method_.target(i, *jump);  // an instruction, as yet
    add(i, run_jump, target.data(), {nullptr, condition});
    return true;
  }
  return true;  // what is freed is memory that this runtime does not have
}

bool Builder::make_steps() {
  const std::uint32_t n = method_.instructions();
  format::Workspace::Scope scope(workspace_);
  made_->steps_ = tables_.take<Step>(n);
  step_of_ = workspace_.take<std::uint32_t>(std::uint64_t{n} + 1);
  if (!has_room()) return false;
  for (std::uint32_t i = 0; i < n; ++i) {
    step_of_[i] = steps_;
    if (!make_step(i)) return false;
  }
  step_of_[n] = steps_;
  made_->steps_ = made_->steps_.first(steps_);
  for (Step& step : made_->steps_)
    if (step.run == run_jump) {
      auto& target = *static_cast<std::uint32_t*>(const_cast<void*>(step.state));
      target = step_of_[target];
    }
  return true;
}

}  // namespace assay::optimized
