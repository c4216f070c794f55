#pragma once

#include <algorithm>
#include <cmath>
#include <optional>

#include "reference/array.h"
#include "reference/dtype.h"
#include "reference/value.h"

// Windows that move over the spatial dimensions of a tensor. A list has one entry for each of these dimensions, or one
// entry for all.
namespace assay {

inline Int entry(const Ints& list, Int dim) { return list[list.size() == 1 ? 0 : static_cast<std::size_t>(dim)]; }

// Cells along one dimension: first, first + step, ..., `count` cells in all.
struct Range {
  Int first, count, step;
};

// One dimension of a window. At position `place` the window starts at cell stride * place - padding and reads `kernel`
// cells at a distance of `dilation`.
struct WindowAxis {
  Int kernel, stride, padding, dilation;

  Int start(Int place) const { return place * stride - padding; }
  Int extent() const { return dilation * (kernel - 1) + 1; }

  // The number of positions of the window over `size` cells. With ceil_mode there is one more position if cells are
  // left over, unless the window would start in the padding behind the last cell.
  Int places(Int size, bool ceil_mode) const {
    const Int n = floor_div(size + 2 * padding - extent() + (ceil_mode ? stride - 1 : 0), stride) + 1;
    return ceil_mode && start(n - 1) >= size ? n - 1 : n;
  }

  // The cells of a dimension with `size` cells that the window reads at position `place`.
  Range inside(Int place, Int size) const {
    const auto taps_before = [&](Int cell) {
      return std::clamp<Int>(floor_div(cell - start(place) + dilation - 1, dilation), 0, kernel);
    };
    const Int before = taps_before(0);
    return {start(place) + before * dilation, taps_before(size) - before, dilation};
  }

  // The number of cells, padding included, that the window covers at position `place`. The dilation is ignored.
  Int padded(Int place, Int size) const { return std::min(kernel, size + padding - start(place)); }
};

// Limits a number to ±2^30, which is larger than the size of any tensor that fits in memory. A limited number is still
// too large, and products of limited numbers do not overflow.
inline Int within_window(Int n) { return std::clamp(n, -(Int{1} << 30), Int{1} << 30); }

// Makes the axis of spatial dimension `dim`. An empty stride means the kernel's size.
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

// The distance between neighbouring positions when n cells are resampled to m positions, in cells. A scale that is not
// positive is ignored.
inline Real resampling_step(Int n, Int m, bool align_corners, std::optional<Real> scale) {
  if (align_corners) return m > 1 ? static_cast<Real>(n - 1) / static_cast<Real>(m - 1) : 0;
  return scale && *scale > 0 ? 1 / *scale : static_cast<Real>(n) / static_cast<Real>(m);
}

// One dimension of a window that resamples n cells to m positions and weighs the cells by a triangle around each
// position. If m equals n, each position takes its own cell.
struct TriangleAxis {
  Int n, m;
  Real step;

  Real width() const { return std::max<Real>(step, 1); }  // half the width of the triangle, in cells
  Real centre(Int place) const { return step * (static_cast<Real>(place) + Real{0.5}); }
  Int first(Int place) const { return static_cast<Int>(std::max<Real>(centre(place) - width() + Real{0.5}, 0)); }
  Int end(Int place) const { return std::min(static_cast<Int>(centre(place) + width() + Real{0.5}), n); }
  // Whether the triangle of each position reaches a cell.
  bool reaches() const { return n == m || (width() <= 0x1p30 && first(m - 1) < n); }
  Int cells() const {
    return std::min<Int>(2 * static_cast<Int>(std::ceil(width())) + 1, n);
  }  // the largest number of cells of one position
};

// Makes the magnitude of each result unbounded whose exact value is not finite, if its magnitude is negative. A
// negative magnitude marks a result for which a kernel may or may not read an element that is not finite.
inline void free_where_not_finite(Array<Real>& magnitude, const Array<Real>& exact) {
  for (Int k = 0; k < exact.count(); ++k)
    if (magnitude[k] < 0 && !std::isfinite(exact[k])) magnitude[k] = unbounded;
}

}  // namespace assay
