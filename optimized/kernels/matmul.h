#pragma once

#include <cstddef>

#include "optimized/kernels/product.h"

// Matrix products: out[i, j] = epilogue(bias[j] + sum_k a[i, k] b[k, j]), summed in the order of k, for any sizes.
// Requires pointers that are aligned to a float, packed matrices that are aligned to packed_alignment bytes, and an
// `out` that overlaps no operand. Nothing is read or written outside of the matrices. NaN and infinities are multiplied
// like any number. The functions cannot fail.
namespace assay::kernels {

constexpr std::size_t packed_alignment = 64;

// The matrix b, which has k rows and n columns, packed for an instruction set.
struct PackedMatrix {
  Panels panels;
  const void* data = nullptr;           // floats, unless `halves` tells how they are stored
  const HalfWeights* halves = nullptr;  // for products of at most most_rows_of_halves rows
};

inline std::size_t packed_floats(InstructionSet set, std::size_t k, std::size_t n) {
  return Panels{set, k, n}.floats();
}

// Packs b. Element b[k, j] is at k row_stride + j column_stride, so that a transposed matrix can be packed, too.
PackedMatrix pack(InstructionSet, const float* b, std::size_t k, std::size_t n, std::size_t row_stride,
                  std::size_t column_stride, float* packed);

// Multiplies. `a` has m rows of k floats, `out` has m rows of n floats; the strides are the distances of rows in
// floats. `bias` has n floats or is null.
void matmul(const float* a, std::size_t a_stride, std::size_t m, const PackedMatrix& b, const float* bias, float* out,
            std::size_t out_stride, const Epilogue& = {}, const Threads& = {});

}  // namespace assay::kernels
