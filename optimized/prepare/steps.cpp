#include <algorithm>
#include <utility>

#include "optimized/draft/effects.h"
#include "optimized/prepare/build.h"
#include "optimized/runtime/handles.h"
#include "optimized/runtime/table.h"

// Instructions become steps. Each step has the function that executes it.
namespace assay::optimized {
bool Builder::add_step(std::uint32_t i, bool (*run)(const Step&, Execution&), const void* state, const char* by,
                       bool asks) {
  return add_step(i, source_.instructions[i].call, run, state, by, asks);
}
bool Builder::add_step(std::uint32_t i, const Call& call, bool (*run)(const Step&, Execution&), const void* state,
                       const char* by, bool asks) {
  const Instruction& from = source_.instructions[i];
  decisions_.note(i), decisions_.note(by);
  const bool calls = call.roles && from.kind == Instruction::Kind::call;
  const bool hands_over = calls && call.named().returns_changed() && call.returned;
  Value* changed = hands_over ? changed_argument(from.call) : nullptr;
  if (changed == call.returned) changed = nullptr;
  const auto otherwise = calls ? find_loop(call) : nullptr;
  made_->steps_[steps_++] = {run, state, call, i, from.index, by, asks, otherwise, changed, from.left};
  return has_room();
}

bool Builder::prepare(const Kernel& kernel, const Call& call, std::uint32_t i, const void*& state) {
  const Instruction& from = source_.instructions[i];
  Stores stores{tables_, packed_};
  stores.threads = options_.threads.count, stores.prepared = &copies_;
  if (memories_) stores.lent = memories_->scratch;
  const std::uint64_t packed = packed_.bytes();
  state = kernel.prepare ? kernel.prepare(call, stores) : nullptr;
  if (stores.refused) return refuse(fault_, "V4", place_of(from), stores.refused);
  if (packed_.bytes() > packed) packed_.note({reinterpret_cast<const char*>(&i), sizeof i}), packed_.note(kernel.name);
  scratch_ = std::max(scratch_, stores.scratch);
  return true;
}

// Returns null if it refuses the call.
const Kernel* Builder::find_kernel_of(const Instruction& i, const Call& call) {
  format::Text operands;
  write_operands(call, operands);
  const Kernel* kernel = find_kernel(call, operands.view());
  if (!kernel) kernel = options_.refusals;
  if (!kernel) refuse(fault_, "I4", place_of(i), "there is no kernel of ", call.named().name, " for ", operands.view());
  return kernel;
}

// An in-place form as a call of the operator whose out is self. `tables_` may have too little memory.
Call Builder::with_out(const Call& call) {
  const format::OperatorRoles* roles = call.roles->operator_with_out();
  if (!roles || !call[0].is_tensor()) return call;
  const auto arguments = tables_.take<Value*>(call.arguments.size() + 1);
  if (arguments.empty()) return call;
  std::ranges::copy(call.arguments, arguments.begin());
  arguments.back() = call.arguments[0];
  Call with = call;
  with.form = call.roles, with.roles = roles, with.arguments = arguments;
  return with;
}

// Computes the folded constants that the call reads. Returns false if it refuses one of them.
bool Builder::make_constants(const Kernel& kernel, const Call& call) {
  const Tensor* packed = kernel.packs ? kernel.packs(call) : nullptr;
  bool made = true;
  each_tensor(call, [&](const Value& v) {
    if (made && v.tensor->maker != Tensor::no_maker) made = make_constant(*v.tensor, v.tensor == packed);
  });
  return made;
}

// A constant that a kernel packs needs memory only until then. It lies in scratch memory, which no step uses yet. A
// constant that steps read is kept with the packed constants.
bool Builder::make_constant(Tensor& tensor, bool is_packed) {
  const std::uint32_t maker = tensor.maker;
  bool makes = memories_ && packed_.makes();
  if (is_packed) {
    scratch_ = std::max(scratch_, aligned(tensor.bytes()));
    if (!makes) return true;
    lent_ = &tensor, tensor.data = memories_->scratch.data();
  } else {
    const Packed::Floats kept = packed_.take(static_cast<std::uint64_t>(tensor.count()));
    tensor.data = tensor.home = reinterpret_cast<std::byte*>(const_cast<float*>(kept.data));
    tensor.maker = Tensor::no_maker;
    makes = !kept.to_make.empty();
  }
  return !makes || run_folded(maker, tensor.data);
}

// Runs a folded call with the memory `to` for its result.
bool Builder::run_folded(std::uint32_t i, std::byte* to) {
  const Instruction& from = source_.instructions[i];
  const Step& step = made_->folded_[from.target];
  std::byte*& result = from.call.arguments.back()->tensor->data;
  std::byte* const before = std::exchange(result, to);
  Execution once{.threads = options_.threads, .fault = &fault_};
  const bool made = step.run(step, once);
  result = before;
  return made || refuse(fault_, "I4", place_of(from), "cannot be computed before the first execution");
}

bool Builder::make_call(std::uint32_t i) {
  const Instruction& from = source_.instructions[i];
  if (const Handle* handle = find_handle(from.call.roles->name)) return add_step(i, handle->run, nullptr, "handle");
  const Call call = with_out(from.call);
  const Kernel* kernel = find_kernel_of(from, call);
  if (!kernel || !make_constants(*kernel, call)) return false;
  const void* state = nullptr;
  if (!prepare(*kernel, call, i, state)) return false;
  if (lent_) lent_->data = nullptr, lent_ = nullptr;
  return add_step(i, call, kernel->run, state, kernel->name, !from.is_typed);
}

bool Builder::make_jump(std::uint32_t i) {
  const auto target = tables_.take<std::uint32_t>(1);
  if (!has_room()) return false;
  target[0] = source_.instructions[i].target;  // find_steps makes a step of it
  return add_step(i, run_jump, target.data(), "jump");
}

bool Builder::make_step(std::uint32_t i) {
  const Instruction& from = source_.instructions[i];
  if (from.dead) return true;
  switch (from.kind) {
    case Instruction::Kind::call:
      return make_call(i);
    case Instruction::Kind::delegate:
      return add_step(i, run_delegate, &made_->delegates_[from.target], "delegate");
    case Instruction::Kind::move:
      return add_step(i, run_move, nullptr, "move");
    case Instruction::Kind::jump:
      return make_jump(i);
    case Instruction::Kind::free:
      return true;  // this runtime has no memory that could be freed
  }
  return true;
}

// The step of each instruction, and of each jump's target. `step_of` has the first step at or behind an instruction.
void Builder::find_steps(std::span<const std::uint32_t> step_of) {
  const auto& all = source_.instructions;
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    std::uint32_t by = i;
    while (by != Instruction::none && all[by].dead) by = all[by].into;
    const bool has_step = by != Instruction::none && step_of[by] != step_of[by + 1];
    made_->step_of_[i] = has_step ? step_of[by] : Method::no_step;
  }
  for (Step& step : made_->steps_)
    if (step.run == run_jump) {
      auto& target = *static_cast<std::uint32_t*>(const_cast<void*>(step.state));
      target = step_of[target];
    }
}

