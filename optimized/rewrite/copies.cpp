#include <cmath>
#include <cstring>

#include "optimized/draft/draft.h"
#include "optimized/runtime/table.h"
#include "optimized/selection/views.h"
#include "rewrites.gen.h"

// Drops copies of constants and of other tensors. fold_constants: a constant never changes, so a call that only
// converts it, dequantizes it or reorders its dimensions gives the same result once, before the first execution.
// drop_copies: the copy has the same bytes as its source, no other call writes the copy, and the source does not change
// after its first read. Every call that read the copy therefore reads the same elements from the source. Where sizes
// move, the copy has the symbolic sizes and the bounds of its source.
namespace assay::optimized {
namespace {

// Whether the view's elements follow each other in memory in this dim order, from the first element on.
bool lies_in(const View& view, const std::uint8_t* dim_order) {
  const Strides strides = strides_of(view.shape, dim_order);
  for (int d = 0; d < view.shape.rank; ++d)
    if (view.shape.sizes[d] > 1 && view.strides.of[d] != strides.of[d]) return false;
  return view.first == 0;
}

// The dim order of a view: dimensions of larger strides come first.
void sort_dimensions(const View& view, std::uint8_t* dim_order) {
  for (int d = 0; d < view.shape.rank; ++d) {
    int at = d;
    for (; at > 0 && view.strides.of[dim_order[at - 1]] < view.strides.of[d]; --at) dim_order[at] = dim_order[at - 1];
    dim_order[at] = static_cast<std::uint8_t>(d);
  }
}

// Converts a constant number to another dtype now.
bool fold_number(Draft& draft, Instruction& p) {
  const auto n = number_of(p.call[0]);
  const Value& to = *p.call.arguments.back();
  const std::uint32_t v = draft.index_of(to);
  if (!n || !is_format_order(p.call[2], to.tensor->rank) || !draft.flow.is_private(v) || !is_f32(to) ||
      !draft.same_sizes(p.call.tensor(0), *to.tensor) || draft.has_moving_member(v))
    return false;
  const auto element = draft.tables.take<float>(1);
  if (element.empty()) return false;
  element[0] = static_cast<float>(*n);
  Tensor constant;
  constant.data = reinterpret_cast<std::byte*>(element.data()), constant.capacity = sizeof(float);
  draft.make_constant(v, constant);
  return p.dead = true;
}

// Whether only calls of operators read the value.
bool is_read_by_calls(Draft& draft, const Value& v) {
  if (draft.lookups_left < draft.calls.size()) return false;
  draft.lookups_left -= draft.calls.size();
  return std::ranges::all_of(draft.calls, [&](const Instruction& p) {
    bool uses = false;
    each_tensor(p.call, [&](const Value& other) { uses = uses || &other == &v; });
    return !uses || p.dead || p.call.roles;
  });
}

template <class T>
bool are_small(const Tensor& t) {
  for (std::int64_t i = 0; i < t.count(); ++i) {
    T x;
    std::memcpy(&x, t.at(i), sizeof x);  // it may be unaligned while memory is only counted
    if (!(std::fabs(x) < 0x1p90)) return false;
  }
  return true;
}

// Whether the scales are so small that their products with the differences of two codes are finite.
bool has_small_scales(const Value& v) {
  if (v.kind == ValueKind::real) return std::fabs(v.real) < 0x1p90;
  if (!v.is_tensor()) return false;
  if (v.tensor->dtype == DType::float32) return are_small<float>(*v.tensor);
  return v.tensor->dtype == DType::float64 && are_small<double>(*v.tensor);
}

// Dequantized constants. Rewrites and kernels may examine a constant while memory is only counted, when a dequantized
// constant has no elements yet. Two facts are therefore known without them: the elements are finite, and there are
// more than one, so that no number is read from them.
bool fold_dequantized(Draft& draft, Instruction& p) {
  const Value& to = *p.call.arguments.back();
  const std::uint32_t v = draft.index_of(to);
  for (const Value* operand : p.call.arguments.first(3))
    if (operand->changes || (operand->is_tensor() && (!operand->tensor->constant || !operand->tensor->data)))
      return false;
  if (!is_f32(to) || to.tensor->rank < 2 || to.tensor->count() < 2 || !has_small_scales(p.call[1]) ||
      !draft.flow.is_private(v) || draft.flow.group(v).members != 1 || !is_read_by_calls(draft, to) ||
      !find_kernel(p.call))
    return false;
  Tensor& out = *to.tensor;
  out.constant = true, out.data = nullptr, out.finite = Tensor::Finite::yes;
  out.maker = static_cast<std::uint32_t>(&p - draft.calls.data());
  return p.dead = p.is_folded = true;
}

// A copy of a constant that only changes the order of dimensions becomes a constant with the same bytes, if all its
// readers accept that order.
bool fold_order(Draft& draft, Instruction& p, const View& view) {
  const Tensor& self = p.call.tensor(0);
  const Value* to = p.call.arguments.back();
  Tensor& out = *to->tensor;
  const std::uint32_t v = draft.index_of(*to);
  if (!self.constant || self.count() != out.count() || !draft.flow.is_private(v) || draft.flow.group(v).members != 1 ||
      draft.lookups_left < draft.calls.size())
    return false;
  draft.lookups_left -= draft.calls.size();
  const auto order = draft.tables.take<std::uint8_t>(out.rank);
  if (order.size() != out.rank) return false;
  sort_dimensions(view, order.data());
  if (!lies_in(view, order.data())) return false;
  const Tensor before = out;
  take_bytes(out, self), out.dim_order = order.data();
  p.dead = std::ranges::all_of(draft.calls, [&](const Instruction& reader) {
    bool reads = false;
    each_tensor(reader.call, [&](const Value& v) { reads = reads || &v == to; });
    return &reader == &p || reader.dead || !reads || (reader.call.roles && find_kernel(reader.call));
  });
  if (!p.dead) out = before;
  return p.dead;
}

bool fold(Draft& draft) {
  if (!draft.find_sizes()) return false;
  bool changed = false;
  for (Instruction& p : draft.calls) {
    if (draft.is_op(p, "dim_order_ops::_to_dim_order_copy.out"))
      changed |= fold_number(draft, p);
    else if (draft.is_op(p, "quantized_decomposed::dequantize_per_tensor.out") ||
             draft.is_op(p, "quantized_decomposed::dequantize_per_channel.out"))
      changed |= fold_dequantized(draft, p);
    else if (const auto view = p.dead || !p.is_typed ? std::nullopt : view_of_copy(p.call))
      changed |= fold_order(draft, p, *view);
  }
  return changed;
}

// Whether the client may supply the memory of an output. Only the output itself, not its copies, is then there.
bool may_be_supplied(const Draft& draft, std::uint32_t v) {
  return draft.flow.group(v).output && draft.flow.place(v).memory > Flow::none - draft.values.size();
}

// Whether the call copies all elements in their order, whatever the sizes are.
bool copies_all(const Draft& draft, const Instruction& p) {
  const Viewer viewer = p.call.roles ? find_viewer(p.call.roles->name) : nullptr;
  if (p.dead || !viewer || !p.call.roles->in_place || !p.call[0].is_tensor() || !p.call.arguments.back()->is_tensor())
    return false;
  const Tensor &from = p.call.tensor(0), &to = p.call.out();
  const auto is_number = [](const Value* v) { return v->kind == ValueKind::tensor || is_fixed(*v); };
  View view = whole(from);
  return from.moves && from.dtype == to.dtype && draft.same_sizes(from, to) && draft.same_elements(from, to) &&
         (p.call.roles->name == "aten::expand_copy.out" ||
          (std::ranges::all_of(p.call.arguments, is_number) && viewer(p.call, view)));
}

// Whether an instruction refers to the value in a way that cannot be replaced.
bool keeps(const Instruction& p, const Value& value) {
  return !p.dead && std::ranges::any_of(p.call.arguments, [&](const Value* v) {
    if (v && v->kind == ValueKind::tensors) return std::ranges::find(v->items(), &value) != v->items().end();
    return v == &value && (!p.call.roles || p.call.fusion);
  });
}

// Makes all calls that read a copy read its source. Returns false if an instruction cannot.
bool read_source(Draft& draft, Value& copy, Value& source) {
  if (draft.lookups_left < draft.calls.size()) return false;
  draft.lookups_left -= draft.calls.size();
  if (std::ranges::any_of(draft.calls, [&](const Instruction& p) { return keeps(p, copy); })) return false;
  for (Instruction& p : draft.calls) {
    const auto before = p.call.arguments;
    if (p.dead || std::ranges::find(before, &copy) == before.end() || before.back() == &copy) continue;
    const auto arguments = draft.tables.take<Value*>(before.size());
    if (!draft.has_room()) return false;
    std::ranges::replace_copy(before, arguments.begin(), &copy, &source);
    p.call.arguments = arguments;
  }
  return true;
}

// A copy in the order of its source becomes the source itself, if neither changes while the other is of use.
bool drop_copy(Draft& draft, Instruction& p) {
  const bool moves = copies_all(draft, p);
  const auto view = moves || !p.is_typed ? std::nullopt : view_of_copy(p.call);
  if (!moves && (!view || !lies_in(*view, p.call.out().dim_order))) return false;
  Value &from = *p.call.arguments[0], &to = *p.call.arguments.back();
  const std::uint32_t a = draft.index_of(to), b = draft.index_of(from);
  if (!draft.flow.is_private(a) || draft.flow.place(a).size != draft.flow.place(b).size) return false;
  if (from.tensor->constant) {
    if (moves || draft.has_moving_member(a)) return false;
    draft.make_constant(a, *from.tensor);
  } else {
    if (!draft.flow.is_steady(b) || may_be_supplied(draft, b) || (moves && !read_source(draft, to, from))) return false;
    draft.flow.merge(a, b);
  }
  return p.dead = true;
}

bool drop(Draft& draft) {
  if (!draft.find_sizes()) return false;
  bool changed = false;
  for (Instruction& p : draft.calls)
    if (!p.dead && p.kind == Instruction::Kind::call) changed |= drop_copy(draft, p);
  return changed;
}

}  // namespace

const Rewrite fold_constants{"fold_constants", fold};
const Rewrite drop_copies{"drop_copies", drop};

}  // namespace assay::optimized
