#pragma once

#include <initializer_list>

#include "optimized/selection/layout.h"

// Rows of elements along a dimension of several tensors.
namespace assay::optimized {

// Tensors whose sizes are equal, except along one dimension.
struct Rows {
  std::int64_t n = 1;                    // the elements of a row of the first tensor
  std::ptrdiff_t step[most_operands]{};  // the stride along a row of each tensor
  int tensors = 0;
  Nest nest;
};
Rows rows_of(int dim, std::initializer_list<const Tensor*> tensors);

// Calls row(at) for each row, where `at` has the place of its first element in each tensor.
template <class Row>
void each_of(const Rows& rows, Row row) {
  const int last = rows.nest.loops - 1;
  each_row(rows.nest, rows.tensors, [&](const std::ptrdiff_t* at, std::ptrdiff_t n) {
    for (std::ptrdiff_t i = 0; i < n; ++i) {
      std::ptrdiff_t now[most_operands];
      for (int k = 0; k < rows.tensors; ++k) now[k] = at[k] + i * rows.nest.stride[k][last];
      row(now);
    }
  });
}

}  // namespace assay::optimized