bool Builder::make_folded() {
  for (std::uint32_t i = 0; i < source_.instructions.size(); ++i) {
    Instruction& from = source_.instructions[i];
    if (!from.is_folded) continue;
    const Kernel* kernel = find_kernel_of(from, from.call);
    from.target = steps_;
    if (!kernel || !add_step(i, kernel->run, nullptr, kernel->name)) return false;
  }
  made_->folded_ = made_->steps_.first(steps_), made_->steps_ = made_->steps_.subspan(steps_);
  steps_ = 0;
  return true;
}

bool Builder::make_steps() {
  const auto n = static_cast<std::uint32_t>(source_.instructions.size());
  format::Workspace::Scope scope(workspace_);
  made_->steps_ = tables_.take<Step>(n);
  made_->step_of_ = tables_.take<std::uint32_t>(n);
  const auto step_of = workspace_.take<std::uint32_t>(std::uint64_t{n} + 1);
  if (!has_room() || !make_folded()) return false;
  for (std::uint32_t i = 0; i < n; ++i) {
    step_of[i] = steps_;
    if (!make_step(i)) return false;
  }
  step_of[n] = steps_;
  made_->steps_ = made_->steps_.first(steps_);
  find_steps(step_of);
  return true;
}

}  // namespace assay::optimized
