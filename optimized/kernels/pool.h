#pragma once

#include <cstddef>
#include <cstdint>

#include "optimized/kernels/instruction_set.h"

// What one window of an f32 image gives, for each of the channels that lie together in its pixels.
namespace assay::kernels {

// At least one pixel; strides are floats from a row, a column to the next.
struct Window {
  const float* first;
  std::size_t rows, columns;
  std::ptrdiff_t row_stride, column_stride;
  std::size_t rows_ahead = 0, columns_ahead = 0;  // below it, are fetched for windows to come
};

// The number of the window's first pixel, and how much more that of the next row's and column's is.
struct PixelNumbers {
  std::int32_t first, row_step, column_step;
};

// The largest, NaN being larger than all, and which pixel it is: the first of equals, the last of NaNs. Null: which
// is of no interest.
void max_of_window(InstructionSet, const Window&, const PixelNumbers&, std::size_t channels, float* largest,
                   std::int64_t* numbers);

// The sum over the divisor. Rows are added before they are added up: a sum of k x k loses 2 k roundings.
void mean_of_window(InstructionSet, const Window&, float divisor, std::size_t channels, float* mean);

}  // namespace assay::kernels
