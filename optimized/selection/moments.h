#pragma once

#include "optimized/selection/layout.h"

namespace assay::optimized {

// The mean of floats in the loops of a nest, of which the floats are operand 0, and the sum of their squared
// differences from the mean.
struct Moments {
  double mean, squares;
};
Moments moments(const float* x, const Nest& nest);

}  // namespace assay::optimized
