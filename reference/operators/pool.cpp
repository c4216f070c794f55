#include "operators/pool.gen.h"

#include <limits>

#include "reference/dtype.h"
#include "reference/numerics/quotient.h"
#include "reference/words/window.h"

namespace assay {
namespace {

constexpr Real infinity = std::numeric_limits<Real>::infinity();

// The cells of a tensor that make one result: a range along each dimension.
struct Window {
  Dims first, counts, steps;
  void push_back(const Range& range) {
    first.push_back(range.first), counts.push_back(range.count), steps.push_back(range.step);
  }
};

// f(position of the cell) for every cell, row-major.
template <class F>
void each_cell(const Window& window, const Dims& sizes, F f) {
  for (Dims i : indices(window.counts)) {
    for (int d = 0; d < i.size(); ++d) i[d] = window.first[d] + i[d] * window.steps[d];
    f(offset(sizes, i));
  }
}

// f(window, its place, position in out) for every result; range(dim, place) gives the cells along a dimension.
template <class R, class F>
void each_window(const Dims& out, R range, F f) {
  Int flat = 0;
  for (const Dims& place : indices(out)) {
    Window window;
    for (int d = 0; d < place.size(); ++d) window.push_back(range(d, place[d]));
    f(window, place, flat++);
  }
}

// The cells that a window reads along a dimension.
auto inside(const Dims& self, const WindowAxes& axes) {
  return [&](int d, Int place) { return axes[d].inside(place, self[d]); };
}

// The same for an adaptive pool, where each result has its share of the cells.
auto share(const Dims& self, const Dims& out) {
  return [&](int d, Int place) {
    const Int first = place * self[d] / out[d], end = ((place + 1) * self[d] + out[d] - 1) / out[d];
    return Range{first, end - first, 1};
  };
}

// f(window, divisor, position in out) for every average. No window begins beyond the cells.
template <class F>
void each_average(const Dims& out, const Dims& self, const WindowAxes& axes, bool count_include_pad,
                  std::optional<Int> divisor_override, F f) {
  each_window(out, inside(self, axes), [&](const Window& window, const Dims& place, Int flat) {
    const Int cells = count(window.counts);
    Int padded = 1;
    for (int d = 0; d < place.size(); ++d) padded *= axes[d].padded(place[d], self[d]);
    f(window, divisor_override.value_or(count_include_pad ? padded : cells), flat);
  });
}

template <class F>
void each_average(const Dims& out, const Dims& self, F f) {
  each_window(out, share(self, out),
              [&](const Window& window, const Dims&, Int flat) { f(window, count(window.counts), flat); });
}

void add(Sum<Real>& sum, Real x) { sum += x; }
void add(Sum<Complex>& sum, const Complex& x) { sum += x; }
void add(Int& sum, Int x) { sum = wrapping_add(sum, x); }

template <class T, class... Pool>
void average(Array<T>& out, const Array<T>& self, const Pool&... pool) {
  each_average(out.sizes, self.sizes, pool..., [&](const Window& window, Int divisor, Int flat) {
    Sum<T> sum = 0;
    each_cell(window, self.sizes, [&](Int cell) { add(sum, self[cell]); });
    out[flat] = quotient(sum, static_cast<T>(divisor));
  });
}

template <class T, class... Pool>
void spread(Array<T>& grad_input, const Array<T>& grad_output, const Pool&... pool) {
  Array<Sum<T>> sums(grad_input.sizes);
  each_average(grad_output.sizes, grad_input.sizes, pool..., [&](const Window& window, Int divisor, Int flat) {
    const T share = quotient(grad_output[flat], static_cast<T>(divisor));
    each_cell(window, grad_input.sizes, [&](Int cell) { add(sums[cell], share); });
  });
  std::ranges::copy(sums.data, grad_input.data.begin());
}

template <class T>
bool beats(T challenger, T best) {
  return challenger > best || challenger != challenger;
}

// The part of sizes, or of a place, along the last dimensions, over which a window moves.
Dims spatial_part(const Dims& sizes, int spatial) { return Dims(std::span(sizes.end() - spatial, sizes.end())); }

// range(dim, place) gives the cells of a window; a window without cells gives the least value.
template <class T, class R>
void largest(Array<T>& out, Array<Int>& indices, const Array<T>& self, int spatial, R range, Real least) {
  const Dims plane = spatial_part(self.sizes, spatial);
  each_window(out.sizes, range, [&](const Window& window, const Dims&, Int flat) {
    out[flat] = static_cast<T>(least), indices[flat] = offset(plane, spatial_part(window.first, spatial));
    each_cell(window, self.sizes, [&](Int cell) {
      if (beats(self[cell], out[flat])) out[flat] = self[cell], indices[flat] = cell % count(plane);
    });
  });
}

template <class T>
void largest(Array<T>& out, Array<Int>& indices, const Array<T>& self, int spatial, const Ints& kernel_size,
             const Ints& stride, const Ints& padding, const Ints& dilation, DType dtype) {
  const WindowAxes axes = window_axes(self.sizes.size(), spatial, kernel_size, stride, padding, dilation);
  largest(out, indices, self, spatial, inside(self.sizes, axes), is_floating(dtype) ? -infinity : least_integer(dtype));
}

WindowAxes undilated(const Dims& self, int spatial, const Ints& kernel_size, const Ints& stride, const Ints& padding) {
  return window_axes(self.size(), spatial, kernel_size, stride, padding, {1});
}

// divisor_override divides the sum after the last addition: the sum may overflow although the quotient does not.
void average_magnitude(Array<Real>& out, const Array<Real>& self, const WindowAxes& axes, bool count_include_pad,
                       std::optional<Int> divisor_override, const Arithmetic& a) {
  average(out, magnitudes(self), axes, count_include_pad, divisor_override ? std::optional<Int>(1) : std::nullopt);
  if (!divisor_override) return;
  const Real divisor = std::fabs(static_cast<Real>(*divisor_override));
  for (Real& sum : out.data) sum = sum >= a.largest ? overflowing(sum / divisor) : sum / divisor;
}

}  // namespace

void operators::avg_pool1d(Array<Real>& out, const Array<Real>& self, const Ints& kernel_size, const Ints& stride,
                           const Ints& padding, bool count_include_pad) {
  average(out, self, undilated(self.sizes, 1, kernel_size, stride, padding), count_include_pad, std::optional<Int>());
}
void operators::avg_pool1d(Array<Int>& out, const Array<Int>& self, const Ints& kernel_size, const Ints& stride,
                           const Ints& padding, bool count_include_pad) {
  average(out, self, undilated(self.sizes, 1, kernel_size, stride, padding), count_include_pad, std::optional<Int>());
}
void operators::avg_pool2d(Array<Real>& out, const Array<Real>& self, const Ints& kernel_size, const Ints& stride,
                           const Ints& padding, bool count_include_pad, std::optional<Int> divisor_override) {
  average(out, self, undilated(self.sizes, 2, kernel_size, stride, padding), count_include_pad, divisor_override);
}
void operators::avg_pool2d_magnitude(Array<Real>& out, const Array<Real>& self, const Ints& kernel_size,
                                     const Ints& stride, const Ints& padding, bool count_include_pad,
                                     std::optional<Int> divisor_override, const Arithmetic& a) {
  const WindowAxes axes = undilated(self.sizes, 2, kernel_size, stride, padding);
  average_magnitude(out, self, axes, count_include_pad, divisor_override, a);
}
void operators::avg_pool2d(Array<Int>& out, const Array<Int>& self, const Ints& kernel_size, const Ints& stride,
                           const Ints& padding, bool count_include_pad, std::optional<Int> divisor_override) {
  average(out, self, undilated(self.sizes, 2, kernel_size, stride, padding), count_include_pad, divisor_override);
}
void operators::avg_pool3d(Array<Real>& out, const Array<Real>& self, const Ints& kernel_size, const Ints& stride,
                           const Ints& padding, bool count_include_pad, std::optional<Int> divisor_override) {
  average(out, self, undilated(self.sizes, 3, kernel_size, stride, padding), count_include_pad, divisor_override);
}
void operators::avg_pool3d_magnitude(Array<Real>& out, const Array<Real>& self, const Ints& kernel_size,
                                     const Ints& stride, const Ints& padding, bool count_include_pad,
                                     std::optional<Int> divisor_override, const Arithmetic& a) {
  const WindowAxes axes = undilated(self.sizes, 3, kernel_size, stride, padding);
  average_magnitude(out, self, axes, count_include_pad, divisor_override, a);
}
void operators::avg_pool3d(Array<Int>& out, const Array<Int>& self, const Ints& kernel_size, const Ints& stride,
                           const Ints& padding, bool count_include_pad, std::optional<Int> divisor_override) {
  average(out, self, undilated(self.sizes, 3, kernel_size, stride, padding), count_include_pad, divisor_override);
}

void operators::adaptive_avg_pool(Array<Real>& out, const Array<Real>& self) { average(out, self); }
void operators::adaptive_avg_pool(Array<Complex>& out, const Array<Complex>& self) { average(out, self); }
void operators::adaptive_avg_pool_backward(Array<Real>& out, const Array<Real>& grad_output) {
  spread(out, grad_output);
}

void operators::avg_pool2d_backward(Array<Real>& grad_input, const Array<Real>& grad_output, const Ints& kernel_size,
                                    const Ints& stride, const Ints& padding, bool count_include_pad,
                                    std::optional<Int> divisor_override) {
  spread(grad_input, grad_output, undilated(grad_input.sizes, 2, kernel_size, stride, padding), count_include_pad,
         divisor_override);
}
void operators::avg_pool2d_backward(Array<Int>& grad_input, const Array<Int>& grad_output, const Ints& kernel_size,
                                    const Ints& stride, const Ints& padding, bool count_include_pad,
                                    std::optional<Int> divisor_override) {
  spread(grad_input, grad_output, undilated(grad_input.sizes, 2, kernel_size, stride, padding), count_include_pad,
         divisor_override);
}

void operators::max_pool2d_with_indices(Array<Real>& out, Array<Int>& indices, const Array<Real>& self,
                                        const Ints& kernel_size, const Ints& stride, const Ints& padding,
                                        const Ints& dilation, const Rounding& round) {
  largest(out, indices, self, 2, kernel_size, stride, padding, dilation, round.dtype);
}
void operators::max_pool2d_with_indices(Array<Int>& out, Array<Int>& indices, const Array<Int>& self,
                                        const Ints& kernel_size, const Ints& stride, const Ints& padding,
                                        const Ints& dilation, const Rounding& round) {
  largest(out, indices, self, 2, kernel_size, stride, padding, dilation, round.dtype);
}
void operators::max_pool3d_with_indices(Array<Real>& out, Array<Int>& indices, const Array<Real>& self,
                                        const Ints& kernel_size, const Ints& stride, const Ints& padding,
                                        const Ints& dilation, const Rounding& round) {
  largest(out, indices, self, 3, kernel_size, stride, padding, dilation, round.dtype);
}
void operators::max_pool3d_with_indices(Array<Int>& out, Array<Int>& indices, const Array<Int>& self,
                                        const Ints& kernel_size, const Ints& stride, const Ints& padding,
                                        const Ints& dilation, const Rounding& round) {
  largest(out, indices, self, 3, kernel_size, stride, padding, dilation, round.dtype);
}

void operators::adaptive_max_pool(Array<Real>& out, Array<Int>& indices, const Array<Real>& self,
                                  const Ints& output_size) {
  largest(out, indices, self, static_cast<int>(output_size.size()), share(self.sizes, out.sizes), -infinity);
}

void operators::max_pool2d_with_indices_backward(Array<Real>& grad_input, const Array<Real>& grad_output,
                                                 const Array<Int>& indices) {
  const Int cells = count(spatial_part(grad_input.sizes, 2)), windows = count(spatial_part(grad_output.sizes, 2));
  for (Int flat = 0; flat < grad_output.count(); ++flat)
    grad_input[flat / windows * cells + indices[flat]] += grad_output[flat];
}

}  // namespace assay
