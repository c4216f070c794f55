#include "optimized/rewrite/fuser.h"

#include "optimized/runtime/handles.h"
#include "optimized/runtime/table.h"

namespace assay::optimized {

std::size_t Fuser::readers(const Value& value, std::uint32_t* found, std::size_t most) const {
  const std::uint32_t v = draft_.index_of(value), group = draft_.flow.root(v);
  const std::uint32_t all = draft_.flow.group(v).readers;
  if (!draft_.is_seen_alike(v)) return leave(draft_.flow.is_private(v) ? Reason::moving_sizes : Reason::stored);
  if (all > most) return leave(Reason::several_readers);
  std::size_t n = 0;
  for (std::uint32_t i = at_ + 1; i < draft_.calls.size() && n < all; ++i) {
    if (draft_.lookups_left == 0) return 0;
    --draft_.lookups_left;
    const Instruction& p = draft_.calls[i];
    const bool is_call = p.is_typed || (p.call.roles && find_handle(p.call.roles->name));
    if (is_call && draft_.has(p, group, p.call.arguments.size() - 1)) found[n++] = i;
  }
  return n == all ? n : 0;
}

const Instruction* Fuser::maker(const Value& value, std::string_view op, std::uint32_t& at) const {
  if (value.kind != ValueKind::tensor) return nullptr;
  const Flow::Group& group = draft_.flow.group(draft_.index_of(value));
  if (!draft_.is_seen_alike(draft_.index_of(value)) || group.readers != 1) return nullptr;
  at = group.writer;
  return is_op(draft_.calls[at], op) ? &draft_.calls[at] : nullptr;
}

// No call between the old and the new place writes what the call reads.
bool Fuser::may_move_to(const Call& call, std::uint32_t to) const {
  bool may = true;
  each_tensor(call, [&](const Value& v) { may = may && (&v == call.arguments.back() || draft_.stays(v, at_, to)); });
  return may;
}

bool Fuser::take(const Fusion& fusion, std::span<Value* const> arguments, Value* out,
                 std::span<const std::uint32_t> done) {
  const std::uint32_t to = done.back();
  const auto kept = draft_.tables.take<Fusion>(1);
  const auto all_arguments = draft_.tables.take<Value*>(arguments.size());
  if (!draft_.has_room()) return false;
  Call all = call();
  std::ranges::copy(arguments, all_arguments.begin());
  all_arguments.back() = out;
  all.arguments = all_arguments;
  kept[0] = fusion;
  all.fusion = kept.data();
  if (!may_move_to(all, to)) return leave(Reason::operand_changes);
  if (!find_kernel(all)) return leave(Reason::no_kernel);
  fusion_ = fusion;
  draft_.calls[at_].dead = true, draft_.calls[at_].into = to;
  for (const std::uint32_t i : done) draft_.calls[i].dead = true, draft_.calls[i].into = to;
  draft_.calls[to].call = all, draft_.calls[to].dead = false;
  at_ = to, out_ = out;
  return true;
}

}  // namespace assay::optimized
