#pragma once

#include <algorithm>

#include "optimized/selection/layout.h"

// Windows that move along the last dimensions of a tensor, whose elements there are cells.
namespace assay::optimized {

// The cells of one result along an axis, and the number of cells that an average with padding divides by.
struct Range {
  std::int64_t first, count, step, padded;
};

struct Axis {
  std::int64_t kernel = 1, stride = 1, padding = 0, dilation = 1;
  bool adaptive = false;

  std::int64_t extent() const { return dilation * (kernel - 1) + 1; }
  std::int64_t places(std::int64_t cells, bool ceil_mode) const {
    const std::int64_t left = cells + 2 * padding - extent() + (ceil_mode ? stride - 1 : 0);
    if (left < 0) return 0;
    const std::int64_t n = left / stride + 1;
    return ceil_mode && (n - 1) * stride - padding >= cells ? n - 1 : n;
  }
  Range range(std::int64_t place, std::int64_t cells, std::int64_t places_) const {
    if (adaptive) {
      const std::int64_t first = place * cells / places_, end = ((place + 1) * cells + places_ - 1) / places_;
      return {first, end - first, 1, end - first};
    }
    const std::int64_t start = place * stride - padding;
    const std::int64_t skipped = start < 0 ? (-start + dilation - 1) / dilation : 0;
    const std::int64_t first = start + skipped * dilation;
    const std::int64_t inside = first < cells ? (cells - first + dilation - 1) / dilation : 0;
    return {first, std::min(inside, kernel - skipped), dilation, std::min(kernel, cells + padding - start)};
  }
};

// Entry d of a list of one or `most` numbers; without a list, `otherwise`. Returns -1 if the list is invalid, or its
// number too large.
inline std::int64_t entry(const Value& list, std::size_t most, std::size_t d, std::int64_t otherwise) {
  if (!integers(list) || (list.count > 1 && list.count != most)) return -1;
  if (list.count == 0) return otherwise;
  const std::int64_t n = list.items()[list.count == 1 ? 0 : d]->integer;
  return n < 0 || n > 1 << 20 ? -1 : n;
}

}  // namespace assay::optimized
