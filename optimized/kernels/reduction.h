#pragma once

#include <cstddef>
#include <cstdint>

#include "optimized/kernels/pointwise.h"

// Reductions of many numbers to one, and normalisations of rows of floats.
namespace assay::kernels {

enum class Fold : std::uint8_t {
  sum,  // of floats: floats within a block, doubles over blocks
  max,  // NaN is larger than all
  min,  // NaN is smaller than all
  any,  // 1 where an element is not 0
  prod,
};

// Totals are doubles where elements are floats, else integers of 64 bits. Elements are folded into the total's old
// value.
struct FoldRows {
  // Folds n elements with a stride into one total.
  void (*row)(const void* x, std::ptrdiff_t stride, std::size_t n, void* total) = nullptr;
  // Folds rows of n contiguous elements, at most fold_columns, into a total for each column. row_stride is the distance
  // of rows.
  void (*columns)(const void* x, std::ptrdiff_t row_stride, std::size_t rows, std::size_t n, void* totals) = nullptr;
};
constexpr std::size_t fold_columns = 64;

// The existing folds: `any` of bytes, the others of floats and integers. Each is a function of its own.
template <Fold, Element>
FoldRows find_fold(InstructionSet);

// y[i] = e^x[i] / sum_j e^x[j], or its logarithm. Softmax::safe gives 0 where all x are -infinity. y may be x.
enum class Softmax : std::uint8_t { plain, logarithm, safe };
void softmax(InstructionSet, Softmax, const float* x, float* y, std::size_t n);

// y[i] = (x[i] - mean) rstd weight[i] + bias[i], rstd = 1 / sqrt(variance + eps). weight and bias may be null, y may be
// x. n > 0.
struct Moments {
  float mean, rstd;
};
Moments layer_norm(InstructionSet, const float* x, const float* weight, const float* bias, double eps, float* y,
                   std::size_t n);

}  // namespace assay::kernels
