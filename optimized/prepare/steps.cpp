#include <algorithm>

#include "optimized/prepare/build.h"
#include "optimized/runtime/handles.h"
#include "optimized/runtime/table.h"

// Calls become steps, each of which knows who does it.
namespace assay::optimized {
namespace {

bool run_delegate(const Step& step, Run& run) {
  const auto& delegate = *static_cast<const Delegate*>(step.state);
  return delegate.backend->execute(delegate.begun, step.call.arguments, run.left, *run.fault);
}

}  // namespace

bool Builder::make_step(std::uint32_t i) {
  const Planned& planned = calls_[i];
  if (planned.dead) return true;
  const auto add = [&](auto run, const void* state, const Call& call, const char* by, bool asks = false) {
    made_->steps_[steps_++] = {run, state, call, i, by, asks};
    return has_room();
  };
  if (planned.call.roles) {
    const Call& call = planned.call;
    if (const Handle* handle = find_handle(call.roles->name)) return add(handle->run, nullptr, call, "handle");
    format::Text operands;
    write_operands(call, operands);
    const Kernel* kernel = find_kernel(call, operands.view());
    if (!kernel) kernel = options_.fallback;
    if (!kernel)
      return refuse(fault_, "I4", where_.in("instruction", method_.position(i).index), "there is no kernel of ",
                    call.roles->name, " for ", operands.view());
    Stores stores{tables_, packed_};
    stores.threads = options_.threads.count;
    stores.prepared = &copies_;
    const std::uint64_t packed = packed_.bytes();
    const void* state = kernel->prepare ? kernel->prepare(call, stores) : nullptr;
    if (stores.refused)
      return refuse(fault_, "V4", where_.in("instruction", method_.position(i).index), stores.refused);
    if (packed_.bytes() > packed)
      packed_.note({reinterpret_cast<const char*>(&i), sizeof i}), packed_.note(kernel->name);
    scratch_ = std::max(scratch_, stores.scratch);
    return add(kernel->run, state, call, kernel->name, !planned.is_typed);
  }
  if (const auto* delegate = planned.instruction->instr_args_as_DelegateCall()) {
    return add(run_delegate, &made_->delegates_[static_cast<std::size_t>(delegate->delegate_index())], planned.call,
               "delegate");
  }
  if (const auto* move = planned.instruction->instr_args_as_MoveCall()) {
    const std::int32_t ends[] = {move->move_from(), move->move_to()};
    return add(run_move, nullptr, {nullptr, pointers(ends)}, "move");
  }
  if (const auto* jump = planned.instruction->instr_args_as_JumpFalseCall()) {
    const std::int32_t condition[] = {jump->cond_value_index()};
    const auto target = tables_.take<std::uint32_t>(1);
    if (!has_room()) return false;
    target[0] = method_.target(i, *jump);  // an instruction, as yet
    return add(run_jump, target.data(), {nullptr, pointers(condition)}, "jump");
  }
  return true;  // what is freed is memory that this runtime does not have
}

bool Builder::make_steps() {
  const std::uint32_t n = method_.instructions();
  format::Workspace::Scope scope(workspace_);
  made_->steps_ = tables_.take<Step>(n);
  made_->step_of_ = tables_.take<std::uint32_t>(n);
  const auto step_of = workspace_.take<std::uint32_t>(std::uint64_t{n} + 1);  // the first at or behind an instruction
  if (!has_room()) return false;
  for (std::uint32_t i = 0; i < n; ++i) {
    step_of[i] = steps_;
    if (!make_step(i)) return false;
  }
  step_of[n] = steps_;
  for (std::uint32_t i = 0; i < n; ++i) {
    std::uint32_t by = i;
    while (by != Planned::nobody && calls_[by].dead) by = calls_[by].into;
    made_->step_of_[i] = by == Planned::nobody || step_of[by] == step_of[by + 1] ? Method::no_step : step_of[by];
  }
  made_->steps_ = made_->steps_.first(steps_);
  for (Step& step : made_->steps_)
    if (step.run == run_jump) {
      auto& target = *static_cast<std::uint32_t*>(const_cast<void*>(step.state));
      target = step_of[target];
    }
  return true;
}

}  // namespace assay::optimized
