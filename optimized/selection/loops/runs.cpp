#include <algorithm>
#include <cstring>

#include "kernels.gen.h"
#include "optimized/selection/copy.h"
#include "optimized/selection/scalars.h"
#include "optimized/selection/views.h"

// Results whose sizes the elements of a tensor decide.
namespace assay::optimized {
namespace {

// unique_consecutive: self, return_inverse, return_counts, dim, out, inverse, counts. An item is an element, or along a
// dimension a slice. Items are equal if all of their elements are; NaN equals no number.
struct Items {
  const Tensor& self;
  int dim;  // -1 if items are elements, in row-major order
  std::int64_t n;
  Nest slice;             // the elements of a slice
  std::ptrdiff_t stride;  // from slice to slice
  Strides strides;
};

Items items_of(const Tensor& self, int dim) {
  Items items{self, dim, self.count(), {}, 0, strides_of(self)};
  if (dim < 0) return items;
  Shape shape = shape_of(self);
  items.n = shape.sizes[dim], shape.sizes[dim] = 1, items.stride = items.strides.of[dim];
  items.slice = nest_of(shape, row_major, {&items.strides, 1});
  return items;
}

template <class T>
bool has_equal_slices(const Items& items, const Reading<T>& x, std::int64_t a, std::int64_t b) {
  bool equal = true;
  const int inner = items.slice.loops - 1;
  each_row(items.slice, 1, [&](const std::ptrdiff_t* at, std::ptrdiff_t n) {
    for (std::ptrdiff_t i = 0; i < n && equal; ++i) {
      const std::ptrdiff_t place = at[0] + i * items.slice.stride[0][inner];
      equal = x[place + a * items.stride] == x[place + b * items.stride];
    }
  });
  return equal;
}

// Calls item(k, place, begins) for each item: its number, its place, and whether a run begins with it.
template <class T, class Item>
void each_item(const Items& items, Item item) {
  const Reading<T> x(items.self, items.self.dtype);
  if (items.dim >= 0) {
    for (std::int64_t k = 0; k < items.n; ++k)
      item(k, k * items.stride, k == 0 || !has_equal_slices(items, x, k - 1, k));
    return;
  }
  std::int64_t k = 0;
  T before{};
  each_index(shape_of(items.self), [&](const std::int32_t* index) {
    const std::ptrdiff_t place = place_of(items.strides, index, items.self.rank);
    const T now = x[place];
    item(k, place, k == 0 || !(now == before));
    before = now, ++k;
  });
}

bool accepts_unique(const Call& call) {
  return call[0].is_tensor() && is_readable(call.tensor(0).dtype) && call[1].kind == ValueKind::boolean &&
         call[2].kind == ValueKind::boolean && call[4].is_tensor() && call[5].is_tensor() && call[6].is_tensor() &&
         call.tensor(4).dtype == call.tensor(0).dtype && call.tensor(5).dtype == DType::int64 &&
         call.tensor(6).dtype == DType::int64;
}

// The sizes of the results.
struct UniqueShapes {
  Shape out, inverse{1, {0}}, counts{1, {0}};
};
UniqueShapes shapes_of(const Call& call, const Items& items, std::int64_t runs) {
  const Tensor& self = call.tensor(0);
  UniqueShapes shapes;
  const bool is_along = call[3].kind == ValueKind::integer && !(call[3].integer == 0 && self.rank == 1);
  shapes.out = items.dim < 0 ? Shape{1, {}} : shape_of(self);
  shapes.out.sizes[std::max(items.dim, 0)] = static_cast<std::int32_t>(runs);
  if (call[1].boolean || is_along)
    shapes.inverse = items.dim < 0 ? shape_of(self) : Shape{1, {static_cast<std::int32_t>(items.n)}};
  if (call[2].boolean || is_along) shapes.counts.sizes[0] = static_cast<std::int32_t>(runs);
  return shapes;
}

template <class T>
bool find_unique(const Call& call, const Items& items) {
  Tensor &out = call.tensor(4), &inverse = call.tensor(5), &counts = call.tensor(6);
  std::int64_t runs = 0;
  each_item<T>(items, [&](std::int64_t, std::ptrdiff_t, bool begins) { runs += begins; });
  const UniqueShapes shapes = shapes_of(call, items, runs);
  if (!can_have(out, shapes.out) || !can_have(inverse, shapes.inverse) || !resize(counts, shapes.counts.span()))
    return false;
  resize(out, shapes.out.span()), resize(inverse, shapes.inverse.span());
  const bool has_inverse = inverse.count() > 0, has_counts = counts.count() > 0;
  Shape slice = shapes.out;
  if (items.dim >= 0) slice.sizes[items.dim] = 1;
  const Strides to = strides_of(out), both[] = {to, items.strides};
  const Nest nest = items.dim >= 0 ? nest_of(slice, row_major, both) : Nest{};
  const Strides of_inverse = strides_of(inverse);
  std::int64_t run = -1;
  each_item<T>(items, [&](std::int64_t k, std::ptrdiff_t place, bool begins) {
    run += begins;
    if (has_inverse) inverse.elements<std::int64_t>()[place_of(of_inverse, shapes.inverse, k)] = run;
    if (has_counts) counts.elements<std::int64_t>()[run] = begins ? 1 : counts.elements<std::int64_t>()[run] + 1;
    if (!begins) return;
    if (items.dim < 0)
      std::memcpy(out.at(run), items.self.at(place), out.element_bytes());
    else
      copy(nest, out.at(run * to.of[items.dim]), items.self.at(place), out.element_bytes(), {});
  });
  return true;
}

bool run_unique(const Step& step, Execution&) {
  const Tensor& self = step.call.tensor(0);
  int dim = -1;
  if (step.call[3].kind != ValueKind::none && (self.rank == 0 || (dim = dim_of(step.call[3], self.rank)) < 0))
    return false;
  for (int d = 0; d < self.rank && dim >= 0; ++d)
    if (d != dim && self.sizes[d] == 0) return false;
  const Items items = items_of(self, dim);
  return is_floating(self.dtype) ? find_unique<double>(step.call, items) : find_unique<std::int64_t>(step.call, items);
}

// masked_select: self, mask, out. The elements of self where the mask, in row-major order.
bool accepts_masked_select(const Call& call) {
  return call[0].is_tensor() && call[1].is_tensor() && call[2].is_tensor() && call.tensor(1).dtype == DType::boolean &&
         call.tensor(0).dtype == call.tensor(2).dtype &&
         (is_real(call.tensor(0).dtype) || is_complex(call.tensor(0).dtype));
}
// Calls chosen(index) for each index of the shape for which the mask is true.
template <class Chosen>
void each_masked(const Shape& shape, const Tensor& mask, Chosen chosen) {
  const Strides in_mask = strides_in(shape, mask);
  each_index(shape, [&](const std::int32_t* index) {
    if (mask.elements<std::uint8_t>()[place_of(in_mask, index, shape.rank)]) chosen(index);
  });
}
bool run_masked_select(const Step& step, Execution&) {
  const Tensor &self = step.call.tensor(0), &mask = step.call.tensor(1);
  Tensor& out = step.call.out();
  Shape shape = shape_of(self);
  if (!broadcast(shape, mask)) return false;
  std::int64_t n = 0;
  each_masked(shape, mask, [&](const std::int32_t*) { ++n; });
  const std::int32_t sizes[] = {static_cast<std::int32_t>(n)};
  if (n > INT32_MAX || !resize(out, sizes)) return false;
  const Strides in_self = strides_in(shape, self);
  std::ptrdiff_t k = 0;
  each_masked(shape, mask, [&](const std::int32_t* index) {
    std::memcpy(out.at(k++), self.at(place_of(in_self, index, shape.rank)), out.element_bytes());
  });
  return true;
}

// masked_scatter: self, mask, source, out. Self, with the elements of source in their order where the mask.
bool accepts_masked_scatter(const Call& call) {
  return call[0].is_tensor() && call[1].is_tensor() && call[2].is_tensor() && call[3].is_tensor() &&
         call.tensor(1).dtype == DType::boolean && call.tensor(2).dtype == call.tensor(0).dtype &&
         call.tensor(3).dtype == call.tensor(0).dtype &&
         (is_real(call.tensor(0).dtype) ||
          (is_complex(call.tensor(0).dtype) && is_number_or_complex(call.tensor(0).dtype)));
}
bool run_masked_scatter(const Step& step, Execution& execution) {
  const Tensor &self = step.call.tensor(0), &mask = step.call.tensor(1), &source = step.call.tensor(2);
  Tensor& out = step.call.out();
  Shape shape = shape_of(self);
  if (!broadcast(shape, mask)) return false;
  std::int64_t n = 0;
  each_masked(shape, mask, [&](const std::int32_t*) { ++n; });
  if (n > source.count() || !resize(out, shape.span())) return false;
  const Strides to = strides_of(out), both[] = {to, strides_in(shape, self)};
  copy(nest_of(shape, row_major, both), out.data, self.data, out.element_bytes(), execution.threads);
  Walk from(source);
  each_masked(shape, mask, [&](const std::int32_t* index) {
    std::memcpy(out.at(place_of(to, index, shape.rank)), source.at(from.place()), out.element_bytes());
    from.next();
  });
  return true;
}

// repeat_interleave: repeats, output_size, out. Each index k of repeats, repeats[k] times.
bool accepts_interleave(const Call& call) {
  return call[0].is_tensor() && call[2].is_tensor() && call.tensor(0).rank == 1 &&
         call.tensor(0).dtype == call.tensor(2).dtype &&
         (call.tensor(0).dtype == DType::int32 || call.tensor(0).dtype == DType::int64);
}
bool run_interleave(const Step& step, Execution&) {
  const Tensor& repeats = step.call.tensor(0);
  Tensor& out = step.call.out();
  const Reading<std::int64_t> times(repeats, repeats.dtype);
  const std::int64_t n = repeats.size(0);
  std::int64_t sum = 0;
  for (std::int64_t k = 0; k < n; ++k)
    if (times[k] < 0 || __builtin_add_overflow(sum, times[k], &sum)) return false;
  const Value& asked = step.call[1];
  if (asked.kind != ValueKind::none && (asked.kind != ValueKind::integer || (n > 0 && asked.integer != sum)))
    return false;
  const std::int32_t sizes[] = {static_cast<std::int32_t>(sum)};
  if (sum > INT32_MAX || !resize(out, sizes)) return false;
  const Writing<std::int64_t> y(out);
  std::ptrdiff_t at = 0;
  for (std::int64_t k = 0; k < n; ++k)
    for (std::int64_t i = times[k]; i > 0; --i) y.set(at++, k);
  return true;
}

}  // namespace

constexpr Kernel unique_consecutive{"unique_consecutive", accepts_unique, nullptr, run_unique};
constexpr Kernel masked_select{"masked_select", accepts_masked_select, nullptr, run_masked_select};
constexpr Kernel masked_scatter{"masked_scatter", accepts_masked_scatter, nullptr, run_masked_scatter};
constexpr Kernel repeat_interleave{"repeat_interleave", accepts_interleave, nullptr, run_interleave};

}  // namespace assay::optimized
