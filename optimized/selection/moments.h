#pragma once

#include "optimized/selection/layout.h"

namespace assay::optimized {

// The mean of the floats that are operand 0 of a nest, and the sum of their squared differences from the mean.
struct Moments {
  double mean, squares;
};
Moments moments(const float* x, const Nest& nest);

}  // namespace assay::optimized
