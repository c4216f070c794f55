#pragma once

#include <algorithm>
#include <optional>

#include "optimized/draft/flow.h"
#include "optimized/draft/symbolic_sizes.h"
#include "optimized/runtime/kernel.h"

namespace assay::optimized {

// Calls f(value) for each tensor whose elements a call may read or write.
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

// The instructions of a method while rewrites change its calls. At this time only constants have memory.
struct Draft {
  std::span<Value> values;
  std::span<Tensor> tensors;     // indexed by value
  std::span<Instruction> calls;  // indexed by instruction
  Flow& flow;
  const Source& source;
  format::Workspace& tables;  // part of the method's memory: what is taken from it is kept
  format::Workspace& workspace;
  std::uint64_t lookups_left = Flow::most_steps;  // the number of calls that rewrites may still examine
  std::optional<SymbolicSizes> sizes = {};        // set by find_sizes

  std::uint32_t index_of(const Value& v) const { return static_cast<std::uint32_t>(&v - values.data()); }
  std::uint32_t root(const Value& v) const { return flow.root(index_of(v)); }
  bool is_op(const Instruction& p, std::string_view op) const {
    return !p.dead && p.is_typed && p.call.roles->name == op;
  }
  // Whether one of the first `first` arguments of the call belongs to the group.
  bool has(const Instruction& p, std::uint32_t group, std::size_t first) const;
  // Records why a rewrite leaves a call as it is. Returns false.
  bool leave_as_written(std::uint32_t call, Reason reason) { return calls[call].left = reason, false; }
  bool has_room() const { return tables.has_room() && workspace.has_room(); }
  std::uint32_t index_of(const Tensor& t) const { return static_cast<std::uint32_t>(&t - tensors.data()); }
  // Finds the symbolic sizes unless another rewrite has found them. A rewrite that compares sizes calls it first,
  // before any call whose sizes move is changed. A build without rewrites does not contain the rules of sizes. Returns
  // false if there is too little memory.
  bool find_sizes();
  std::optional<Shape> sizes_of(const Tensor& t) const { return sizes->of(index_of(t)); }
  // Whether two tensors have equal sizes in every execution. Sizes that move also have equal upper bounds: sizes that
  // one tensor cannot have are then refused for the other one, too.
  bool same_sizes(const Tensor& a, const Tensor& b) const;
  // Whether the elements of a and b are in the same order in memory, in every execution.
  bool same_elements(const Tensor& a, const Tensor& b) const;
  // Whether the result of an elementwise call has the sizes to which the operands broadcast.
  bool has_sizes_of_operands(const Call& call) const;
  // Whether this holds and all tensors have the dtype, which is float32 or a half type.
  bool is_pointwise_in(DType dtype, const Call& call) const;
  bool is_pointwise_f32(const Call& call) const { return is_pointwise_in(DType::float32, call); }
  // Whether the result of a product of matrices a b, its first two arguments, has the sizes of the product.
  bool has_sizes_of_product(const Call& call) const;
  // Whether no execution gives the tensor sizes that it cannot have.
  bool always_fits(const Value& v) const { return !v.tensor->moves || sizes->always_fit(index_of(v)); }
  // Whether only calls use the value, and all calls that read its bytes see the same elements.
  bool is_seen_alike(std::uint32_t v);
  // Whether no call between `from` and `to` changes the elements or sizes of the value. Requires calls of the same
  // block.
  bool stays(const Value& v, std::uint32_t from, std::uint32_t to) const;
  // Drops a call whose result is never read; `into` is the call that now does its work.
  void leave_if_unread(std::uint32_t call, std::uint32_t into);
  // Whether a value with the bytes of this value has sizes that move.
  bool has_moving_member(std::uint32_t v) const;
  // Turns the value, and all values with the same bytes, into a constant with the bytes of another constant.
  void make_constant(std::uint32_t v, const Tensor& from);
};

// A rewrite changes calls so that the results of the program stay the same except for rounding. `apply` returns whether
// it changed a call. A rewrite may move a call only to a later position of its block, and never past a call that
// changes what the call reads. rewrites.yaml lists the rewrites in the order in which they are applied.
struct Rewrite {
  const char* name;
  bool (*apply)(Draft& draft);
};

// Turns t into a constant with the bytes of another constant.
void take_bytes(Tensor& t, const Tensor& from);
// Returns a number that never changes, or the only element of a constant; nothing for other values.
std::optional<double> number_of(const Value& v);
inline bool is_number(const Value& v, double n) { return number_of(v) == n; }

}  // namespace assay::optimized
