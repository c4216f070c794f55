#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels.gen.h"
#include "optimized/selection/scalars.h"

// Resizes images.
namespace assay::optimized {
namespace {

// Planes of rows of pixels. The elements of a pixel are contiguous: one element, or all channels.
struct Planes {
  std::int64_t count, height, width, elements;
};
bool planes_of(const Tensor& t, Planes& planes) {
  constexpr std::uint8_t last[] = {0, 2, 3, 1};
  const bool is_last = t.rank == 4 && std::equal(last, last + 4, t.dim_order);
  if (t.rank != 4 || (!is_last && !is_row_major(t))) return false;
  planes = {t.size(0) * (is_last ? 1 : t.size(1)), t.size(2), t.size(3), is_last ? t.size(1) : 1};
  return t.size(1) > 0 && planes.height > 0 && planes.width > 0;
}

bool is_given(const Value& v) { return v.kind != ValueKind::none; }

// The sizes of the result, from the operands input, output_size, ..., scale_factors and out.
bool result_of(const Call& call, Shape& shape) {
  const Value &sizes = call[1], &scales = call[call.arguments.size() - 2];
  shape = shape_of(call.tensor(0));
  if (is_given(sizes) == is_given(scales)) return false;
  if (is_given(sizes) ? !integers(sizes) || sizes.count != 2 : scales.kind != ValueKind::reals || scales.count != 2)
    return false;
  for (int d = 2; d < 4; ++d) {
    const double n = is_given(sizes) ? static_cast<double>(sizes.items()[static_cast<std::size_t>(d - 2)]->integer)
                                     : std::floor(static_cast<double>(shape.sizes[d]) * scales.reals[d - 2]);
    if (!(n >= 1 && n <= INT32_MAX)) return false;
    shape.sizes[d] = static_cast<std::int32_t>(n);
  }
  return true;
}

bool accepts(const Call& call, bool (*knows)(DType)) {
  const Value& out = *call.arguments.back();
  if (call[0].kind != ValueKind::tensor || out.kind != ValueKind::tensor) return false;
  const Tensor& input = call.tensor(0);
  Planes planes;
  Shape shape;
  return knows(input.dtype) && out.tensor->dtype == input.dtype && planes_of(input, planes) && out.tensor->rank == 4 &&
         std::equal(input.dim_order, input.dim_order + 4, out.tensor->dim_order) && result_of(call, shape);
}

// One dimension, which has n cells and m places.
struct Axis {
  std::int64_t n, m;
  double step;
};
Axis axis_of(const Call& call, int d, const Shape& shape) {
  const Value& scales = call[call.arguments.size() - 2];
  const std::int64_t n = call.tensor(0).size(d), m = shape.sizes[d];
  return {n, m, is_given(scales) ? 1 / scales.reals[d - 2] : static_cast<double>(n) / static_cast<double>(m)};
}

// Calls row(from, to, place) for each row of the result; `from` is its plane of the input.
template <class Row>
void each_result(const Tensor& input, const Tensor& out, const kernels::Threads& threads, Row row) {
  Planes from, to;
  planes_of(input, from), planes_of(out, to);
  const std::int64_t bytes = static_cast<std::int64_t>(input.element_bytes()) * from.elements;
  kernels::share(threads, static_cast<std::size_t>(to.count * to.height),
                 static_cast<std::size_t>(to.width * to.elements), [&](kernels::Range range) {
                   for (std::size_t r = range.begin; r < range.end; ++r) {
                     const auto at = static_cast<std::int64_t>(r);
                     row(input.data + at / to.height * from.height * from.width * bytes,
                         out.data + at * to.width * bytes, at % to.height);
                   }
                 });
}

// The cell of a place. Steps and places are floats, whatever the dtype is. Doubling a size needs no scale.
std::int64_t nearest(const Axis& axis, std::int64_t place) {
  if (axis.m == axis.n) return place;
  if (axis.m == 2 * axis.n) return place / 2;
  const double step = static_cast<double>(static_cast<float>(axis.step));
  const auto at = static_cast<double>(static_cast<float>(static_cast<double>(place) * step));
  return at < static_cast<double>(axis.n - 1) ? static_cast<std::int64_t>(at) : axis.n - 1;
}

bool accepts_nearest(const Call& call) {
  return accepts(call, [](DType dtype) {
    return dtype == DType::uint8 || find_dtype(static_cast<int>(dtype))->kind == Kind::floating;
  });
}

bool run_nearest(const Step& step, Execution& execution) {
  const Call& call = step.call;
  const Tensor& input = call.tensor(0);
  Tensor& out = call.tensor(3);
  Planes planes;
  Shape shape;
  if (!planes_of(input, planes) || !result_of(call, shape) || !resize(out, shape.span())) return false;
  const Axis y = axis_of(call, 2, shape), x = axis_of(call, 3, shape);
  const std::int64_t bytes = static_cast<std::int64_t>(input.element_bytes()) * planes.elements;
  each_result(input, out, execution.threads, [&](const std::byte* from, std::byte* to, std::int64_t place) {
    from += nearest(y, place) * planes.width * bytes;
    for (std::int64_t i = 0; i < x.m; ++i, to += bytes)
      std::memcpy(to, from + nearest(x, i) * bytes, static_cast<std::size_t>(bytes));
  });
  return true;
}

// The cells between which a place is, and how far it is from the first towards the second.
struct Weighed {
  std::int64_t first, second;
  double part;
};
Weighed weighed(const Axis& axis, bool align_corners, std::int64_t place) {
  const auto i = static_cast<double>(place);
  const double corners = axis.m > 1 ? static_cast<double>(axis.n - 1) / static_cast<double>(axis.m - 1) : 0;
  const double source = axis.n == axis.m ? i : align_corners ? i * corners : std::max((i + 0.5) * axis.step - 0.5, 0.0);
  const std::int64_t first = source < static_cast<double>(axis.n - 1) ? static_cast<std::int64_t>(source) : axis.n - 1;
  return {first, axis.n == axis.m ? first : std::min(first + 1, axis.n - 1),
          std::min(source - static_cast<double>(first), 1.0)};
}
// The same in fewer bytes.
struct Between {
  std::int32_t first, second;
  float part;
};
Between between(const Axis& axis, bool align_corners, std::int64_t place) {
  const Weighed w = weighed(axis, align_corners, place);
  return {static_cast<std::int32_t>(w.first), static_cast<std::int32_t>(w.second), static_cast<float>(w.part)};
}

bool accepts_bilinear(const Call& call) {
  return accepts(call, [](DType dtype) { return dtype == DType::float32; }) && call[2].kind == ValueKind::boolean &&
         !call.tensor(4).unbounded;
}

// One for each column of the result.
const void* prepare_bilinear(const Call& call, Stores& stores) {
  const Tensor& out = call.tensor(4);
  stores.scratch = static_cast<std::uint64_t>(out.declared[3]) * sizeof(Between);
  return nullptr;
}

bool run_bilinear(const Step& step, Execution& execution) {
  const Call& call = step.call;
  const Tensor& input = call.tensor(0);
  Tensor& out = call.tensor(4);
  Planes planes;
  Shape shape;
  if (!planes_of(input, planes) || !result_of(call, shape) ||
      execution.scratch.size() < static_cast<std::size_t>(shape.sizes[3]) * sizeof(Between) ||
      !resize(out, shape.span()))
    return false;
  const Axis y = axis_of(call, 2, shape), x = axis_of(call, 3, shape);
  const bool align_corners = call[2].boolean;
  auto* columns = reinterpret_cast<Between*>(execution.scratch.data());
  for (std::int64_t i = 0; i < x.m; ++i) columns[i] = between(x, align_corners, i);
  const auto blend = [](float a, float b, float part) { return (1 - part) * a + part * b; };
  each_result(input, out, execution.threads, [&](const std::byte* from, std::byte* to, std::int64_t place) {
    const Between row = between(y, align_corners, place);
    const auto* plane = reinterpret_cast<const float*>(from);
    const float *above = plane + row.first * planes.width * planes.elements,
                *below = plane + row.second * planes.width * planes.elements;
    auto* result = reinterpret_cast<float*>(to);
    for (std::int64_t i = 0; i < x.m; ++i) {
      const Between& column = columns[i];
      const std::int64_t a = column.first * planes.elements, b = column.second * planes.elements;
      for (std::int64_t c = 0; c < planes.elements; ++c)
        *result++ = blend(blend(above[a + c], above[b + c], column.part),
                          blend(below[a + c], below[b + c], column.part), row.part);
    }
  });
  return true;
}

// The same for every layout and dtype, by plain loops.
template <std::size_t last>
bool accepts_any(const Call& call) {
  if (!call[0].is_tensor() || !call[last].is_tensor()) return false;
  const DType dtype = call.tensor(0).dtype;
  return (is_floating(dtype) || dtype == DType::uint8) && call.tensor(last).dtype == dtype &&
         !call.tensor(last).unbounded;
}
bool has_cells(const Tensor& input) {
  return input.rank == 4 && std::all_of(input.sizes + 1, input.sizes + 4, [](std::int32_t n) { return n > 0; });
}

bool run_nearest_any(const Step& step, Execution&) {
  const Call& call = step.call;
  const Tensor& input = call.tensor(0);
  Tensor& out = call.tensor(3);
  Shape shape;
  if (!has_cells(input) || !result_of(call, shape) || !resize(out, shape.span())) return false;
  const Axis y = axis_of(call, 2, shape), x = axis_of(call, 3, shape);
  const Strides from = strides_of(input);
  Walk to(out);
  each_index(shape, [&](const std::int32_t* index) {
    const std::ptrdiff_t cell = nearest(y, index[2]) * from.of[2] + nearest(x, index[3]) * from.of[3];
    std::memcpy(out.at(to.place()), input.at(place_of(from, index, 2) + cell), out.element_bytes());
    to.next();
  });
  return true;
}

// The finest step at which the largest weight stays below 2^15.
int bits_of(const Axis& axis, bool align_corners) {
  double largest = 0;
  for (std::int64_t i = 0; i < axis.m; ++i) {
    const Weighed w = weighed(axis, align_corners, i);
    largest = std::max({largest, 1 - w.part, w.part});
  }
  int bits = 0;
  while (bits < 22 && 0.5 + largest * static_cast<double>(1 << (bits + 1)) < 1 << 15) ++bits;
  return bits;
}
// A weighted mean, rounded to an integer with halves rounded up.
double blend_bytes(double a, double b, double part, int bits) {
  const double one = 1 << bits, wa = std::floor((1 - part) * one + 0.5), wb = std::floor(part * one + 0.5);
  return std::clamp(std::floor((a * wa + b * wb) / one + 0.5), 0.0, 255.0);
}

bool run_bilinear_any(const Step& step, Execution&) {
  const Call& call = step.call;
  const Tensor& input = call.tensor(0);
  Tensor& out = call.tensor(4);
  Shape shape;
  if (!has_cells(input) || call[2].kind != ValueKind::boolean || !result_of(call, shape) || !resize(out, shape.span()))
    return false;
  const Axis y = axis_of(call, 2, shape), x = axis_of(call, 3, shape);
  const bool align_corners = call[2].boolean, is_bytes = input.dtype == DType::uint8;
  const int of_x = bits_of(x, align_corners), of_y = bits_of(y, align_corners);
  const auto blend = [&](double a, double b, double part, int bits) {
    return is_bytes ? blend_bytes(a, b, part, bits) : (1 - part) * a + part * b;
  };
  const Strides from = strides_of(input);
  const Reading<double> cells(input, input.dtype);
  const Writing<double> results(out);
  Walk to(out);
  each_index(shape, [&](const std::int32_t* index) {
    const Weighed row = weighed(y, align_corners, index[2]), column = weighed(x, align_corners, index[3]);
    const auto along = [&](std::int64_t r) {
      const std::ptrdiff_t first = place_of(from, index, 2) + r * from.of[2];
      return blend(cells[first + column.first * from.of[3]], cells[first + column.second * from.of[3]], column.part,
                   of_x);
    };
    results.set(to.place(), blend(along(row.first), along(row.second), row.part, of_y));
    to.next();
  });
  return true;
}

}  // namespace

constexpr Kernel upsample_nearest2d_any{"upsample_nearest2d_any", accepts_any<3>, nullptr, run_nearest_any};
constexpr Kernel upsample_bilinear2d_any{"upsample_bilinear2d_any", accepts_any<4>, nullptr, run_bilinear_any};
constexpr Kernel upsample_nearest2d{"upsample_nearest2d", accepts_nearest, nullptr, run_nearest};
constexpr Kernel upsample_bilinear2d_f32{"upsample_bilinear2d_f32", accepts_bilinear, prepare_bilinear, run_bilinear};

}  // namespace assay::optimized
