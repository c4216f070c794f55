#include <cmath>

#include "operators/pool.gen.h"
#include "reference/window.h"

namespace assay {
namespace {

// The last two dimensions are a plane.
Int height(const Dims& sizes) { return sizes[sizes.size() - 2]; }
Int width(const Dims& sizes) { return sizes[sizes.size() - 1]; }

// f(plane, row, column, position in out) for every result.
template <class F>
void each_place(const Dims& out, F f) {
  const Int columns = width(out), cells = height(out) * columns;
  for (Int flat = 0; flat < count(out); ++flat) f(flat / cells, flat / columns % height(out), flat % columns, flat);
}

// Rows or columns from begin up to end.
struct Range {
  Int begin, end;
  Int count() const { return std::max<Int>(end - begin, 0); }
  Range within(Int size) const { return {std::max<Int>(begin, 0), std::min(end, size)}; }
};

Real plus(Real a, Real b) { return a + b; }
Int plus(Int a, Int b) { return wrapping_add(a, b); }

template <class T>
T sum(const Array<T>& x, Int plane, Range rows, Range columns) {
  T total = 0;
  for (Int r = rows.begin; r < rows.end; ++r)
    for (Int c = columns.begin; c < columns.end; ++c) total = plus(total, x[(plane * height(x.sizes) + r) * width(x.sizes) + c]);
  return total;
}

// The cells from a window's start to its end, or to the end of the padding.
Range padded(const WindowAxis& axis, Int place, Int size) { return {axis.start(place), std::min(axis.start(place) + axis.kernel, size + axis.padding)}; }

// Adds to every cell of a window.
template <class T>
void spread(Array<T>& x, Int plane, Range rows, Range columns, T share) {
  for (Int r = rows.begin; r < rows.end; ++r)
    for (Int c = columns.begin; c < columns.end; ++c) {
      T& cell = x[(plane * height(x.sizes) + r) * width(x.sizes) + c];
      cell = plus(cell, share);
    }
}

// f(plane, rows, columns, divisor, position) for every average that has a cell; f is given the cells inside.
template <class F>
void each_average(const Dims& out, const Dims& self, const WindowAxis& y, const WindowAxis& x, bool count_include_pad, std::optional<Int> divisor_override, F f) {
  each_place(out, [&](Int plane, Int row, Int column, Int flat) {
    const Range all_rows = padded(y, row, height(self)), all_columns = padded(x, column, width(self));
    const Range rows = all_rows.within(height(self)), columns = all_columns.within(width(self));
    const Int cells = rows.count() * columns.count(), padded_cells = all_rows.count() * all_columns.count();
    if (cells > 0) f(plane, rows, columns, divisor_override.value_or(count_include_pad ? padded_cells : cells), flat);
  });
}

template <class T>
void average(Array<T>& out, const Array<T>& self, const WindowAxis& y, const WindowAxis& x, bool count_include_pad, std::optional<Int> divisor_override) {
  each_average(out.sizes, self.sizes, y, x, count_include_pad, divisor_override,
               [&](Int plane, Range rows, Range columns, Int divisor, Int flat) { out[flat] = sum(self, plane, rows, columns) / static_cast<T>(divisor); });
}

template <class T>
void spread_averages(Array<T>& grad_input, const Array<T>& grad_output, const WindowAxis& y, const WindowAxis& x, bool count_include_pad, std::optional<Int> divisor_override) {
  each_average(grad_output.sizes, grad_input.sizes, y, x, count_include_pad, divisor_override,
               [&](Int plane, Range rows, Range columns, Int divisor, Int flat) { spread(grad_input, plane, rows, columns, grad_output[flat] / static_cast<T>(divisor)); });
}

// f(plane, rows, columns, position) for every window of an adaptive pool.
template <class F>
void each_share(const Dims& out, const Dims& self, F f) {
  const auto share = [](Int place, Int size, Int places) { return Range{place * size / places, ((place + 1) * size + places - 1) / places}; };
  each_place(out, [&](Int plane, Int row, Int column, Int flat) { f(plane, share(row, height(self), height(out)), share(column, width(self), width(out)), flat); });
}

template <class T>
bool beats(T challenger, T best) { return challenger > best || challenger != challenger; }

template <class T>
void largest_of_windows(Array<T>& out, Array<Int>& indices, const Array<T>& self, const WindowAxis& y, const WindowAxis& x) {
  const Int rows = height(self.sizes), columns = width(self.sizes);
  each_place(out.sizes, [&](Int plane, Int row, Int column, Int flat) {
    Int best = -1;
    for (Int tap = 0; tap < y.kernel * x.kernel; ++tap) {
      const Int r = y.start(row) + tap / x.kernel * y.dilation, c = x.start(column) + tap % x.kernel * x.dilation;
      if (r < 0 || r >= rows || c < 0 || c >= columns) continue;
      const T value = self[(plane * rows + r) * columns + c];
      if (best < 0 || beats(value, out[flat])) best = r * columns + c, out[flat] = value;
    }
    indices[flat] = best;
  });
}

const Ints undilated{1};

}  // namespace

void operators::avg_pool2d(Array<Real>& out, const Array<Real>& self, const Ints& kernel_size, const Ints& stride, const Ints& padding, bool count_include_pad, std::optional<Int> divisor_override) {
  average(out, self, window_axis(0, kernel_size, stride, padding, undilated), window_axis(1, kernel_size, stride, padding, undilated), count_include_pad, divisor_override);
}
void operators::avg_pool2d(Array<Int>& out, const Array<Int>& self, const Ints& kernel_size, const Ints& stride, const Ints& padding, bool count_include_pad, std::optional<Int> divisor_override) {
  average(out, self, window_axis(0, kernel_size, stride, padding, undilated), window_axis(1, kernel_size, stride, padding, undilated), count_include_pad, divisor_override);
}

void operators::adaptive_avg_pool2d(Array<Real>& out, const Array<Real>& self) {
  each_share(out.sizes, self.sizes, [&](Int plane, Range rows, Range columns, Int flat) {
    out[flat] = sum(self, plane, rows, columns) / static_cast<Real>(rows.count() * columns.count());
  });
}
void operators::adaptive_avg_pool2d_backward(Array<Real>& out, const Array<Real>& grad_output) {
  each_share(grad_output.sizes, out.sizes, [&](Int plane, Range rows, Range columns, Int flat) {
    spread(out, plane, rows, columns, grad_output[flat] / static_cast<Real>(rows.count() * columns.count()));
  });
}

void operators::avg_pool2d_backward(Array<Real>& grad_input, const Array<Real>& grad_output, const Ints& kernel_size, const Ints& stride, const Ints& padding, bool count_include_pad, std::optional<Int> divisor_override) {
  spread_averages(grad_input, grad_output, window_axis(0, kernel_size, stride, padding, undilated), window_axis(1, kernel_size, stride, padding, undilated), count_include_pad, divisor_override);
}
void operators::avg_pool2d_backward(Array<Int>& grad_input, const Array<Int>& grad_output, const Ints& kernel_size, const Ints& stride, const Ints& padding, bool count_include_pad, std::optional<Int> divisor_override) {
  spread_averages(grad_input, grad_output, window_axis(0, kernel_size, stride, padding, undilated), window_axis(1, kernel_size, stride, padding, undilated), count_include_pad, divisor_override);
}

void operators::max_pool2d_with_indices_backward(Array<Real>& grad_input, const Array<Real>& grad_output, const Array<Int>& indices) {
  const Int cells = height(grad_input.sizes) * width(grad_input.sizes), windows = height(grad_output.sizes) * width(grad_output.sizes);
  for (Int flat = 0; flat < grad_output.count(); ++flat) grad_input[flat / windows * cells + indices[flat]] += grad_output[flat];
}

void operators::max_pool2d_with_indices(Array<Real>& out, Array<Int>& indices, const Array<Real>& self, const Ints& kernel_size, const Ints& stride, const Ints& padding, const Ints& dilation) {
  largest_of_windows(out, indices, self, window_axis(0, kernel_size, stride, padding, dilation), window_axis(1, kernel_size, stride, padding, dilation));
}
void operators::max_pool2d_with_indices(Array<Int>& out, Array<Int>& indices, const Array<Int>& self, const Ints& kernel_size, const Ints& stride, const Ints& padding, const Ints& dilation) {
  largest_of_windows(out, indices, self, window_axis(0, kernel_size, stride, padding, dilation), window_axis(1, kernel_size, stride, padding, dilation));
}

}  // namespace assay
