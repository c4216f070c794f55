#pragma once

#include <cstddef>
#include <cstdint>

#include "optimized/kernels/instruction_set.h"

// The result of one window of a float32 image, for each of the contiguous channels of its pixels.
namespace assay::kernels {

// At least one pixel. Strides are floats from a row, a column to the next.
struct Window {
  const float* first;
  std::size_t rows, columns;
  std::ptrdiff_t row_stride, column_stride;
  std::size_t rows_ahead = 0,
              columns_ahead = 0;  // rows and columns beyond the window that are fetched for the next windows
};

// The number of the window's first pixel, and its increase from a row, a column to the next.
struct PixelNumbers {
  std::int32_t first, row_step, column_step;
};

// The largest element, where NaN is larger than all numbers, and the pixel that has it: the first of equal elements,
// the last of NaNs. `numbers` may be null.
void max_of_window(InstructionSet, const Window&, const PixelNumbers&, std::size_t channels, float* largest,
                   std::int64_t* numbers);

// The sum divided by the divisor. Elements are added row by row, then the rows: a sum of k x k elements loses 2 k
// roundings.
void mean_of_window(InstructionSet, const Window&, float divisor, std::size_t channels, float* mean);

}  // namespace assay::kernels
