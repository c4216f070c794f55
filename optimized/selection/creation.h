#pragma once

#include "optimized/selection/layout.h"

namespace assay::optimized {

// A number as the bytes of an element of the dtype. False: it does not fit, or kernels do not know the dtype.
bool element_of(const Value& number, DType dtype, void* to);
// Sets all elements of a tensor to one element.
void fill(const Tensor& to, const void* element);

}  // namespace assay::optimized
