#include <cmath>
#include <limits>

#include "kernels.gen.h"
#include "optimized/selection/scalars.h"
#include "optimized/selection/window.h"

// Pools of any dtype, in any layout and along one, two or three dimensions, by plain loops, and their gradients.
namespace assay::optimized {
namespace {

constexpr int most_axes = 3;

struct Pool {
  int n = 0;  // the number of axes, which are the last dimensions
  Axis axes[most_axes] = {};
  bool ceil_mode = false, count_include_pad = true;
  std::int64_t divisor = 0;  // 0 means the number of cells that the window covers
};

bool flag(const Value& v, bool& to) { return to = v.boolean, v.kind == ValueKind::boolean; }

// Reads kernel size, stride, padding, and for some pools dilation, which begin at argument `first`.
bool make_axes(const Call& call, std::size_t first, bool is_dilated, Pool& pool) {
  const auto n = static_cast<std::size_t>(pool.n);
  for (std::size_t d = 0; d < n; ++d) {
    Axis& axis = pool.axes[d];
    axis.kernel = entry(call[first], n, d, -1);
    axis.stride = entry(call[first + 1], n, d, axis.kernel);
    axis.padding = entry(call[first + 2], n, d, -1);
    if (is_dilated) axis.dilation = entry(call[first + 3], n, d, -1);
    if (axis.kernel < 1 || axis.stride < 1 || axis.padding < 0 || axis.padding > axis.kernel / 2 || axis.dilation < 1)
      return false;
  }
  return true;
}

// Operands: self, kernel_size, stride, padding, ceil_mode, count_include_pad, maybe divisor_override, out.
bool average(const Call& call, std::size_t first, Pool& pool) {
  const Value none{}, &divisor = pool.n == 1 ? none : call[first + 5];
  if (divisor.kind == ValueKind::integer) pool.divisor = divisor.integer;
  return (divisor.kind == ValueKind::none || (divisor.kind == ValueKind::integer && pool.divisor != 0)) &&
         make_axes(call, first, false, pool) && flag(call[first + 3], pool.ceil_mode) &&
         flag(call[first + 4], pool.count_include_pad);
}
// Operands: self, kernel_size, stride, padding, dilation, ceil_mode, ..., out, indices.
bool largest(const Call& call, std::size_t first, Pool& pool) {
  return make_axes(call, first, true, pool) && flag(call[first + 4], pool.ceil_mode);
}

// The sizes of the results of windows along the last dimensions of cells.
bool pooled(const Pool& pool, const Tensor& cells, Shape& shape) {
  shape = shape_of(cells);
  for (int d = 0; d < pool.n; ++d) {
    std::int32_t& size = shape.sizes[shape.rank - pool.n + d];
    const std::int64_t places = pool.axes[d].places(size, pool.ceil_mode);
    if (places < 1 || places > INT32_MAX) return false;
    size = static_cast<std::int32_t>(places);
  }
  return true;
}
// Operands: self, output_size.
bool adaptive(const Call& call, Pool& pool, Shape& shape) {
  shape = shape_of(call.tensor(0));
  if (!integers(call[1]) || call[1].count != static_cast<std::uint32_t>(pool.n)) return false;
  for (int d = 0; d < pool.n; ++d) {
    const std::int64_t size = call[1].items()[static_cast<std::size_t>(d)]->integer;
    if (size < 0 || size > INT32_MAX) return false;
    pool.axes[d].adaptive = true, shape.sizes[shape.rank - pool.n + d] = static_cast<std::int32_t>(size);
  }
  return true;
}

bool has_rank(const Tensor& self, int n) { return self.rank == n + 1 || self.rank == n + 2; }
// Whether the sizes from a dimension on are at least 1.
bool has_sizes_from(const Tensor& self, int first) {
  return std::all_of(self.sizes + first, self.sizes + self.rank, [](std::int32_t n) { return n > 0; });
}

// A window: the cells along each axis. Axes that a pool does not have come first, and have one cell.
struct Window {
  Range along[most_axes];

