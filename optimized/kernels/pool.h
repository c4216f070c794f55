#pragma once

#include <cstddef>
#include <cstdint>

#include "optimized/kernels/instruction_set.h"
#include "optimized/kernels/quantize.h"

// Computes the result of one window of an image of floats or codes, for each of the contiguous channels.
namespace assay::kernels {

// A window of at least one pixel. The strides are the distances of rows and of columns in elements.
template <class T>
struct WindowOf {
  const T* first;
  std::size_t rows, columns;
  std::ptrdiff_t row_stride, column_stride;
  // Rows and columns beyond the window that are prefetched for the next windows.
  std::size_t rows_ahead = 0, columns_ahead = 0;
};
using Window = WindowOf<float>;

// The numbers of a window's pixels: the number of the first pixel, and its increase for the next row and the next
// column.
struct PixelNumbers {
  std::int32_t first, row_step, column_step;
};

// Computes the largest element and the number of its pixel. NaN counts as larger than all numbers. Among equal elements
// the first pixel is taken, among NaNs the last. `numbers` may be null.
void max_of_window(InstructionSet, const Window&, const PixelNumbers&, std::size_t channels, float* largest,
                   std::int64_t* numbers);

// Computes the largest element. T is std::int8_t or std::uint8_t.
template <class T>
void max_of_codes(InstructionSet, const WindowOf<T>&, std::size_t channels, T* largest);

// Computes the code of the scaled sum of the codes. The sum must fit 32 bits. T is std::int8_t or std::uint8_t.
template <class T>
void sum_of_codes(InstructionSet, const WindowOf<T>&, const ScaledSums&, std::size_t channels, T* codes);

// Computes the sum divided by the divisor. The elements of each row are added, then the sums of the rows, so that a sum
// of k x k elements has an error of 2 k roundings.
void mean_of_window(InstructionSet, const Window&, float divisor, std::size_t channels, float* mean);

}  // namespace assay::kernels
