#pragma once

#include "optimized/selection/layout.h"

namespace assay::optimized {

// Writes a number as an element of the dtype. Returns false if the number does not fit or kernels do not support the
// dtype.
bool element_of(const Value& number, DType dtype, void* to);
// Sets all elements of a tensor to one element.
void fill(const Tensor& to, const void* element);

}  // namespace assay::optimized
