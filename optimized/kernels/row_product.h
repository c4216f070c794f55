#pragma once

#include <cstddef>
#include <cstdint>

#include "optimized/kernels/instruction_set.h"
#include "optimized/kernels/threads.h"

// Products of rows of floats, which are quantized when they are multiplied, with weights of 8 or 4 bits. All
// instruction sets give the same results.
namespace assay::kernels {

// A row is quantized as kernels/steps.h defines. With the integer sum S of the products of steps and weights, a result
// is
//   8 bits: f32(f32(f32(S) (1 / k)) scale + bias), where the product with the scale and the sum are rounded to doubles
//   4 bits: f32(f32(f32(sum of S scale over all groups) (1 / k)) + bias), where products and sums are doubles
// The results of a row are NaN if one of its steps is.
struct RowProduct {
  InstructionSet set = InstructionSet::portable;
  std::size_t inputs = 1, outputs = 1;
  // Of weights of 4 bits: the number of inputs that share a scale, a multiple of 8 that divides `inputs`. 0: the
  // weights have 8 bits, and each output has one scale.
  std::size_t group = 0;
  bool has_short_scales = false;  // whether scales of groups are packed as BFloat16: requires are_short of all scales
  bool has_bias = false;
  bool uses_vnni = false;  // requires has_vnni(set)

  constexpr std::size_t groups() const { return group > 0 ? inputs / group : 1; }
};

// Whether the sums fit 32 bits.
bool can_multiply(const RowProduct&);

// Weight i of output o is codes[o * output_stride + i * input_stride]; codes of 4 bits are -8 to 7. The scale of its
// group g is scales[o * scale_stride + g]. There is a bias for each output, if there is one.
struct RowWeights {
  const std::int8_t* codes;
  std::size_t output_stride, input_stride;
  const float* scales;
  std::size_t scale_stride;
  const float* bias;
};
// Whether all scales are numbers of type BFloat16.
bool are_short(const float* scales, std::size_t n);
std::size_t packed_floats(const RowProduct&);
// `packed` must be aligned to packed_alignment bytes of kernels/convolution.h.
void pack(const RowProduct&, const RowWeights&, float* packed);

std::size_t scratch_bytes(const RowProduct&, std::size_t rows);
// Multiplies contiguous rows. `scratch` must be aligned to 64 bytes.
void multiply(const RowProduct&, const float* x, std::size_t rows, const float* packed, float* out, void* scratch,
              const Threads& = {});

}  // namespace assay::kernels
