#include "optimized/prepare/build.h"
#include "optimized/runtime/table.h"

// The instructions of a method as calls of operators and delegates, rewritten where they run in order.
namespace assay::optimized {

bool Builder::make_call(std::uint32_t i, const pte::KernelCall& call) {
  const format::OperatorRoles* roles = method_.roles(call);
  const pte::Operator& op = method_.op(call);
  if (!roles)
    return refuse(fault_, "I4", where_.in("instruction", method_.position(i).index), "there is no operator ",
                  format::Quoted{format::text_of(op.name())}, ", overload ",
                  format::Quoted{format::text_of(op.overload())});
  const auto all = arguments(call.args());
  if (!has_room()) return false;
  const std::size_t n = roles->arguments().size();
  calls_[i].call = {roles, all.first(n), all.size() > n ? all.back() : nullptr, options_.set, options_.relaxed};
  calls_[i].is_typed = keeps_numbers(calls_[i].call);
  return true;
}

bool Builder::make_calls() {
  calls_ = workspace_.take<Planned>(method_.instructions());
  if (!has_room()) return false;
  for (std::uint32_t i = 0; i < method_.instructions(); ++i) {
    const pte::Instruction& instruction = method_.instruction(i);
    calls_[i].instruction = &instruction;
    if (const auto* kernel = instruction.instr_args_as_KernelCall()) {
      if (!make_call(i, *kernel)) return false;
    } else if (const auto* delegate = instruction.instr_args_as_DelegateCall()) {
      calls_[i].call = {nullptr, arguments(delegate->args())};
    }
  }
  return true;
}

void Builder::rewrite() {
  Draft draft{method_, values_, tensors_, calls_, *flow_, tables_, workspace_};
  const auto all = rewrite_table();
  const auto applied = tables_.take<const Rewrite*>(all.size());
  if (!has_room()) return;
  std::size_t n = 0;
  for (const Rewrite* rewrite : all)
    if (rewrite->apply(draft)) applied[n++] = rewrite;
  made_->rewrites_ = applied.first(n);
}

}  // namespace assay::optimized
