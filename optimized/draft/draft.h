#pragma once

#include <algorithm>
#include <optional>

#include "optimized/draft/flow.h"
#include "optimized/runtime/kernel.h"

namespace assay::optimized {

// f(value) for each tensor whose elements a call may read or write.
template <class F>
void each_tensor(const Call& call, const F& f) {
  const auto visit = [&](const Value* v) {
    if (v && v->kind == ValueKind::tensor) f(*v);
  };
  for (const Value* v : call.arguments) {
    visit(v);
    if (v && v->kind == ValueKind::tensors)
      for (const Value* item : v->items()) visit(item);
  }
  if (!call.fusion) return;
  visit(call.fusion->residual);
  if (const Attention* attention = call.fusion->attention) visit(attention->values), visit(attention->mask);
}

// The calls of a method whose instructions run in order, while rewrites change them. Only constants have memory yet.
struct Draft {
  std::span<Value> values;
  std::span<Tensor> tensors;     // by value
  std::span<Instruction> calls;  // by instruction: each is a call
  Flow& flow;
  format::Workspace& tables;  // of the method: what is taken of it stays
  format::Workspace& workspace;
  std::uint64_t lookups_left = Flow::most_steps;  // how many more calls rewrites may look at

  std::uint32_t index_of(const Value& v) const { return static_cast<std::uint32_t>(&v - values.data()); }
  std::uint32_t root(const Value& v) const { return flow.root(index_of(v)); }
  bool is_op(const Instruction& p, std::string_view op) const {
    return !p.dead && p.is_typed && p.call.roles->name == op;
  }
  // Whether one of the first arguments of the call is the same bytes as the group.
  bool has(const Instruction& p, std::uint32_t group, std::size_t first) const;
  bool has_room() const { return tables.has_room() && workspace.has_room(); }
  // Only calls see the value, and all that read its bytes see the same elements.
  bool is_seen_alike(std::uint32_t v);
  // No call between these two changes the elements of the value.
  bool stays(const Value& v, std::uint32_t from, std::uint32_t to) const;
  // Drops a call whose result is never read; `into` is the call that now does its work.
  void leave_if_unread(std::uint32_t call, std::uint32_t into);
  // The value, and all values that are the same bytes, become a constant with these bytes.
  void make_constant(std::uint32_t v, std::byte* data, std::uint64_t bytes);
};

// A rewrite changes calls without an effect that a caller can see, except for rounding. `apply` returns whether it
// changed any. A call moves only to a later place, and never past a call that changes what it reads. rewrites.yaml
// lists the rewrites in the order in which they are applied.
struct Rewrite {
  const char* name;
  bool (*apply)(Draft& draft);
};

bool same_sizes(const Tensor& a, const Tensor& b);
// The elements of a and b are in the same order in memory.
bool same_elements(const Tensor& a, const Tensor& b);
// Of an elementwise operator: the result has the sizes that the operands broadcast to.
bool has_sizes_of_operands(const Call& call);
// The same, and all tensors are float32.
bool is_pointwise_f32(const Call& call);
// A number that never changes, or the only element of a constant.
std::optional<double> number_of(const Value& v);
inline bool is_number(const Value& v, double n) { return number_of(v) == n; }

}  // namespace assay::optimized
