#pragma once

#include <optional>

#include "optimized/draft/draft.h"
#include "optimized/kernels/quantize.h"

// Calls that quantize float32 tensors to 8-bit codes, and calls that convert the codes back.
namespace assay::optimized {

// The numbers of a call of quantize_per_tensor or dequantize_per_tensor with one scale. Its kernel computes with these
// numbers alone, each step rounded to float32.
struct Codes {
  DType dtype;  // int8 or uint8
  kernels::FakeQuantizer numbers;

  bool have_scale_of(DType other, const kernels::FakeQuantizer& q) const {
    return dtype == other && numbers.scale == q.scale && numbers.zero_point == q.zero_point;
  }
  bool have_scale_of(const Codes& other) const { return have_scale_of(other.dtype, other.numbers); }
};
std::optional<Codes> quantized(const Draft& draft, const Instruction& p);
std::optional<Codes> dequantized(const Draft& draft, const Instruction& p);
// The numbers of a call that converts codes to float64 without a scale: to code - zero point.
std::optional<Codes> counted(const Draft& draft, const Instruction& p);

// The limits of a call that clamps elements of float32 or of a half type: relu, hardtanh, or clamp by numbers. Nothing
// for other calls.
struct Limits {
  float low, high;
};
std::optional<Limits> limits_of(const Draft& draft, const Instruction& p);

// Gives q, whose results are clamped and quantized again with the same scale, the limits and the code of NaN with which
// it has the results of all. Computes what becomes of each code between its limits. Returns false if no limits do that.
bool clamp_codes(kernels::FakeQuantizer& q, const Codes& again, const Limits& limits, kernels::InstructionSet set);

// The code of a number, as a float.
float code_of(const Codes& codes, float x, kernels::InstructionSet set);

}  // namespace assay::optimized
