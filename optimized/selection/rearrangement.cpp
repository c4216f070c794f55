#include <algorithm>
#include <cstring>
#include <numeric>

#include "kernels.gen.h"
#include "optimized/selection/copy.h"
#include "optimized/selection/creation.h"
#include "optimized/selection/scalars.h"
#include "optimized/selection/views.h"

// Elements that are moved by several copies, each from a view to a view, and elements that a mask or a triangle
// selects.
namespace assay::optimized {
namespace {

// Copies between views of the same sizes. Elements are converted to the dtype `common` first.
void copy_view(const Tensor& to, const View& to_view, const Tensor& from, const View& from_view,
               const kernels::Threads& threads, std::optional<DType> common = {}) {
  const Strides strides[] = {to_view.strides, from_view.strides};
  copy_converted(nest_of(to_view.shape, row_major, strides), to, to_view.first, from, from_view.first,
                 common.value_or(to.dtype), threads);
}

// Operands of one dtype whose elements a copy can move.
bool is_moved(const Value& from, const Value& to) {
  return from.is_tensor() && to.is_tensor() && from.tensor->dtype == to.tensor->dtype;
}
bool accepts_move(const Call& call) { return is_moved(call[0], *call.arguments.back()); }

bool is_computed(DType dtype) {  // PyTorch has no such arithmetic for unsigned dtypes of 16 bits or more
  const DTypeFacts& facts = *find_dtype(static_cast<int>(dtype));
  return facts.kind <= Kind::complex && dtype < DType::uint16;
}

// A part of a dimension: where it begins in both tensors, and its size.
void cut(View& v, int dim, std::int64_t begin, std::int64_t size) {
  v.first += begin * v.strides.of[dim], v.shape.sizes[dim] = static_cast<std::int32_t>(size);
}

// roll: self, shifts, dims, out. Each dimension that is rolled has two parts, so that there are 2^n copies.
bool read_shifts(const Call& call, bool has_elements, std::int64_t* shifts) {
  const Tensor& self = call.tensor(0);
  const auto given = call[1].items(), dims = call[2].items();
  if (!integers(call[1]) || !integers(call[2]) || given.empty() || given.size() != dims.size()) return false;
  std::fill_n(shifts, max_rank, 0);
  for (std::size_t i = 0; i < dims.size() && has_elements; ++i) {
    const int d = dim_of(*dims[i], self.rank);
    if (d < 0 || self.rank == 0) return false;
    const std::int64_t n = self.sizes[d];
    shifts[d] = (shifts[d] + given[i]->integer % n + n) % n;
  }
  return true;
}

void roll_views(const Tensor& self, const Tensor& out, const View& from, const View& to, const std::int64_t* shifts,
                const kernels::Threads& threads) {
  std::uint32_t rolled = 0;
  for (int d = 0; d < from.shape.rank; ++d) rolled |= std::uint32_t{shifts[d] != 0} << d;
  for (std::uint32_t part = rolled;; part = (part - 1) & rolled) {
    View source = from, target = to;
    for (int d = 0; d < from.shape.rank; ++d) {
      const std::int64_t n = from.shape.sizes[d], kept = n - shifts[d];
      const bool wraps = part >> d & 1;
      cut(source, d, wraps ? kept : 0, wraps ? shifts[d] : kept);
      cut(target, d, wraps ? 0 : shifts[d], wraps ? shifts[d] : kept);
    }
    copy_view(out, target, self, source, threads);
    if (part == 0) return;
  }
}

bool run_roll(const Step& step, Execution& execution) {
  const Tensor& self = step.call.tensor(0);
  Tensor& out = step.call.out();
  std::int64_t shifts[max_rank] = {};
  View from = whole(self);
  const bool is_flat = step.call[2].count == 0 && integers(step.call[1]) && step.call[1].count == 1;
  if (is_flat) {  // all elements are one dimension
    const std::int64_t n = self.count();
    if (!self.is_contiguous() || !out.is_contiguous() || n > INT32_MAX) return false;
    from = {{1, {static_cast<std::int32_t>(n)}}, 0, {{1}}};
    shifts[0] = n == 0 ? 0 : (step.call[1].items()[0]->integer % n + n) % n;
  } else if (!read_shifts(step.call, self.count() > 0, shifts)) {
    return false;
  }
  if (!resize(out, self.shape())) return false;
  if (self.count() > 0) roll_views(self, out, from, is_flat ? from : whole(out), shifts, execution.threads);
  return true;
}

// pixel_shuffle and pixel_unshuffle: self, factor, out. The channels, rows and columns of the larger image have
// strides in the memory of the smaller one: factor^2 channels there are the pixels of a square here.
bool accepts_shuffle(const Call& call) {
  return accepts_move(call) && call.tensor(0).rank >= 3 && call.tensor(0).rank + 2 <= static_cast<int>(max_rank);
}
// PyTorch shuffles no tensor of 5 dimensions whose channels are last.
bool is_shuffled(const Tensor& self) {
  constexpr std::uint8_t channels_last[] = {0, 2, 3, 4, 1};
  const DType dtype = self.dtype;
  return self.count() == 0 || ((is_real(dtype) || dtype == DType::complex64 || dtype == DType::complex128) &&
                               !(self.rank == 5 && std::equal(channels_last, channels_last + 5, self.dim_order)));
}

template <bool is_reverse>
bool run_shuffle(const Step& step, Execution& execution) {
  const Tensor& self = step.call.tensor(0);
  Tensor& out = step.call.out();
  const std::int64_t r = step.call[1].integer;
  if (step.call[1].kind != ValueKind::integer || r < 1 || r > 3037000499 || !is_shuffled(self)) return false;
  const int c = self.rank - 3;
  Shape shape = shape_of(self);  // of the result
  const auto scale = [&](int d, std::int64_t factor, bool divides) {
    const std::int64_t n = shape.sizes[d];
    if (divides ? n % factor != 0 : n > 0 && factor > INT32_MAX / n) return false;
    shape.sizes[d] = static_cast<std::int32_t>(divides ? n / factor : n * factor);
    return true;
  };
  if (!scale(c, r * r, !is_reverse) || !scale(c + 1, r, is_reverse) || !scale(c + 2, r, is_reverse)) return false;
  if (is_reverse && self.count() == 0) shape = shape_of(self);  // PyTorch keeps these sizes
  if (!resize(out, shape.span())) return false;
  if (self.count() == 0) return true;
  const View large = whole(is_reverse ? self : out), small = whole(is_reverse ? out : self);
  View to{{self.rank + 2, {}}, 0, {}}, from = to;
  View &of_large = is_reverse ? from : to, &of_small = is_reverse ? to : from;
  int last = 0;
  const auto add = [&](std::int32_t size, std::ptrdiff_t in_large, std::ptrdiff_t in_small) {
    to.shape.sizes[last] = size, of_large.strides.of[last] = in_large, of_small.strides.of[last++] = in_small;
  };
  const Strides &l = large.strides, &s = small.strides;
  const auto n = static_cast<std::int32_t>(r);
  for (int d = 0; d < c; ++d) add(small.shape.sizes[d], l.of[d], s.of[d]);
  add(large.shape.sizes[c], l.of[c], r * r * s.of[c]);
  add(small.shape.sizes[c + 1], r * l.of[c + 1], s.of[c + 1]);
  add(n, l.of[c + 1], r * s.of[c]);
  add(small.shape.sizes[c + 2], r * l.of[c + 2], s.of[c + 2]);
  add(n, l.of[c + 2], s.of[c]);
  copy_view(out, to, self, from, execution.threads);
  return true;
}

// tril: self, diagonal, out. The elements above the diagonal become zeros.
bool accepts_tril(const Call& call) { return accepts_move(call) && call.tensor(0).rank >= 2; }
bool run_tril(const Step& step, Execution& execution) {
  const Tensor& self = step.call.tensor(0);
  Tensor& out = step.call.out();
  if (step.call[1].kind != ValueKind::integer || (!is_computed(self.dtype) && self.count() > 0) ||
      !resize(out, self.shape()))
    return false;
  copy(out, self, execution.threads);
  const int rank = out.rank;
  const std::int64_t rows = out.sizes[rank - 2], columns = out.sizes[rank - 1];
  const std::int64_t diagonal = std::clamp(step.call[1].integer, -rows, columns);
  constexpr std::uint64_t zero[2] = {};
  for (std::int64_t i = 0; i < rows; ++i) {
    const std::int64_t begin = std::clamp<std::int64_t>(i + diagonal + 1, 0, columns);
    View v = whole(out);
    cut(v, rank - 2, i, 1), cut(v, rank - 1, begin, columns - begin);
    const Strides strides[] = {v.strides, {}};
    copy(nest_of(v.shape, row_major, strides), out.at(v.first), reinterpret_cast<const std::byte*>(zero),
         out.element_bytes(), execution.threads);
  }
  return true;
}

// stack: tensors, dim, out.
bool accepts_stack(const Call& call) {
  return call[0].kind == ValueKind::tensors && call[0].count > 0 && call[2].is_tensor() &&
         casts_to(call[0].items(), call.tensor(2).dtype);
}
// One index of a dimension of a tensor.
View slot_of(const Tensor& t, int dim, std::int64_t i) {
  View v = whole(t);
  v.first += i * v.strides.of[dim];
  erase(v, dim);
  return v;
}

bool run_stack(const Step& step, Execution& execution) {
  const auto tensors = step.call[0].items();
  Tensor& out = step.call.out();
  Shape shape = shape_of(*tensors[0]->tensor);
  const int rank = shape.rank + 1, dim = dim_of(step.call[1], rank);
  if (dim < 0 || rank > static_cast<int>(max_rank) || tensors.size() > INT32_MAX) return false;
  for (const Value* v : tensors)
    if (!std::ranges::equal(v->tensor->shape(), shape.span())) return false;
  std::copy_backward(shape.sizes + dim, shape.sizes + rank - 1, shape.sizes + rank);
  shape.sizes[dim] = static_cast<std::int32_t>(tensors.size()), shape.rank = rank;
  if (!resize(out, shape.span())) return false;
  const DType common = common_of(tensors, out.dtype);
  for (std::size_t k = 0; k < tensors.size(); ++k)
    copy_view(out, slot_of(out, dim, static_cast<std::int64_t>(k)), *tensors[k]->tensor, whole(*tensors[k]->tensor),
              execution.threads, common);
  return true;
}

// unbind_copy: self, dim, outs.
bool accepts_unbind(const Call& call) {
  return call[0].is_tensor() && call[2].kind == ValueKind::tensors && call.tensor(0).rank > 0 &&
         std::ranges::all_of(call[2].items(), [&](const Value* v) { return v && is_moved(call[0], *v); });
}
bool run_unbind(const Step& step, Execution& execution) {
  const Tensor& self = step.call.tensor(0);
  const auto outs = step.call[2].items();
  const int dim = dim_of(step.call[1], self.rank);
  if (dim < 0 || outs.size() != static_cast<std::size_t>(self.sizes[dim])) return false;
  const Shape shape = self.sizes[dim] > 0 ? slot_of(self, dim, 0).shape : Shape{};
  for (const Value* out : outs)
    if (!can_have(*out->tensor, shape)) return false;
  for (std::size_t k = 0; k < outs.size(); ++k) {
    Tensor& out = *outs[k]->tensor;
    resize(out, shape.span());
    copy_view(out, whole(out), self, slot_of(self, dim, static_cast<std::int64_t>(k)), execution.threads);
  }
  return true;
}

// index_select of one index without dimensions, or from a tensor without dimensions: self, dim, index, out.
bool accepts_select(const Call& call) {
  if (!is_moved(call[0], call[3]) || !call[2].is_tensor()) return false;
  const Tensor &self = call.tensor(0), &index = call.tensor(2);
  return (index.dtype == DType::int64 || index.dtype == DType::int32) && (self.rank > 1 || is_computed(self.dtype));
}
bool run_select(const Step& step, Execution& execution) {
  const Tensor &self = step.call.tensor(0), &index = step.call.tensor(2);
  Tensor& out = step.call.out();
  const int dim = dim_of(step.call[1], self.rank);
  const Reading<std::int64_t> indices(index, index.dtype);
  const std::int64_t n = index.count(), size = self.rank > 0 ? self.size(dim) : 1;
  if (dim < 0 || index.rank > 1 || (self.rank == 0 && n != 1)) return false;
  for (std::int64_t k = 0; k < n; ++k)
    if (indices[k] < 0 || indices[k] >= size) return false;
  Shape shape = shape_of(self);
  if (self.rank > 0) shape.sizes[dim] = static_cast<std::int32_t>(n);
  if (!resize(out, shape.span())) return false;
  if (self.rank == 0) return copy(out, self, execution.threads), true;
  for (std::int64_t k = 0; k < n; ++k)
    copy_view(out, slot_of(out, dim, k), self, slot_of(self, dim, indices[k]), execution.threads);
  return true;
}

// masked_fill: self, mask, value, out.
bool accepts_masked_fill(const Call& call) {
  std::byte element[most_element_bytes];
  return accepts_move(call) && is_computed(call.tensor(0).dtype) && call[1].is_tensor() &&
         call.tensor(1).dtype == DType::boolean && element_of(call[2], call.tensor(0).dtype, element);
}
bool run_masked_fill(const Step& step, Execution&) {
  const Tensor &self = step.call.tensor(0), &mask = step.call.tensor(1);
  Tensor& out = step.call.out();
  alignas(8) std::byte element[most_element_bytes] = {};
  Shape shape = shape_of(self);
  if (!element_of(step.call[2], out.dtype, element) || !broadcast(shape, mask) || !resize(out, shape.span()))
    return false;
  const Strides strides[] = {strides_of(out), strides_in(shape, self), strides_in(shape, mask)};
  const Nest nest = nest_of(shape, out.dim_order, strides);
  const Mover move = find_mover(out.element_bytes());
  each_row(nest, 3, [&](const std::ptrdiff_t* i, std::ptrdiff_t n) {
    const int inner = nest.loops - 1;
    move(out.at(i[0]), nest.stride[0][inner], self.at(i[1]), nest.stride[1][inner], n);
    for (std::ptrdiff_t k = 0; k < n; ++k)
      if (mask.elements<std::uint8_t>()[i[2] + k * nest.stride[2][inner]])
        std::memcpy(out.at(i[0] + k * nest.stride[0][inner]), element, out.element_bytes());
  });
  return true;
}

// nonzero: self, out. A row for each element that is not 0, with its indices.
bool accepts_nonzero(const Call& call) {
  return call[0].is_tensor() && call[1].is_tensor() && is_computed(call.tensor(0).dtype) &&
         call.tensor(1).dtype == DType::int64 && call.tensor(1).rank == 2;
}

// Calls found(place, strides) for each element that is not 0, in row-major order.
template <class Found>
void each_nonzero(const Tensor& self, Found found) {
  const Strides own = strides_of(self);
  std::int32_t index[max_rank] = {};
  const std::int64_t n = self.count();
  for (std::int64_t k = 0; k < n; ++k) {
    std::ptrdiff_t place = 0;
    for (int d = 0; d < self.rank; ++d) place += index[d] * own.of[d];
    std::uint8_t is_true;
    convert(self.dtype, self.at(place), DType::boolean, &is_true);
    if (is_true) found(index);
    for (int d = self.rank - 1; d >= 0 && ++index[d] == self.sizes[d]; --d) index[d] = 0;
  }
}

bool run_nonzero(const Step& step, Execution&) {
  const Tensor& self = step.call.tensor(0);
  Tensor& out = step.call.out();
  std::int64_t rows = 0;
  each_nonzero(self, [&](const std::int32_t*) { ++rows; });
  const Shape shape{2, {static_cast<std::int32_t>(rows), self.rank}};
  if (rows > INT32_MAX || !resize(out, shape.span())) return false;
  const Strides strides = strides_of(out);
  auto* to = out.elements<std::int64_t>();
  each_nonzero(self, [&](const std::int32_t* index) {
    for (int d = 0; d < self.rank; ++d) to[d * strides.of[1]] = index[d];
    to += strides.of[0];
  });
  return true;
}

// fill.Tensor: self, value, out.
bool accepts_fill(const Call& call) {
  return call[0].is_tensor() && call[1].is_tensor() && call[2].is_tensor() && call.tensor(1).rank == 0 &&
         call.tensor(0).dtype == call.tensor(2).dtype && find_reader<Complex>(call.tensor(1).dtype) &&
         find_reader<Complex>(call.tensor(2).dtype);
}
bool run_fill(const Step& step, Execution&) {
  const Tensor& value = step.call.tensor(1);
  Tensor& out = step.call.out();
  alignas(8) std::byte element[most_element_bytes] = {};
  convert(value.dtype, value.data, out.dtype, element);
  if (!resize(out, step.call.tensor(0).shape())) return false;
  fill(out, element);
  return true;
}

}  // namespace

constexpr Kernel roll{"roll", accepts_move, nullptr, run_roll};
constexpr Kernel pixel_shuffle{"pixel_shuffle", accepts_shuffle, nullptr, run_shuffle<false>};
constexpr Kernel pixel_unshuffle{"pixel_unshuffle", accepts_shuffle, nullptr, run_shuffle<true>};
constexpr Kernel tril{"tril", accepts_tril, nullptr, run_tril};
constexpr Kernel stack{"stack", accepts_stack, nullptr, run_stack};
constexpr Kernel unbind_copy{"unbind_copy", accepts_unbind, nullptr, run_unbind};
constexpr Kernel select_any{"select_any", accepts_select, nullptr, run_select};
constexpr Kernel masked_fill{"masked_fill", accepts_masked_fill, nullptr, run_masked_fill};
constexpr Kernel nonzero{"nonzero", accepts_nonzero, nullptr, run_nonzero};
constexpr Kernel fill_tensor{"fill_tensor", accepts_fill, nullptr, run_fill};

}  // namespace assay::optimized
