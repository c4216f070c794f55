#pragma once

#include <algorithm>
#include <optional>

#include "reference/array.h"

namespace assay {

// Whether PyTorch computes the distances between the rows of two matrices by a matrix product. PyTorch does so for p =
// 2 if compute_mode is 1, or if compute_mode is None or 0 and a matrix has many rows.
inline bool by_products(const Dims& x1, const Dims& x2, Real p, std::optional<Int> compute_mode) {
  constexpr Int few = 25;
  const bool many = std::max(x1[x1.size() - 2], x2[x2.size() - 2]) > few;
  return p == 2 && (compute_mode == 1 || (compute_mode.value_or(0) == 0 && many));
}

}  // namespace assay
