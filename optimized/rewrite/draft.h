#pragma once

#include <algorithm>
#include <optional>

#include "optimized/prepare/flow.h"
#include "optimized/runtime/kernel.h"

namespace assay::optimized {

// A call of an instruction.
struct Planned {
  static constexpr std::uint32_t nobody = ~std::uint32_t{0};

  Call call;
  const pte::Instruction* instruction = nullptr;
  bool is_typed = false;        // an operator's, each operand always of the type that its schema says
  bool dead = false;            // another call does it, or nobody has to
  std::uint32_t into = nobody;  // that other call
};

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

// A method whose instructions run in order, while rewrites change its calls. Tensors have no memory as yet but
// constants.
struct Draft {
  const format::Method& method;
  std::span<Value> values;
  std::span<Tensor> tensors;  // by value
  std::span<Planned> calls;   // by instruction
  Flow& flow;
  format::Workspace& tables;  // of the method: what is taken of it stays
  format::Workspace& workspace;
  std::uint64_t looks = Flow::most_steps;  // how many calls may be looked at yet

  std::uint32_t index_of(const Value& v) const { return static_cast<std::uint32_t>(&v - values.data()); }
  std::uint32_t root(const Value& v) const { return flow.root(index_of(v)); }
  bool is_op(const Planned& p, std::string_view op) const { return !p.dead && p.is_typed && p.call.roles->name == op; }
  // Whether one of the call's first arguments is the same bytes as the group's.
  bool has(const Planned& p, std::uint32_t group, std::size_t first) const;
  bool has_room() const { return tables.has_room() && workspace.has_room(); }
  // Nobody but calls sees it, and all that do see the same elements.
  bool is_seen_alike(std::uint32_t v);
  // No call between these two changes its elements.
  bool stays(const Value& v, std::uint32_t from, std::uint32_t to) const;
  // Whom nobody reads does not run: another does what it did.
  void leave_if_unread(std::uint32_t call, std::uint32_t into);
  // It, and all that are the same bytes, have these, which never change.
  void make_constant(std::uint32_t v, std::byte* data, std::uint64_t bytes);
};

// Changes calls in a way that nobody sees, but for rounding, and says whether it changed any. What is moved is moved to
// later calls, past none that changes what it reads. optimized/rewrite/rewrites.yaml has all of them.
struct Rewrite {
  const char* name;
  bool (*apply)(Draft& draft);
};

bool same_sizes(const Tensor& a, const Tensor& b);
// The elements of a follow each other in memory as those of b do.
bool same_elements(const Tensor& a, const Tensor& b);
// A call of an operator of each element by itself has the result that it says: of the sizes that its operands have
// together.
bool has_sizes_of_operands(const Call& call);
// Likewise, all its tensors of f32.
bool is_pointwise_f32(const Call& call);
// A number that never changes, or the only element of a constant.
std::optional<double> number_of(const Value& v);
inline bool is_number(const Value& v, double n) { return number_of(v) == n; }

}  // namespace assay::optimized
