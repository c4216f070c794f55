#include "optimized/selection/layout.h"

#include <algorithm>

namespace assay::optimized {

std::int64_t Shape::count() const {
  std::int64_t n = 1;
  for (int d = 0; d < rank; ++d) n *= sizes[d];
  return n;
}

Shape shape_of(const Tensor& t) {
  Shape shape{t.rank, {}};
  std::copy_n(t.sizes, t.rank, shape.sizes);
  return shape;
}

bool broadcast(Shape& shape, const Shape& with) {
  const int rank = std::max(shape.rank, with.rank);
  if (shape.rank < rank) {
    std::copy_backward(shape.sizes, shape.sizes + shape.rank, shape.sizes + rank);
    std::fill_n(shape.sizes, rank - shape.rank, 1);
    shape.rank = rank;
  }
  for (int d = 0; d < with.rank; ++d) {
    std::int32_t& size = shape.sizes[d + rank - with.rank];
    if (with.sizes[d] == 1 || with.sizes[d] == size) continue;
    if (size != 1) return false;
    size = with.sizes[d];
  }
  return true;
}

Strides strides_of(const Shape& shape, const std::uint8_t* dim_order) {
  Strides strides{};
  std::ptrdiff_t stride = 1;
  for (int i = shape.rank - 1; i >= 0; --i) {
    strides.of[dim_order[i]] = stride;
    stride *= shape.sizes[dim_order[i]];
  }
  return strides;
}

Strides strides_in(const Shape& shape, const Tensor& t) {
  const Strides own = strides_of(t);
  Strides strides{};
  for (int d = 0; d < t.rank; ++d)
    if (t.sizes[d] != 1) strides.of[d + shape.rank - t.rank] = own.of[d];
  return strides;
}

Nest nest_of(const Shape& shape, const std::uint8_t* dim_order, std::span<const Strides> operands) {
  Nest nest;
  int last = -1;
  for (int i = 0; i < shape.rank; ++i) {
    const int d = dim_order[i];
    const std::ptrdiff_t n = shape.sizes[d];
    if (n == 0) return Nest{};
    if (n == 1) continue;
    const auto continues = [&](const Strides& s) { return nest.stride[&s - operands.data()][last] == s.of[d] * n; };
    if (last >= 0 && std::ranges::all_of(operands, continues)) {
      nest.count[last] *= n;
    } else {
      nest.count[++last] = n;
    }
    for (std::size_t k = 0; k < operands.size(); ++k) nest.stride[k][last] = operands[k].of[d];
  }
  if (last < 0) {  // one element
    nest.count[++last] = 1;
    for (std::size_t k = 0; k < operands.size(); ++k) nest.stride[k][last] = 1;
  }
  nest.loops = last + 1;
  return nest;
}

bool is_row_major(const Tensor& t) {
  for (int d = 0; d < t.rank; ++d)
    if (t.dim_order[d] != d) return false;
  return true;
}

bool can_have(const Tensor& tensor, const Shape& shape) {
  Tensor other = tensor;
  std::int32_t sizes[max_rank];
  other.sizes = sizes;
  return resize(other, shape.span());
}

bool is_fixed(const Value& v) {
  switch (v.kind) {
    case ValueKind::tensor:
      return !v.changes && !v.tensor->moves;
    case ValueKind::integers:
    case ValueKind::tensors:
      return std::ranges::all_of(v.items(), [](const Value* item) { return !item || is_fixed(*item); });
    default:
      return !v.changes;
  }
}

bool is_fixed(const Call& call) {
  return std::ranges::all_of(call.arguments, [](const Value* v) { return is_fixed(*v); });
}

int dim_of(const Value& dim, int rank) {
  const std::int64_t n = std::max(rank, 1), d = dim.integer;
  if (dim.kind != ValueKind::integer || d < -n || d >= n) return -1;
  return static_cast<int>(d < 0 ? d + n : d);
}

bool integers(const Value& list) {
  return list.kind == ValueKind::integers &&
         std::ranges::all_of(list.items(), [](const Value* v) { return v->kind == ValueKind::integer; });
}

bool is_memory_format(const Value& format, int rank) {
  if (format.kind == ValueKind::none) return true;
  return format.kind == ValueKind::integer &&
         (format.integer == 0 || format.integer == 1 || (format.integer == 2 && rank == 4) ||
          (format.integer == 3 && rank == 5));
}

bool is_format_order(const Value& dim_order, int rank) {
  if (dim_order.kind == ValueKind::none) return true;
  const auto all = dim_order.items();
  if (!integers(dim_order) || all.size() > max_rank) return false;
  constexpr int channels_last[] = {0, 2, 3, 1};
  bool contiguous = true, last = rank == 4 && all.size() == 4;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::int64_t d = all[i]->integer;
    contiguous = contiguous && d == static_cast<std::int64_t>(i);
    last = last && d == channels_last[i];
  }
  return contiguous || last;
}

bool make_broadcast_nest(const Call& call, std::size_t operands, Nest& nest) {
  Shape shape;
  for (std::size_t k = 0; k < operands; ++k)
    if (call[k].is_tensor() && !broadcast(shape, call.tensor(k))) return false;
  Tensor& out = call.out();
  if (!resize(out, shape.span())) return false;
  Strides strides[most_operands] = {strides_of(out)};
  for (std::size_t k = 0; k < operands; ++k)
    if (call[k].is_tensor()) strides[k + 1] = strides_in(shape, call.tensor(k));
  nest = nest_of(shape, out.dim_order, {strides, operands + 1});
  return true;
}

}  // namespace assay::optimized
