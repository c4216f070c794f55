#include <algorithm>

#include "format/operator_roles.h"
#include "optimized/operators/layout.h"
#include "optimized/rewrite/draft.h"
#include "optimized/runtime/table.h"
#include "rewrites.gen.h"

namespace assay::optimized {
namespace {

// The call of index_put that makes what a copy stores in its first argument; null: another does.
const Planned* find_put(const Draft& draft, const Planned& copy, std::uint32_t& at) {
  const Value &state = copy.call[0], &made = copy.call[1];
  const std::uint32_t v = draft.index_of(made);
  if (made.kind != ValueKind::tensor || !draft.flow.is_private(v)) return nullptr;
  at = draft.flow.group(v).writer;
  const Planned& put = draft.calls[at];
  const bool puts = draft.is_op(put, "aten::index_put.out") && !put.call.fusion && put.call.arguments[0] == &state &&
                    put.call.arguments.back() == &made && is_fixed(put.call) && find_kernel(put.call);
  return puts && state.tensor->dtype == made.tensor->dtype && same_sizes(*state.tensor, *made.tensor) ? &put : nullptr;
}

// State that becomes what it was but for the elements that indices name is given these alone: they are put there a
// second time, as neither it nor what they are made of has changed since the first.
bool put_back(Draft& draft, std::uint32_t copy) {
  std::uint32_t at;
  const Planned* put = find_put(draft, draft.calls[copy], at);
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
  bool changed = false;
  for (std::uint32_t i = 0; i < draft.calls.size() && draft.looks >= draft.calls.size(); ++i)
    if (draft.is_op(draft.calls[i], "aten::copy_")) draft.looks -= draft.calls.size(), changed |= put_back(draft, i);
  return changed;
}

}  // namespace

const Rewrite put_rows_back{"put_rows_back", put_all_back};

}  // namespace assay::optimized
