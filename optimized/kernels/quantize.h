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

// Computes the codes of sums of numbers: what DequantizeRow of a and of b, a sum of floats and QuantizeRow compute one
// after another. Requires scales whose sums are finite and limits that are codes.
struct AddedCodes {
  float a_zero_point, a_scale, b_zero_point, b_scale;
  Quantizer result;  // requires !adds_first
};
template <class Code>
using AddRow = void (*)(const AddedCodes&, const Code* a, const Code* b, Code* codes, std::size_t n);
template <class Code>
AddRow<Code> find_add(InstructionSet);

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

// Stores table[x[i]] for n bytes. The table has 256 bytes; y may be x.
void look_up(InstructionSet, const std::uint8_t* table, const std::uint8_t* x, std::uint8_t* y, std::size_t n);

}  // namespace assay::kernels
