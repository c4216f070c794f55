#include <algorithm>
#include <cstring>

#include "kernels.gen.h"
#include "optimized/selection/copy.h"
#include "optimized/selection/scalars.h"
#include "optimized/selection/window.h"

// Elements that are found by their places in memory, and windows that are summed into an image.
namespace assay::optimized {
namespace {

// as_strided_copy: self, size, stride, storage_offset, out.
bool accepts_strided(const Call& call) {
  return call[0].is_tensor() && call[4].is_tensor() && call.tensor(0).dtype == call.tensor(4).dtype;
}
bool run_strided(const Step& step, Execution& execution) {
  const Tensor& self = step.call.tensor(0);
  Tensor& out = step.call.out();
  const Value& offset = step.call[3];
  if (!integers(step.call[1]) || !integers(step.call[2]) ||
      (offset.kind != ValueKind::none && offset.kind != ValueKind::integer))
    return false;
  const auto sizes = step.call[1].items(), strides = step.call[2].items();
  if (sizes.size() != strides.size() || sizes.size() > max_rank) return false;
  Shape shape{static_cast<int>(sizes.size()), {}};
  Strides of_both[2] = {};
  const std::int64_t first = offset.kind == ValueKind::none ? 0 : offset.integer, most = self.count();
  std::int64_t last = first;
  bool is_empty = false;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    const std::int64_t n = sizes[d]->integer, stride = strides[d]->integer;
    if (n < 0 || n > INT32_MAX || stride < 0) return false;
    std::int64_t reach = 0;
    if (n > 1 && (__builtin_mul_overflow(n - 1, stride, &reach) || __builtin_add_overflow(last, reach, &last)))
      return false;
    is_empty = is_empty || n == 0;
    shape.sizes[d] = static_cast<std::int32_t>(n), of_both[1].of[d] = stride;
  }
  if (first < 0 || (!is_empty && last >= most) || !resize(out, shape.span())) return false;
  of_both[0] = strides_of(out);
  copy(nest_of(shape, out.dim_order, of_both), out.data, self.at(first), out.element_bytes(), execution.threads);
  return true;
}

// view_copy.dtype: self, dtype, out. The bytes of the elements in row-major order, as elements of another dtype. Where
// the widths differ, the last dimension of self is the innermost one.
bool accepts_reinterpreting(const Call& call) {
  return call[0].is_tensor() && call[2].is_tensor() && named(call[1]) == call.tensor(2).dtype &&
         find_reader<Complex>(call.tensor(2).dtype);
}
// Whether the rows along the last dimension lie in memory as elements of another width can be read from them.
bool has_rows(const Tensor& self, std::int64_t width) {
  const Strides strides = strides_of(self);
  const auto bytes = static_cast<std::int64_t>(self.element_bytes());
  const int last = self.rank - 1;
  return last >= 0 && strides.of[last] == 1 &&
         std::all_of(strides.of, strides.of + last, [&](std::ptrdiff_t n) { return n * bytes % width == 0; });
}
bool run_reinterpreting(const Step& step, Execution&) {
  const Tensor& self = step.call.tensor(0);
  Tensor& out = step.call.out();
  const auto from = static_cast<std::int64_t>(self.element_bytes()),
             to = static_cast<std::int64_t>(out.element_bytes());
  Shape shape = shape_of(self);
  const std::int64_t unit = std::min(from, to);
  if (from != to) {
    if (!has_rows(self, to)) return false;
    const std::int64_t bytes = shape.sizes[shape.rank - 1] * from;
    if (bytes % to != 0 || bytes / to > INT32_MAX) return false;
    shape.sizes[shape.rank - 1] = static_cast<std::int32_t>(bytes / to);
  }
  if (!resize(out, shape.span())) return false;
  Walk source(self), target(out);
  const std::int64_t units = out.count() * to / unit, of_source = from / unit, of_target = to / unit;
  for (std::int64_t n = 0; n < units; ++n) {
    std::memcpy(out.at(target.place()) + n % of_target * unit, self.at(source.place()) + n % of_source * unit,
                static_cast<std::size_t>(unit));
    if ((n + 1) % of_source == 0) source.next();
    if ((n + 1) % of_target == 0) target.next();
  }
  return true;
}

// col2im: self, output_size, kernel_size, dilation, padding, stride, out. Parts are added in the dtype.
bool accepts_fold(const Call& call) {
  if (!call[0].is_tensor() || !call[6].is_tensor()) return false;
  const DType dtype = call.tensor(0).dtype;
  return call.tensor(6).dtype == dtype &&
         (dtype == DType::boolean || is_floating(dtype) || (is_number_or_complex(dtype) && is_complex(dtype)));
}
bool run_fold(const Step& step, Execution&) {
  const Call& call = step.call;
  const Tensor& self = call.tensor(0);
  Tensor& out = call.out();
  std::int64_t size[2], kernel[2], dilation[2], padding[2], stride[2], places[2];
  for (std::size_t d = 0; d < 2; ++d) {
    for (std::size_t i = 1; i < 6; ++i)
      if (!integers(call[i]) || call[i].count != 2) return false;
    size[d] = entry(call[1], 2, d, -1), kernel[d] = entry(call[2], 2, d, -1), dilation[d] = entry(call[3], 2, d, -1);
    padding[d] = entry(call[4], 2, d, -1), stride[d] = entry(call[5], 2, d, -1);
    if (size[d] < 1 || kernel[d] < 1 || dilation[d] < 1 || padding[d] < 0 || stride[d] < 1) return false;
    const std::int64_t left = size[d] + 2 * padding[d] - dilation[d] * (kernel[d] - 1) - 1;
    places[d] = left < 0 ? 0 : left / stride[d] + 1;
  }
  const int rank = self.rank;
  if (rank != 2 && rank != 3) return false;
  const std::int64_t cells = kernel[0] * kernel[1], rows = self.size(rank - 2), columns = self.size(rank - 1);
  if (rows == 0 || columns == 0 || rows % cells != 0 || places[0] < 1 || places[1] < 1 ||
      columns != places[0] * places[1])
    return false;
  Shape shape = shape_of(self);
  shape.sizes[rank - 2] = static_cast<std::int32_t>(rows / cells),
                     shape.sizes[rank - 1] = static_cast<std::int32_t>(size[0]);
  shape.sizes[shape.rank++] = static_cast<std::int32_t>(size[1]);
  if (!resize(out, shape.span())) return false;
  clear(out);
  const Strides from = strides_of(self), to = strides_of(out);
  return with_number(out.dtype, [&]<class T>() {
    const Reading<T> x(self, out.dtype), total(out, out.dtype);
    const Writing<T> y(out);
    each_index(shape_of(self), [&](const std::int32_t* index) {
      const std::int64_t row = index[rank - 2], column = index[rank - 1], cell = row % cells;
      const std::int64_t i = column / places[1] * stride[0] - padding[0] + cell / kernel[1] * dilation[0];
      const std::int64_t j = column % places[1] * stride[1] - padding[1] + cell % kernel[1] * dilation[1];
      if (i < 0 || i >= size[0] || j < 0 || j >= size[1]) return;
      const std::ptrdiff_t at =
          place_of(to, index, rank - 2) + row / cells * to.of[rank - 2] + i * to.of[rank - 1] + j * to.of[rank];
      y.set(at, plus(total[at], x[place_of(from, index, rank)]));
    });
    return true;
  });
}

}  // namespace

constexpr Kernel as_strided{"as_strided", accepts_strided, nullptr, run_strided};
constexpr Kernel reinterpret{"reinterpret", accepts_reinterpreting, nullptr, run_reinterpreting};
constexpr Kernel col2im{"col2im", accepts_fold, nullptr, run_fold};

}  // namespace assay::optimized
