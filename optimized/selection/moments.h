#pragma once

#include "optimized/selection/layout.h"

namespace assay::optimized {

// Of floats in the loops of a nest, its operand 0: their mean, and the sum of the squares of what they differ from it.
struct Moments {
  double mean, squares;
};
Moments moments(const float* x, const Nest& nest);

}  // namespace assay::optimized
