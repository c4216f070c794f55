#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "optimized/kernels/instruction_set.h"
#include "optimized/kernels/quantize.h"

namespace assay::kernels {

// Activation functions. Each is computed by its formula in float32. NaN stays NaN, except in fake_quantize.
enum class Activation : std::uint8_t {
  none,
  // Min(max(x, low), high): for relu, relu6, hardtanh. Requires limits that are not NaN. The upper limit has priority.
  clamp,
  hardsigmoid,  // clamp(x + 3, 0, 6) / 6
  hardswish,    // x clamp(x + 3, 0, 6) / 6
  sigmoid,      // 1 / (1 + e^-x)
  silu,         // x / (1 + e^-x)
  gelu,         // x Phi(x), where Phi is the normal distribution
  gelu_tanh,    // x / (1 + e^-2t), t = sqrt(2/pi) (x + 0.044715 x^3)
  // x is quantized and converted back, with the roundings of kernels/quantize.h
  fake_quantize,
};

// What is applied to a sum before it is stored. The sum already contains the bias.
struct Epilogue {
  // Is added first, or null. Requires as many rows and columns as the result, and no overlap with it.
  const float* residual = nullptr;
  std::size_t residual_stride = 0;  // the distance of rows (for a convolution, of pixels) in floats
  Activation activation = Activation::none;
  float low = -std::numeric_limits<float>::infinity();
  float high = std::numeric_limits<float>::infinity();
  FakeQuantizer fake_quantizer = {};
};

// Computes y[i] = activation(x[i]) for n floats, with the activation of the epilogue and its numbers. y may be x.
void activate(InstructionSet, const Epilogue&, const float* x, float* y, std::size_t n);

}  // namespace assay::kernels
