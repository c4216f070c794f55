#pragma once

#include <cstddef>
#include <cstdint>

#include "optimized/kernels/pointwise.h"

// Many numbers that become one, and rows of floats that are normalised.
namespace assay::kernels {

enum class Fold : std::uint8_t {
  sum,  // of floats: within blocks as floats, of blocks as doubles
  max,  // NaN is larger than all
  min,  // NaN is smaller than all
  any,  // 1 where one is not 0
  prod,
};

// Totals are doubles where elements are floats, else integers of 64 bits. They are folded with what they are.
struct FoldRows {
  // n elements, so many from one to the next, into one total.
  void (*row)(const void* x, std::ptrdiff_t stride, std::size_t n, void* total) = nullptr;
  // Rows of n elements one after another, at most fold_columns, row_stride from each to the next: a total for each
  // column.
  void (*columns)(const void* x, std::ptrdiff_t row_stride, std::size_t rows, std::size_t n, void* totals) = nullptr;
};
constexpr std::size_t fold_columns = 64;

// Of the folds that there are: any of bytes, the others of floats and integers. Each is a function of its own.
template <Fold, Element>
FoldRows find_fold(InstructionSet);

// y[i] = e^x[i] / sum_j e^x[j], or its logarithm, or 0 where all are -infinity; y may be x.
enum class Softmax : std::uint8_t { plain, logarithm, safe };
void softmax(InstructionSet, Softmax, const float* x, float* y, std::size_t n);

// y[i] = (x[i] - mean) rstd weight[i] + bias[i], rstd = 1 / sqrt(variance + eps); weight and bias may be null, y may be
// x. n > 0.
struct Moments {
  float mean, rstd;
};
Moments layer_norm(InstructionSet, const float* x, const float* weight, const float* bias, double eps, float* y,
                   std::size_t n);

}  // namespace assay::kernels
