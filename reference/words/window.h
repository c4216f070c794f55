#pragma once

#include <algorithm>
#include <cmath>
#include <optional>

#include "reference/array.h"
#include "reference/dtype.h"
#include "reference/value.h"

// Windows that move over the spatial dimensions of a tensor. A list has one entry for each of them, or one for all.
namespace assay {

inline Int entry(const Ints& list, Int dim) { return list[list.size() == 1 ? 0 : static_cast<std::size_t>(dim)]; }

// Cells along one dimension: `count` of them from `first` on, every step-th.
struct Range {
  Int first, count, step;
};

// One dimension of a window: it starts at stride * place - padding and reads every dilation-th cell, kernel times.
struct WindowAxis {
  Int kernel, stride, padding, dilation;

  Int start(Int place) const { return place * stride - padding; }
  Int extent() const { return dilation * (kernel - 1) + 1; }

  // The number of places of the window over a size. With ceil_mode there is one more where cells are left over, unless
  // it would start in the padding behind the last cell.
  Int places(Int size, bool ceil_mode) const {
    const Int n = floor_div(size + 2 * padding - extent() + (ceil_mode ? stride - 1 : 0), stride) + 1;
    return ceil_mode && start(n - 1) >= size ? n - 1 : n;
  }

  // The cells of a size that the window reads in one place.
  Range inside(Int place, Int size) const {
    const auto taps_before = [&](Int cell) {
      return std::clamp<Int>(floor_div(cell - start(place) + dilation - 1, dilation), 0, kernel);
    };
    const Int before = taps_before(0);
    return {start(place) + before * dilation, taps_before(size) - before, dilation};
  }

  // The number of cells that it covers there, undilated, up to the end of the padding.
  Int padded(Int place, Int size) const { return std::min(kernel, size + padding - start(place)); }
};

// Limits a number to +-2^30, which is beyond any size with elements: a larger one only has to stay beyond it, and
// products of limited numbers do not overflow.
inline Int within_window(Int n) { return std::clamp(n, -(Int{1} << 30), Int{1} << 30); }

// An empty stride is the kernel's size.
inline WindowAxis window_axis(Int dim, const Ints& kernel_size, const Ints& stride, const Ints& padding,
                              const Ints& dilation) {
  return {within_window(entry(kernel_size, dim)), within_window(entry(stride.empty() ? kernel_size : stride, dim)),
          within_window(entry(padding, dim)), within_window(entry(dilation, dim))};
}

struct WindowAxes {
  std::vector<WindowAxis> axes;
  const WindowAxis& operator[](Int dim) const { return axes[static_cast<std::size_t>(dim)]; }
};

// The axes of a window over the last `spatial` dimensions of a tensor. Along the other dimensions the window is one
// cell that moves by one.
inline WindowAxes window_axes(Int rank, Int spatial, const Ints& kernel_size, const Ints& stride, const Ints& padding,
                              const Ints& dilation) {
  WindowAxes all{std::vector<WindowAxis>(static_cast<std::size_t>(rank - spatial), {1, 1, 0, 1})};
  for (Int d = 0; d < spatial; ++d) all.axes.push_back(window_axis(d, kernel_size, stride, padding, dilation));
  return all;
}

// The distance between the m places of a resampled dimension, in cells of the n that it had. A scale that is not
// positive counts as none.
inline Real resampling_step(Int n, Int m, bool align_corners, std::optional<Real> scale) {
  if (align_corners) return m > 1 ? static_cast<Real>(n - 1) / static_cast<Real>(m - 1) : 0;
  return scale && *scale > 0 ? 1 / *scale : static_cast<Real>(n) / static_cast<Real>(m);
}

// One dimension of a window that weighs cells by a triangle around each of m places; where m is n, a place takes its
// own cell.
struct TriangleAxis {
  Int n, m;
  Real step;

  Real width() const { return std::max<Real>(step, 1); }  // on each side
  Real centre(Int place) const { return step * (static_cast<Real>(place) + Real{0.5}); }
  Int first(Int place) const { return static_cast<Int>(std::max<Real>(centre(place) - width() + Real{0.5}, 0)); }
  Int end(Int place) const { return std::min(static_cast<Int>(centre(place) + width() + Real{0.5}), n); }
  bool reaches() const { return n == m || (width() <= 0x1p30 && first(m - 1) < n); }  // whether each place has a cell
  Int cells() const {
    return std::min<Int>(2 * static_cast<Int>(std::ceil(width())) + 1, n);
  }  // at most, for one place
};

// A negative magnitude marks a result that may or may not read an element that is not finite: where the exact result is
// not finite, any result is allowed.
inline void free_where_not_finite(Array<Real>& magnitude, const Array<Real>& exact) {
  for (Int k = 0; k < exact.count(); ++k)
    if (magnitude[k] < 0 && !std::isfinite(exact[k])) magnitude[k] = unbounded;
}

}  // namespace assay
