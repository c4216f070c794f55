#include "optimized/draft/draft.h"

#include <cstring>

#include "optimized/selection/elements.h"
#include "optimized/selection/views.h"

namespace assay::optimized {
namespace {

bool same_order(const Tensor& a, const Tensor& b) {
  return a.rank == b.rank && std::equal(a.dim_order, a.dim_order + a.rank, b.dim_order);
}

// The element may be unaligned while memory is only counted.
template <class T>
double first_of(const Tensor& t) {
  T x;
  std::memcpy(&x, t.data, sizeof x);
  return static_cast<double>(x);
}

}  // namespace

void take_bytes(Tensor& t, const Tensor& from) {
  t.constant = true, t.data = from.data, t.capacity = from.capacity, t.maker = from.maker, t.finite = from.finite;
}

bool Draft::has(const Instruction& p, std::uint32_t group, std::size_t first) const {
  return !p.dead && std::ranges::any_of(p.call.arguments.first(first), [&](const Value* v) {
    return v && v->kind == ValueKind::tensor && root(*v) == group;
  });
}

bool Draft::is_seen_alike(std::uint32_t v) {
  const std::uint64_t members = flow.group(v).members;
  if (!flow.is_private(v) || lookups_left < members) return false;
  lookups_left -= members;
  bool alike = true;
  flow.each_member(v, [&](std::uint32_t m) {
    alike = alike && values[m].kind == ValueKind::tensor && (m == v || same_elements(tensors[m], tensors[v]));
  });
  return alike;
}

bool Draft::stays(const Value& v, std::uint32_t from, std::uint32_t to) const {
  if (v.tensor->moves && !sizes_of(*v.tensor)) return false;  // another view may give it other sizes
  if (v.tensor->constant || flow.is_steady(index_of(v))) return true;
  if (flow.group(index_of(v)).escapes) return false;
  const Flow::Place& place = flow.place(index_of(v));
  return std::ranges::none_of(calls.subspan(from + 1, to - from - 1), [&](const Instruction& p) {
    bool uses = false;
    each_tensor(p.call, [&](const Value& other) {
      const Flow::Place& at = flow.place(index_of(other));
      uses = uses || root(other) == root(v) ||
             (at.memory == place.memory && at.begin < place.begin + place.size && place.begin < at.begin + at.size);
    });
    return uses && !p.dead;
  });
}

void Draft::leave_if_unread(std::uint32_t call, std::uint32_t into) {
  Instruction& planned = calls[call];
  const Value& out = *planned.call.arguments.back();
  if (planned.dead || !flow.is_private(index_of(out)) || lookups_left < calls.size()) return;
  lookups_left -= calls.size();
  const bool is_view = planned.call.roles->has(format::Use::viewed);  // calls may read its bytes as other values
  const std::uint32_t group = root(out);
  for (const Instruction& p : calls.subspan(call + 1)) {  // only later calls read a private group
    bool reads = false;
    const auto is_read = [&](const Value& v) { return is_view ? &v == &out : root(v) == group; };
    if (!p.dead) each_tensor(p.call, [&](const Value& v) { reads = reads || is_read(v); });
    if (reads) return;
  }
  planned.dead = true, planned.into = into;
}

bool Draft::has_moving_member(std::uint32_t v) const {
  bool moves = false;
  flow.each_member(v, [&](std::uint32_t m) { moves = moves || tensors[m].moves; });
  return moves;
}

void Draft::make_constant(std::uint32_t v, const Tensor& from) {
  flow.each_member(v, [&](std::uint32_t m) { take_bytes(tensors[m], from); });
}

bool Draft::find_sizes() {
  if (!sizes) sizes = SymbolicSizes::of(source, flow, workspace);
  return sizes.has_value();
}

bool Draft::same_sizes(const Tensor& a, const Tensor& b) const {
  if (!a.moves && !b.moves) return std::ranges::equal(a.shape(), b.shape());
  const auto x = sizes_of(a), y = sizes_of(b);
  return x && y && are_equal(*x, *y) && a.moves == b.moves && !a.unbounded && !b.unbounded &&
         std::equal(a.declared, a.declared + a.rank, b.declared);
}

// If the largest sizes are contiguous, smaller ones are, too.
bool Draft::same_elements(const Tensor& a, const Tensor& b) const {
  if (a.dtype != b.dtype || a.count() != b.count()) return false;
  const bool are_contiguous = a.is_contiguous() && b.is_contiguous();
  if (!a.moves && !b.moves && are_contiguous) return true;
  if (are_contiguous &&
      (sizes->have_equal_counts(index_of(a), index_of(b)) || sizes->have_equal_counts(index_of(b), index_of(a))))
    return true;
  return same_sizes(a, b) && (are_contiguous || same_order(a, b));
}

bool Draft::has_sizes_of_product(const Call& call) const {
  const auto a = sizes_of(call.tensor(0)), b = sizes_of(call.tensor(1)), out = sizes_of(call.out());
  if (!a || !b || !out || a->rank < 2 || b->rank < 2) return false;
  Shape product = *a;
  product.sizes[a->rank - 1] = b->sizes[b->rank - 1];
  return are_equal(product, *out);
}

bool Draft::has_sizes_of_operands(const Call& call) const {
  if (call.arguments.back()->kind != ValueKind::tensor) return false;
  const Tensor& out = *call.arguments.back()->tensor;
  bool moves = out.moves;
  Shape shape;
  for (std::size_t i = 0; i + 1 < call.arguments.size(); ++i) {
    if (call[i].kind != ValueKind::tensor) continue;
    moves = moves || call.tensor(i).moves;
    if (!broadcast(shape, view_of(call, i).shape)) return false;
  }
  if (!std::ranges::equal(shape.span(), out.shape())) return false;
  if (!moves) return true;
  const auto operands = call.fusion ? std::nullopt : sizes->broadcast_operands(call), result = sizes_of(out);
  return operands && result && are_equal(*operands, *result);
}

bool Draft::is_pointwise_in(DType dtype, const Call& call) const {
  const auto has_dtype = [&](const Value* v) { return v->kind != ValueKind::tensor || v->tensor->dtype == dtype; };
  return has_sizes_of_operands(call) && std::ranges::all_of(call.arguments, has_dtype) &&
         element_of(dtype) == Element::f32;
}

std::optional<double> number_of(const Value& v) {
  if (v.changes) return {};
  if (v.kind == ValueKind::integer) return static_cast<double>(v.integer);
  if (v.kind == ValueKind::real) return v.real;
  if (v.kind != ValueKind::tensor || !v.tensor->constant || !v.tensor->data || v.tensor->count() != 1) return {};
  if (v.tensor->dtype == DType::float32) return first_of<float>(*v.tensor);
  if (v.tensor->dtype == DType::int64) return first_of<std::int64_t>(*v.tensor);
  return {};
}

}  // namespace assay::optimized
