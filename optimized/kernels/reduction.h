#pragma once

#include <cstddef>
#include <cstdint>

#include "optimized/kernels/pointwise.h"

// Reductions of many numbers to one, and normalisations of rows of floats.
namespace assay::kernels {

enum class Fold : std::uint8_t {
  sum,  // floats are added as floats within a block, and blocks as doubles
  max,  // NaN counts as larger than all numbers
  min,  // NaN counts as smaller than all numbers
  any,  // 1 if an element is not 0
  prod,
};

// Totals are doubles if the elements are floats, else integers of 64 bits. The elements are combined with the old value
// of the total.
struct Rows {
  std::size_t count, elements;      // the number of rows, and of elements of a row
  std::ptrdiff_t distance, stride;  // between rows, and between elements of a row
};
struct FoldRows {
  // Combines each row with its total.
  void (*rows)(const void* x, const Rows& rows, void* totals) = nullptr;
  // Combines rows of n contiguous elements with one total for each column. Requires n <= fold_columns. row_stride is
  // the distance of rows.
  void (*columns)(const void* x, std::ptrdiff_t row_stride, std::size_t rows, std::size_t n, void* totals) = nullptr;
};
constexpr std::size_t fold_columns = 64;

// The folds that exist: `any` for bytes, the other folds for floats and integers. Each is a function of its own.
template <Fold, Element>
FoldRows find_fold(InstructionSet);

// Computes y[i] = e^x[i] / sum_j e^x[j], or its logarithm. Softmax::safe gives zeros if all x are -infinity. y may be
// x.
enum class Softmax : std::uint8_t { plain, logarithm, safe };
void softmax(InstructionSet, Softmax, const float* x, float* y, std::size_t n);

// Computes y[i] = (x[i] - mean) rstd weight[i / run] + bias[i / run], where rstd = 1 / sqrt(variance + eps). y may be
// x. Requires n > 0, and that `run` divides n.
struct Affine {
  const float *weight, *bias;  // may be null
  std::size_t run = 1;
};
struct Moments {
  float mean, rstd;
};
Moments layer_norm(InstructionSet, const float* x, const Affine&, double eps, float* y, std::size_t n);

}  // namespace assay::kernels
