#pragma once

#include <cstddef>

#include "optimized/kernels/instruction_set.h"

// Arithmetic on complex numbers whose parts are floats, one after another. It is done in doubles, and results are
// rounded once.
namespace assay::kernels {

// Computes y[i] = a[i] b[i] of n complex numbers. y may be a or b. NaN does not become an infinity.
void multiply_complex(InstructionSet, const float* a, const float* b, float* y, std::size_t n);

// Computes y[i] = |z[i]| of n complex numbers. It is infinite if a part is, even if the other is NaN.
void complex_sizes(InstructionSet, const float* z, float* y, std::size_t n);

}  // namespace assay::kernels
