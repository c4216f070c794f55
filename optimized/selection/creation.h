#pragma once

#include "optimized/selection/layout.h"

namespace assay::optimized {

// A number as the bytes of an element of the dtype. False: it does not fit, or no kernel knows the dtype.
bool element_of(const Value& number, DType dtype, void* to);
// All elements of a tensor become one.
void fill(const Tensor& to, const void* element);

}  // namespace assay::optimized
