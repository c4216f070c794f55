#include <algorithm>

#include "format/operator_roles.h"
#include "optimized/draft/draft.h"
#include "optimized/runtime/table.h"
#include "optimized/selection/layout.h"
#include "rewrites.gen.h"

// Writes only the changed elements of a state. If a copy stores in a state what index_put made of the same state, the
// copy becomes an index_put_ of the state: it writes only the elements that the indices name. The elements and the
// sizes of the state and of the operands have not changed since the index_put. So the index_put_ accepts the operands,
// too, and the state has the same elements as after the copy.
namespace assay::optimized {
namespace {

// Whether only the sizes of tensors may change from one execution to the next.
bool has_fixed_numbers(const Call& call) {
  return std::ranges::all_of(call.arguments, [](const Value* v) {
    return v->kind == ValueKind::tensor || v->kind == ValueKind::tensors || is_fixed(*v);
  });
}

// The call of index_put that makes what a copy stores in its first argument. Returns null if another call makes it.
const Instruction* find_put(const Draft& draft, const Instruction& copy, std::uint32_t& at) {
  const Value &state = copy.call[0], &made = copy.call[1];
  const std::uint32_t v = draft.index_of(made);
  if (made.kind != ValueKind::tensor || !draft.flow.is_private(v)) return nullptr;
  at = draft.flow.group(v).writer;
  const Instruction& put = draft.calls[at];
  const bool puts = draft.is_op(put, "aten::index_put.out") && !put.call.fusion && put.call.arguments[0] == &state &&
                    put.call.arguments.back() == &made && has_fixed_numbers(put.call) && find_kernel(put.call);
  return puts && state.tensor->dtype == made.tensor->dtype && draft.same_sizes(*state.tensor, *made.tensor) ? &put
                                                                                                            : nullptr;
}

bool put_back(Draft& draft, std::uint32_t copy) {
  std::uint32_t at;
  const Instruction* put = find_put(draft, draft.calls[copy], at);
  const auto roles = format::all_roles();
  const auto in_place = std::ranges::lower_bound(roles, "aten::index_put_", {}, &format::OperatorRoles::name);
  if (!put || in_place == roles.end() || in_place->arguments().size() + 1 != put->call.arguments.size()) return false;
  Call call = draft.calls[copy].call;
  call.roles = &*in_place, call.arguments = put->call.arguments.first(in_place->arguments().size());
  bool stays = true;
  each_tensor(call, [&](const Value& v) { stays = stays && draft.stays(v, at, copy); });
  if (!stays || !find_kernel(call)) return false;
  draft.calls[copy].call = call;
  each_tensor(call, [&](const Value& v) { draft.flow.enter(draft.index_of(v)); });
  draft.leave_if_unread(at, copy);
  return true;
}

bool put_all_back(Draft& draft) {
  if (!draft.find_sizes()) return false;
  bool changed = false;
  for (std::uint32_t i = 0; i < draft.calls.size() && draft.lookups_left >= draft.calls.size(); ++i)
    if (draft.is_op(draft.calls[i], "aten::copy_"))
      draft.lookups_left -= draft.calls.size(), changed |= put_back(draft, i);
  return changed;
}

}  // namespace

const Rewrite put_rows_back{"put_rows_back", put_all_back};

}  // namespace assay::optimized
