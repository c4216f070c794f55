#include "optimized/draft/draft.h"
#include "optimized/runtime/table.h"
#include "rewrites.gen.h"

// Lets max pools leave out the indices. Only the pool writes the tensor of the indices, and neither a call nor the
// caller of the method reads this tensor. The maxima do not depend on it, so all results stay the same.
namespace assay::optimized {
namespace {

constexpr Fusion without_indices{.unread = true};

// Does not write the indices of a pool if no call reads them.
bool leave_out(Draft& draft) {
  if (!draft.find_sizes()) return false;
  bool changed = false;
  for (Instruction& p : draft.calls) {
    if (!draft.is_op(p, "aten::max_pool2d_with_indices.out")) continue;
    const std::uint32_t indices = draft.index_of(*p.call.arguments.back());
    if (!draft.flow.is_private(indices) || draft.flow.group(indices).readers > 0) continue;
    Call call = p.call;
    call.fusion = &without_indices;
    if (!find_kernel(call)) continue;
    p.call = call;
    changed = true;
  }
  return changed;
}

}  // namespace

const Rewrite leave_out_indices{"leave_out_indices", leave_out};

}  // namespace assay::optimized
