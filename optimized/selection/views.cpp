#include "optimized/selection/views.h"

#include <algorithm>
#include <limits>

#include "optimized/selection/numbers.h"

namespace assay::optimized {
namespace {

// The view that each operator makes of a view of its first argument. Returns false if the call is invalid.

bool same_view(const Call&, View&) { return true; }

bool formatted_view(const Call& call, View& v) {
  return is_memory_format(call[call.arguments.size() - 2], v.shape.rank);
}
bool ordered_view(const Call& call, View& v) { return is_format_order(call[2], v.shape.rank); }

bool expanded_view(const Call& call, View& v) {
  const View from = v;
  if (!integers(call[1])) return false;
  const auto sizes = call[1].items();
  if (sizes.size() > max_rank || static_cast<int>(sizes.size()) < from.shape.rank) return false;
  v.shape.rank = static_cast<int>(sizes.size());
  const int added = v.shape.rank - from.shape.rank;
  for (int d = 0; d < v.shape.rank; ++d) {
    const std::int32_t had = d < added ? 1 : from.shape.sizes[d - added];
    std::int64_t n = sizes[static_cast<std::size_t>(d)]->integer;
    if (n == -1 && d >= added) n = had;
    if (n < 0 || n > std::numeric_limits<std::int32_t>::max() || (had != 1 && had != n)) return false;
    v.shape.sizes[d] = static_cast<std::int32_t>(n);
  }
  v.strides = strides_in(v.shape, from);
  return true;
}

bool permuted_view(const Call& call, View& v) {
  const View from = v;
  if (!integers(call[1])) return false;
  const auto dims = call[1].items();
  if (dims.size() != static_cast<std::size_t>(from.shape.rank)) return false;
  std::uint32_t seen = 0;
  v.shape.rank = from.shape.rank;
  for (int d = 0; d < v.shape.rank; ++d) {
    const int at = dim_of(*dims[static_cast<std::size_t>(d)], from.shape.rank);
    if (at < 0 || (seen >> at & 1)) return false;
    seen |= std::uint32_t{1} << at;
    v.shape.sizes[d] = from.shape.sizes[at], v.strides.of[d] = from.strides.of[at];
  }
  return true;
}

bool swapped(View& v, int a, int b) {
  if (a < 0 || b < 0) return false;
  if (v.shape.rank == 0) return true;
  std::swap(v.shape.sizes[a], v.shape.sizes[b]);
  std::swap(v.strides.of[a], v.strides.of[b]);
  return true;
}
bool transposed_view(const Call& call, View& v) {
  return swapped(v, dim_of(call[1], v.shape.rank), dim_of(call[2], v.shape.rank));
}
bool t_view(const Call&, View& v) { return v.shape.rank < 2 || (v.shape.rank == 2 && swapped(v, 0, 1)); }

bool selected_view(const Call& call, View& v) { return select(v, call[1], call[2]); }
bool sliced_view(const Call& call, View& v) { return slice(v, call[1], call[2], call[3], call[4]); }

// Operands: self, dim, start, length.
bool narrowed_view(const Call& call, View& v) {
  const int d = v.shape.rank > 0 ? dim_of(call[1], v.shape.rank) : -1;
  if (d < 0 || call[2].kind != ValueKind::integer || call[3].kind != ValueKind::integer) return false;
  const std::int64_t n = v.shape.sizes[d], given = call[2].integer, size = call[3].integer;
  const std::int64_t start = given < 0 ? given + n : given;
  if (start < 0 || start > n || size < 0 || size > n - start) return false;
  v.first += start * v.strides.of[d], v.shape.sizes[d] = static_cast<std::int32_t>(size);
  return true;
}

bool unsqueezed_view(const Call& call, View& v) {
  const int rank = v.shape.rank + 1, d = dim_of(call[1], rank);
  if (d < 0 || rank > static_cast<int>(max_rank)) return false;
  std::copy_backward(v.shape.sizes + d, v.shape.sizes + rank - 1, v.shape.sizes + rank);
  std::copy_backward(v.strides.of + d, v.strides.of + rank - 1, v.strides.of + rank);
  v.shape.sizes[d] = 1, v.strides.of[d] = 0, v.shape.rank = rank;
  return true;
}

bool squeezed_view(const Call& call, View& v) {
  const int rank = v.shape.rank;
  std::uint32_t named = 0;
  const auto name = [&](const Value& dim) {
    const int d = dim_of(dim, rank);
    const bool twice = d >= 0 && (named >> d & 1);
    if (d >= 0) named |= std::uint32_t{1} << d;
    return d >= 0 && !twice;
  };
  if (call[1].kind == ValueKind::integers) {
    for (const Value* dim : call[1].items())
      if (!name(*dim)) return false;
  } else if (!name(call[1])) {
    return false;
  }
  for (int d = rank - 1; d >= 0; --d)
    if ((named >> d & 1) && v.shape.sizes[d] == 1) erase(v, d);
  return true;
}

// Row-major elements with other sizes. The source of a view was row-major, too.
bool reshaped_view(const Call& call, View& v) {
  Shape shape;
  return (call.fusion || call.tensor(0).is_contiguous()) && viewed_shape(call, v.shape.count(), shape) &&
         reshape(v, shape.span());
}

// PyTorch flips the innermost dimension, of those that have several elements, of these dtypes alone.
bool flips_innermost(const Tensor& self) {
  const DType dtype = self.dtype;
  return is_real(dtype) || dtype == DType::complex64 || dtype == DType::complex128;
}
int innermost(const Tensor& self) {
  int k = self.rank - 1;
  while (k >= 0 && self.sizes[self.dim_order[k]] == 1) --k;
  return k < 0 ? -1 : self.dim_order[k];
}

bool flipped_view(const Call& call, View& v) {
  const Tensor& self = call.tensor(0);
  const int kept = flips_innermost(self) || self.count() == 0 ? -1 : innermost(self);
  std::uint32_t seen = 0;
  if (!integers(call[1])) return false;
  for (const Value* dim : call[1].items()) {
    const int d = dim_of(*dim, v.shape.rank);
    if (d < 0 || (seen >> d & 1) || (kept >= 0 && d == kept)) return false;
    seen |= std::uint32_t{1} << d;
    if (v.shape.rank == 0 || v.shape.sizes[d] == 0) continue;
    v.first += (v.shape.sizes[d] - 1) * v.strides.of[d];
    v.strides.of[d] = -v.strides.of[d];
  }
  return true;
}

// The diagonals of two dimensions become the last dimension.
bool diagonal_view(const Call& call, View& v) {
  const int rank = v.shape.rank, a = dim_of(call[2], rank), b = dim_of(call[3], rank);
  if (rank < 2 || a < 0 || b < 0 || a == b || call[1].kind != ValueKind::integer) return false;
  const std::int64_t rows = v.shape.sizes[a], columns = v.shape.sizes[b];
  const std::int64_t offset = std::clamp(call[1].integer, -rows, columns);
  const std::int64_t n = offset < 0 ? std::min(rows + offset, columns) : std::min(rows, columns - offset);
  const std::ptrdiff_t stride = v.strides.of[a] + v.strides.of[b];
  if (n > 0) v.first = offset < 0 ? -offset * v.strides.of[a] : offset * v.strides.of[b];
  erase(v, std::max(a, b)), erase(v, std::min(a, b));
  v.shape.sizes[v.shape.rank] = static_cast<std::int32_t>(n), v.strides.of[v.shape.rank++] = stride;
  return true;
}

// Windows along a dimension; their elements become the last dimension.
bool unfolded_view(const Call& call, View& v) {
  const int rank = v.shape.rank, d = rank > 0 ? dim_of(call[1], rank) : -1;
  if (d < 0 || rank == static_cast<int>(max_rank) || call[2].kind != ValueKind::integer ||
      call[3].kind != ValueKind::integer)
    return false;
  const std::int64_t n = v.shape.sizes[d], size = call[2].integer, step = std::min(call[3].integer, n + 1);
  if (size < 0 || size > n || step < 1) return false;
  v.shape.sizes[rank] = static_cast<std::int32_t>(size), v.strides.of[rank] = v.strides.of[d];
  v.shape.sizes[d] = static_cast<std::int32_t>((n - size) / step + 1), v.strides.of[d] *= step;
  ++v.shape.rank;
  return true;
}

constexpr struct {
  std::string_view op;
  Viewer view;
} viewers[] = {
    {"aten::_to_copy.out", formatted_view},
    {"aten::alias_copy.out", same_view},
    {"aten::clone.out", formatted_view},
    {"aten::detach_copy.out", same_view},
    {"aten::diagonal_copy.out", diagonal_view},
    {"aten::expand_copy.out", expanded_view},
    {"aten::flip.out", flipped_view},
    {"aten::lift_fresh_copy.out", same_view},
    {"aten::narrow_copy.out", narrowed_view},
    {"aten::permute_copy.out", permuted_view},
    {"aten::select_copy.int_out", selected_view},
    {"aten::slice_copy.Tensor_out", sliced_view},
    {"aten::squeeze_copy.dim_out", squeezed_view},
    {"aten::squeeze_copy.dims_out", squeezed_view},
    {"aten::t_copy.out", t_view},
    {"aten::transpose_copy.int_out", transposed_view},
    {"aten::unfold_copy.out", unfolded_view},
    {"aten::unsqueeze_copy.out", unsqueezed_view},
    {"aten::view_copy.out", reshaped_view},
    {"dim_order_ops::_clone_dim_order.out", ordered_view},
    {"dim_order_ops::_to_dim_order_copy.out", ordered_view},
    {"et_copy::_d2h_copy.out", same_view},
    {"et_copy::_h2d_copy.out", same_view},
};

}  // namespace

bool viewed_shape(const Call& call, std::int64_t count, Shape& shape) {
  if (!integers(call[1]) || call[1].count > max_rank) return false;
  const auto sizes = call[1].items();
  shape = {static_cast<int>(sizes.size()), {}};
  std::int64_t known = 1;
  int open = -1;
  for (int d = 0; d < shape.rank; ++d) {
    const std::int64_t n = sizes[static_cast<std::size_t>(d)]->integer;
    if (n < -1 || n > std::numeric_limits<std::int32_t>::max() || (n == -1 && open >= 0)) return false;
    if (n == -1)
      open = d;
    else if (__builtin_mul_overflow(known, n, &known))
      return false;
    shape.sizes[d] = static_cast<std::int32_t>(n);
  }
  if (open >= 0) {
    if (known == 0 || count % known != 0) return false;
    shape.sizes[open] = static_cast<std::int32_t>(count / known);
  }
  return shape.count() == count;
}

Viewer find_viewer(std::string_view op) {
  for (const auto& v : viewers)
    if (v.op == op) return v.view;
  return nullptr;
}

std::optional<View> view_of_copy(const Call& call) {
  const Viewer viewer = find_viewer(call.roles->name);
  if (!viewer || !is_fixed(call) || call.arguments.back()->kind != ValueKind::tensor) return {};
  const Tensor& out = *call.arguments.back()->tensor;
  View view = view_of(call, 0);
  if (call.tensor(0).dtype != out.dtype || !viewer(call, view) || !has_sizes(view, out)) return {};
  return view;
}

bool view_through(const Call& call, View& view) {
  const Viewer viewer = call.roles->has(format::Use::viewed) ? reshaped_view : find_viewer(call.roles->name);
  return viewer && viewer(call, view);
}

}  // namespace assay::optimized
