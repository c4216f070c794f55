#pragma once

#include "optimized/selection/layout.h"

namespace assay::optimized {

// Writes a number as an element of the dtype. Returns false if the number does not fit or kernels do not support the
// dtype. An operand always fits, as for number_as().
bool element_of(const Value& number, DType dtype, void* to, bool is_operand = false);
// Sets all elements of a tensor to one element.
void fill(const Tensor& to, const void* element);

}  // namespace assay::optimized
