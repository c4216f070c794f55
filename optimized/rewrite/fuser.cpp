#include "optimized/rewrite/fuser.h"

#include "optimized/runtime/table.h"

namespace assay::optimized {

std::size_t Fuser::readers(const Value& value, std::uint32_t* found, std::size_t most) const {
  const std::uint32_t v = draft_.index_of(value), group = draft_.flow.root(v);
  const std::uint32_t all = draft_.flow.group(v).readers;
  if (!draft_.is_seen_alike(v) || all > most) return 0;
  std::size_t n = 0;
  for (std::uint32_t i = at_ + 1; i < draft_.calls.size() && n < all; ++i) {
    if (draft_.looks == 0) return 0;
    --draft_.looks;
    const Planned& p = draft_.calls[i];
    if (p.is_typed && draft_.has(p, group, p.call.arguments.size() - 1)) found[n++] = i;
  }
  return n == all ? n : 0;
}

const Planned* Fuser::maker(const Value& value, std::string_view op, std::uint32_t& at) const {
  if (value.kind != ValueKind::tensor) return nullptr;
  const Flow::Group& group = draft_.flow.group(draft_.index_of(value));
  if (!draft_.is_seen_alike(draft_.index_of(value)) || group.readers != 1) return nullptr;
  at = group.writer;
  return is_op(draft_.calls[at], op) ? &draft_.calls[at] : nullptr;
}

// Nothing between here and there writes what the call reads.
bool Fuser::may_move_to(std::uint32_t to) const {
  const auto changes = [&](const Value* v, const Planned& p) {
    return v && v->kind == ValueKind::tensor && !v->tensor->constant && !draft_.flow.is_steady(draft_.index_of(*v)) &&
           draft_.has(p, draft_.root(*v), p.call.arguments.size());
  };
  for (const Planned& p : draft_.calls.subspan(at_ + 1, to - at_ - 1)) {
    for (const Value* v : call().arguments.first(call().arguments.size() - 1))
      if (changes(v, p)) return false;
    if (changes(fusion_.residual, p)) return false;
  }
  return true;
}

bool Fuser::take(const Fusion& fusion, Value* out, std::span<const std::uint32_t> done) {
  const std::uint32_t to = done.back();
  const Fusion before = fusion_;
  fusion_ = fusion;
  const auto kept = draft_.tables.take<Fusion>(1);
  const auto arguments = draft_.tables.take<Value*>(call().arguments.size());
  if (!draft_.has_room() || !may_move_to(to)) return fusion_ = before, false;
  Call all = call();
  std::ranges::copy(all.arguments, arguments.begin());
  arguments.back() = out;
  all.arguments = arguments;
  kept[0] = fusion;
  all.fusion = kept.data();
  if (!find_kernel(all)) return fusion_ = before, false;
  draft_.calls[at_].dead = true, draft_.calls[at_].into = to;
  for (const std::uint32_t i : done) draft_.calls[i].dead = true, draft_.calls[i].into = to;
  draft_.calls[to].call = all, draft_.calls[to].dead = false;
  at_ = to, out_ = out;
  return true;
}

}  // namespace assay::optimized
