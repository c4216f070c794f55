#pragma once

#include <cstddef>
#include <cstdint>

#include "optimized/kernels/instruction_set.h"

// Conversion between floats and the codes of quantized tensors. A code is an integer of 8, 16 or 32 bits.
namespace assay::kernels {

// A code is the number that is the nearest to x * inverse_scale + zero_point, and is at least `low` and at most `high`.
struct Quantizer {
  float inverse_scale, zero_point, low, high;
  bool adds_first = false;  // whether the zero point is added before the number is rounded to an integer, or after
};

// Replaces a number by the number that its code stands for: (code - zero_point) * scale.
struct FakeQuantizer : Quantizer {
  float scale;
  float code_of_nan;  // the code of NaN; it may be outside of the limits
};

// Converts n contiguous elements. Each step is rounded to a float. A NaN has the code of the least 32-bit integer,
// whose low bits are 0.
template <class Code>
using QuantizeRow = void (*)(const Quantizer&, const float* x, Code* codes, std::size_t n);
template <class Code>
QuantizeRow<Code> find_quantize(InstructionSet);

// Computes (code - zero_point) * scale for n contiguous codes. Each step is rounded to a float.
template <class Code>
using DequantizeRow = void (*)(float zero_point, float scale, const Code* codes, float* y, std::size_t n);
template <class Code>
DequantizeRow<Code> find_dequantize(InstructionSet);

// Computes the codes of sums or products of numbers: what DequantizeRow of a and of b, a sum or a product of floats,
// for a product one more product with `factor`, and QuantizeRow compute one after another. Requires numbers whose
// results are not NaN and limits that are codes.
struct CombinedCodes {
  float a_zero_point, a_scale, b_zero_point, b_scale;
  float factor;
  Quantizer result;  // requires !adds_first
};
enum class Combination { sum, product };
// Operand b has n codes, or one that is combined with each code of a.
template <class Code>
using CombineRow = void (*)(const CombinedCodes&, const Code* a, const Code* b, bool b_is_one, Code* codes,
                            std::size_t n);
template <class Code>
CombineRow<Code> find_combine(InstructionSet, Combination);

// Computes the codes of scaled sums of integers: what QuantizeRow gives for f32(f32(sum + begin) factor) + offset,
// where each step is rounded to a float. Requires sums that fit 32 bits.
struct ScaledSums {
  std::int32_t begin;
  float factor, offset;
  Quantizer result;
};
template <class Code>
using QuantizeSums = void (*)(const ScaledSums&, const std::int32_t* sums, Code* codes, std::size_t n);
template <class Code>
QuantizeSums<Code> find_quantize_sums(InstructionSet);

// Adds codes in fixed point. A code is the integer below or at (a_factor a + b_factor b + offset) / 2^shift, plus the
// zero point, and is at least `low` and at most `high`. Requires numerators that fit 32 bits, a shift below 32, limits
// that are codes and a zero point of at most 2^20.
struct FixedPointSum {
  std::int32_t a_factor, b_factor, offset, shift, zero_point, low, high;
};
template <class Code>
using AddFixedRow = void (*)(const FixedPointSum&, const Code* a, const Code* b, Code* codes, std::size_t n);
template <class Code>
AddFixedRow<Code> find_add_fixed(InstructionSet);

// Stores the bytes of three planes, `stride` bytes apart, as n pixels of three bytes.
void interleave_three(InstructionSet, const std::uint8_t* planes, std::size_t stride, std::uint8_t* pixels,
                      std::size_t n);

// Stores table[x[i]] for n bytes. The table has 256 bytes; y may be x.
void look_up(InstructionSet, const std::uint8_t* table, const std::uint8_t* x, std::uint8_t* y, std::size_t n);

}  // namespace assay::kernels
