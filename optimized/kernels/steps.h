#pragma once

#include <cstddef>
#include <cstdint>

#include "optimized/kernels/instruction_set.h"
#include "optimized/kernels/threads.h"

// Rows of floats that are quantized when they are multiplied. A step of a row is computed from the range of the row's
// elements and 0:
//   k = 255 / (most - least), or 1 if they are equal;  a = least k;  b = most k
//   z = rne(clip(-128 + a + (127 + b) > 0 ? -128 - a : 127 - b, -128, 127));  step = rne(clip(x k, -128 - z, 127 - z))
// Each operation is rounded to a float. All instruction sets give the same steps.
namespace assay::kernels {

// The numbers of a row. A code is an unsigned byte, the step plus `zero`.
struct Steps {
  float factor = 1;       // k
  std::int32_t zero = 0;  // z + 128
  float inverse = 1;      // 1 / k, or NaN if a step is NaN; the row's codes have no meaning then
};

// The smallest and the largest element of a row, or 0. They do not depend on NaN.
struct Ends {
  float least = 0, most = 0;
};

// Quantizes contiguous rows of n floats.
void quantize_rows(InstructionSet, const float* x, std::size_t rows, std::size_t n, std::uint8_t* codes, Steps* steps,
                   const Threads& = {});

}  // namespace assay::kernels
