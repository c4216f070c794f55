#pragma once

#include <cstddef>
#include <cstdint>

#include "optimized/kernels/instruction_set.h"
#include "optimized/kernels/quantize.h"

// Computes the results of windows of equal sizes of an image of floats or codes, in vectors.
namespace assay::kernels {

// The first of the windows, of at least one pixel. The strides are the distances of rows and of columns in elements.
template <class T>
struct WindowOf {
  const T* first;
  std::size_t rows, columns;
  std::ptrdiff_t row_stride, column_stride;
  // Rows and columns beyond the window that are prefetched for the next windows.
  std::size_t rows_ahead = 0, columns_ahead = 0;
};
using Window = WindowOf<float>;

// Windows that are computed together: those of several channels, or of one row of results. The distances from one
// window to the next are those of their first elements, and of their results. 64 times `from` must fit 32 bits.
struct Together {
  std::size_t count;
  std::ptrdiff_t from = 1, to = 1;
};

// The numbers of a window's pixels: the number of the first pixel, and its increase for the next row, the next column
// and the next window.
struct PixelNumbers {
  std::int32_t first, row_step, column_step, window_step;
};

// Computes the largest element and the number of its pixel. NaN counts as larger than all numbers. Among equal elements
// the first pixel is taken, among NaNs the last. `numbers` may be null.
void max_of_windows(InstructionSet, const Window&, const PixelNumbers&, const Together&, float* largest,
                    std::int64_t* numbers);

// Computes the largest element of contiguous channels. T is std::int8_t or std::uint8_t.
template <class T>
void max_of_codes(InstructionSet, const WindowOf<T>&, std::size_t channels, T* largest);

// Computes the code of the scaled sum of the codes of contiguous channels. The sum must fit 32 bits. T is std::int8_t
// or std::uint8_t.
template <class T>
void sum_of_codes(InstructionSet, const WindowOf<T>&, const ScaledSums&, std::size_t channels, T* codes);

// Computes the sum divided by the divisor. The elements of each row are added, then the sums of the rows, so that a sum
// of k x k elements has an error of 2 k roundings.
void mean_of_windows(InstructionSet, const Window&, float divisor, const Together&, float* mean);

}  // namespace assay::kernels