  std::int64_t inside() const { return along[0].count * along[1].count * along[2].count; }
  std::int64_t covered() const { return along[0].padded * along[1].padded * along[2].padded; }
};

// Calls f(index, window) for each index of the results.
template <class F>
void each_window(const Pool& pool, const Shape& cells, const Shape& results, F f) {
  const int first = results.rank - pool.n, added = most_axes - pool.n;
  each_index(results, [&](const std::int32_t* index) {
    Window window{{{0, 1, 1, 1}, {0, 1, 1, 1}, {0, 1, 1, 1}}};
    for (int d = 0; d < pool.n; ++d)
      window.along[added + d] = pool.axes[d].range(index[first + d], cells.sizes[first + d], results.sizes[first + d]);
    f(index, window);
  });
}

// The strides of the axes of windows in the memory of cells.
struct AxisStrides {
  std::ptrdiff_t of[most_axes] = {};

  AxisStrides(const Strides& strides, int rank, int n) {
    for (int d = 0; d < n; ++d) of[most_axes - n + d] = strides.of[rank - n + d];
  }
  std::ptrdiff_t place(std::int64_t i, std::int64_t j, std::int64_t k) const {
    return i * of[0] + j * of[1] + k * of[2];
  }
};
// Calls f(i, j, k) for each cell of a window that is inside.
template <class F>
void each_cell(const Window& w, F f) {
  const auto at = [&](int d, std::int64_t i) { return w.along[d].first + i * w.along[d].step; };
  for (std::int64_t i = 0; i < w.along[0].count; ++i)
    for (std::int64_t j = 0; j < w.along[1].count; ++j)
      for (std::int64_t k = 0; k < w.along[2].count; ++k) f(at(0, i), at(1, j), at(2, k));
}

// A quotient of integers is truncated.
template <class T>
T divided(T sum, std::int64_t n) {
  if constexpr (std::is_integral_v<T>)
    return sum / n;
  else
    return sum / T(static_cast<double>(n));
}
std::int64_t divisor_of(const Pool& pool, const Window& w) {
  return pool.divisor != 0 ? pool.divisor : pool.count_include_pad ? w.covered() : w.inside();
}

// The means of windows. A mean of no cells is 0, or for an adaptive pool NaN.
template <class T>
bool average_windows(const Pool& pool, const Tensor& self, const Tensor& out) {
  const Reading<T> x(self, self.dtype);
  const Writing<T> y(out);
  const Strides in = strides_of(self), to = strides_of(out);
  const AxisStrides cells(in, self.rank, pool.n);
  each_window(pool, shape_of(self), shape_of(out), [&](const std::int32_t* index, const Window& w) {
    const std::ptrdiff_t plane = place_of(in, index, self.rank - pool.n);
    T sum{};
    each_cell(
        w, [&](std::int64_t i, std::int64_t j, std::int64_t k) { sum = plus(sum, x[plane + cells.place(i, j, k)]); });
    const bool is_empty = w.inside() == 0 && !pool.axes[0].adaptive;
    y.set(place_of(to, index, out.rank), is_empty ? T{} : divided(sum, divisor_of(pool, w)));
  });
  return true;
}

template <int n>
bool accepts_average(const Call& call) {
  if (!call[0].is_tensor() || !call.arguments.back()->is_tensor()) return false;
  const DType dtype = call.tensor(0).dtype;
  return dtype == call.out().dtype &&
         (dtype == DType::int64 || (is_floating(dtype) && (n < 3 || computed_in(dtype) == dtype)));
}
template <int n>
bool run_average(const Step& step, Execution&) {
  const Tensor& self = step.call.tensor(0);
  Pool pool{.n = n};
  Shape shape;
  if (!has_rank(self, n) || !has_sizes_from(self, self.rank - n - 1) || !average(step.call, 1, pool)) return false;
  for (int d = 0; d < n && n == 3; ++d)
    if (pool.axes[d].kernel > self.sizes[self.rank - n + d]) return false;
  if (!pooled(pool, self, shape) || !resize(step.call.out(), shape.span())) return false;
  return self.dtype == DType::int64 ? average_windows<std::int64_t>(pool, self, step.call.out())
                                    : average_windows<double>(pool, self, step.call.out());
}

bool accepts_adaptive(const Call& call) {
  return call[0].is_tensor() && call.arguments.back()->is_tensor() && call.tensor(0).dtype == call.tensor(2).dtype &&
         find_reader<Complex>(call.tensor(0).dtype);
}
template <int n>
bool run_adaptive_average(const Step& step, Execution&) {
  const Tensor& self = step.call.tensor(0);
  Tensor& out = step.call.out();
  Pool pool{.n = n};
  Shape shape;
  if (!has_rank(self, n) || !adaptive(step.call, pool, shape)) return false;
  const bool is_mean = n == 1 && shape.sizes[shape.rank - 1] == 1;
  const bool computes =
      is_floating(self.dtype) || (is_mean && is_complex(self.dtype) && is_number_or_complex(self.dtype));
  if ((!is_mean && !has_sizes_from(self, n == 3 ? 1 : self.rank - n)) ||
      (!computes && (n == 3 || is_mean || shape.count() > 0)) || (n == 2 && is_complex(self.dtype)) ||
      !resize(out, shape.span()))
    return false;
  if (is_complex(self.dtype)) return average_windows<Complex>(pool, self, out);
  return !is_floating(self.dtype) || average_windows<double>(pool, self, out);
}

// The largest cells of windows and where they are in their planes. The last NaN wins; of equal cells the first one
// does. A window without cells gives the least number of the dtype and the place that its first cell would have.
std::int64_t least_integer(DType dtype) {
  return dtype == DType::uint8 ? 0 : -(std::int64_t{1} << (find_dtype(static_cast<int>(dtype))->bytes * 8 - 1));
}
template <class T>
T least_of(DType dtype) {
  if constexpr (std::is_integral_v<T>)
    return dtype == DType::int64 ? std::numeric_limits<T>::min() : least_integer(dtype);
  else
    return -std::numeric_limits<T>::infinity();
}

template <class T>
bool find_largest(const Pool& pool, const Tensor& self, const Tensor& out, const Tensor& places) {
  const Reading<T> x(self, self.dtype);
  const Writing<T> y(out);
  const Strides in = strides_of(self), to = strides_of(out), to_places = strides_of(places);
  const AxisStrides cells(in, self.rank, pool.n);
  const Shape shape = shape_of(self);
  const AxisStrides counted(strides_of(shape, row_major), self.rank, pool.n);
  each_window(pool, shape, shape_of(out), [&](const std::int32_t* index, const Window& w) {
    const std::ptrdiff_t plane = place_of(in, index, self.rank - pool.n);
    T best = least_of<T>(self.dtype);
    std::ptrdiff_t place = counted.place(w.along[0].first, w.along[1].first, w.along[2].first);
    each_cell(w, [&](std::int64_t i, std::int64_t j, std::int64_t k) {
      const T now = x[plane + cells.place(i, j, k)];
      if (now > best || now != now) best = now, place = counted.place(i, j, k);
    });
    y.set(place_of(to, index, out.rank), best);
    places.elements<std::int64_t>()[place_of(to_places, index, out.rank)] = place;
  });
  return true;
}

bool accepts_largest(const Call& call) {
  const std::size_t last = call.arguments.size() - 1;
  return call[0].is_tensor() && call[last - 1].is_tensor() && call[last].is_tensor() &&
         is_number(call.tensor(0).dtype) && call.tensor(last - 1).dtype == call.tensor(0).dtype &&
         call.tensor(last).dtype == DType::int64;
}
bool find_largest(const Call& call, const Pool& pool, const Shape& shape) {
  const Tensor& self = call.tensor(0);
  Tensor &out = call.tensor(call.arguments.size() - 2), &places = call.out();
  if (!can_have(out, shape) || !resize(places, shape.span())) return false;
  resize(out, shape.span());
  return is_floating(self.dtype) ? find_largest<double>(pool, self, out, places)
                                 : find_largest<std::int64_t>(pool, self, out, places);
}
template <int n>
bool run_largest(const Step& step, Execution&) {
  const Tensor& self = step.call.tensor(0);
  Pool pool{.n = n};
  Shape shape;
  return has_rank(self, n) && has_sizes_from(self, self.rank - n - 1) &&
         (n != 3 || self.rank != 4 || is_row_major(self)) && largest(step.call, 1, pool) && pooled(pool, self, shape) &&
         find_largest(step.call, pool, shape);
}
bool accepts_adaptive_largest(const Call& call) { return accepts_largest(call) && is_floating(call.tensor(0).dtype); }
template <int n>
bool run_adaptive_largest(const Step& step, Execution&) {
  const Tensor& self = step.call.tensor(0);
  Pool pool{.n = n};
  Shape shape;
  return has_rank(self, n) && has_sizes_from(self, 1) && adaptive(step.call, pool, shape) &&
         find_largest(step.call, pool, shape);
}

// Gradients: each cell gets a part of the gradient of each window that it is in. Parts are added in the dtype.

template <class T>
void add(const Reading<T>& total, const Writing<T>& to, std::ptrdiff_t i, T x) {
  to.set(i, plus(total[i], x));
}

template <class T>
bool share_average(const Pool& pool, const Tensor& gradient, const Tensor& out) {
  const Reading<T> g(gradient, gradient.dtype), total(out, out.dtype);
  const Writing<T> to(out);
  clear(out);
  const Strides from = strides_of(gradient), in = strides_of(out);
  const AxisStrides cells(in, out.rank, pool.n);
  each_window(pool, shape_of(out), shape_of(gradient), [&](const std::int32_t* index, const Window& w) {
    if (w.inside() == 0) return;
    const T part = divided(g[place_of(from, index, out.rank)], divisor_of(pool, w));
    const std::ptrdiff_t plane = place_of(in, index, out.rank - pool.n);
    each_cell(
        w, [&](std::int64_t i, std::int64_t j, std::int64_t k) { add(total, to, plane + cells.place(i, j, k), part); });
  });
  return true;
}

bool accepts_gradient(const Call& call) {
  return call[0].is_tensor() && call[1].is_tensor() && call.arguments.back()->is_tensor() &&
         call.tensor(0).dtype == call.tensor(1).dtype && call.tensor(0).dtype == call.out().dtype &&
         (is_floating(call.tensor(0).dtype) || call.tensor(0).dtype == DType::int64);
}
bool accepts_floating_gradient(const Call& call) { return accepts_gradient(call) && is_floating(call.tensor(0).dtype); }

// Operands: grad_output, self, ...
bool run_average_gradient(const Step& step, Execution&) {
  const Tensor &gradient = step.call.tensor(0), &self = step.call.tensor(1);
  Tensor& out = step.call.out();
  Pool pool{.n = 2};
  Shape shape;
  if (!has_rank(self, 2) || !has_sizes_from(self, self.rank - 3) || !average(step.call, 2, pool) ||
      !pooled(pool, self, shape) || !std::ranges::equal(shape.span(), gradient.shape()) || !resize(out, self.shape()))
    return false;
  return self.dtype == DType::int64 ? share_average<std::int64_t>(pool, gradient, out)
                                    : share_average<double>(pool, gradient, out);
}
bool run_adaptive_gradient(const Step& step, Execution&) {
  const Tensor &gradient = step.call.tensor(0), &self = step.call.tensor(1);
  Pool pool{.n = 2};
  for (Axis& axis : pool.axes) axis.adaptive = true;
  const bool fits = has_rank(self, 2) && has_sizes_from(self, self.rank - 3) && gradient.rank == self.rank &&
                    has_sizes_from(gradient, gradient.rank - 3) &&
                    std::equal(self.sizes, self.sizes + self.rank - 2, gradient.sizes);
  return fits && resize(step.call.out(), self.shape()) && share_average<double>(pool, gradient, step.call.out());
}

// Operands: grad_output, self, kernel_size, stride, padding, dilation, ceil_mode, indices, grad_input.
bool run_largest_gradient(const Step& step, Execution&) {
  const Tensor &gradient = step.call.tensor(0), &self = step.call.tensor(1);
  Tensor& out = step.call.out();
  Pool pool{.n = 2};
  Shape shape;
  if (!step.call[7].is_tensor() || step.call.tensor(7).dtype != DType::int64 || !has_rank(self, 2) ||
      !has_sizes_from(self, self.rank - 3) || !largest(step.call, 2, pool) || !pooled(pool, self, shape))
    return false;
  const Tensor& places = step.call.tensor(7);
  if (!std::ranges::equal(shape.span(), gradient.shape()) || !std::ranges::equal(shape.span(), places.shape()))
    return false;
  const std::int64_t width = self.size(self.rank - 1), cells = self.size(self.rank - 2) * width, count = places.count();
  const auto* named = places.elements<std::int64_t>();
  if (!std::all_of(named, named + count, [&](std::int64_t i) { return i >= 0 && i < cells; }) ||
      !resize(out, self.shape()))
    return false;
  clear(out);
  const Reading<double> g(gradient, gradient.dtype), total(out, out.dtype);
  const Writing<double> to(out);
  const Strides from = strides_of(gradient), in = strides_of(out), of_places = strides_of(places);
  each_index(shape, [&](const std::int32_t* index) {
    const std::int64_t place = named[place_of(of_places, index, out.rank)];
    const std::ptrdiff_t cell = place / width * in.of[out.rank - 2] + place % width * in.of[out.rank - 1];
    add(total, to, place_of(in, index, out.rank - 2) + cell, g[place_of(from, index, out.rank)]);
  });
  return true;
}

}  // namespace

constexpr Kernel avg_pool1d{"avg_pool1d", accepts_average<1>, nullptr, run_average<1>};
constexpr Kernel avg_pool2d_any{"avg_pool2d_any", accepts_average<2>, nullptr, run_average<2>};
constexpr Kernel avg_pool3d{"avg_pool3d", accepts_average<3>, nullptr, run_average<3>};
constexpr Kernel adaptive_avg_pool1d{"adaptive_avg_pool1d", accepts_adaptive, nullptr, run_adaptive_average<1>};
constexpr Kernel adaptive_avg_pool2d_any{"adaptive_avg_pool2d_any", accepts_adaptive, nullptr, run_adaptive_average<2>};
constexpr Kernel adaptive_avg_pool3d{"adaptive_avg_pool3d", accepts_adaptive, nullptr, run_adaptive_average<3>};
constexpr Kernel max_pool2d_any{"max_pool2d_any", accepts_largest, nullptr, run_largest<2>};
constexpr Kernel max_pool3d{"max_pool3d", accepts_largest, nullptr, run_largest<3>};
constexpr Kernel adaptive_max_pool2d{"adaptive_max_pool2d", accepts_adaptive_largest, nullptr, run_adaptive_largest<2>};
constexpr Kernel adaptive_max_pool3d{"adaptive_max_pool3d", accepts_adaptive_largest, nullptr, run_adaptive_largest<3>};
constexpr Kernel avg_pool2d_gradient{"avg_pool2d_gradient", accepts_gradient, nullptr, run_average_gradient};
constexpr Kernel adaptive_avg_pool2d_gradient{"adaptive_avg_pool2d_gradient", accepts_floating_gradient, nullptr,
                                              run_adaptive_gradient};
constexpr Kernel max_pool2d_gradient{"max_pool2d_gradient", accepts_floating_gradient, nullptr, run_largest_gradient};

}  // namespace assay::optimized
