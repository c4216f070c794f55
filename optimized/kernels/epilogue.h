#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "optimized/kernels/instruction_set.h"

namespace assay::kernels {

// Each is computed like its formula in float32. NaN stays NaN.
enum class Activation : std::uint8_t {
  none,
  clamp,        // min(max(x, low), high): relu, relu6, hardtanh; no limit is NaN, and the upper limit wins
  hardsigmoid,  // clamp(x + 3, 0, 6) / 6
  hardswish,    // x clamp(x + 3, 0, 6) / 6
  sigmoid,      // 1 / (1 + e^-x)
  silu,         // x / (1 + e^-x)
  gelu,         // x Phi(x), where Phi is the normal distribution
  gelu_tanh,    // x / (1 + e^-2t), t = sqrt(2/pi) (x + 0.044715 x^3)
};

// What is applied to a sum, which began with its bias, before it is stored.
struct Epilogue {
  const float* residual = nullptr;  // is added first: as many rows and columns as the result, which it does not overlap
  std::size_t residual_stride = 0;  // floats from a row to the next; of a convolution, from a pixel
  Activation activation = Activation::none;
  float low = -std::numeric_limits<float>::infinity();
  float high = std::numeric_limits<float>::infinity();
};

// y[i] = activation(x[i]) of n floats; y may be x.
void activate(InstructionSet, Activation, float low, float high, const float* x, float* y, std::size_t n);

}  // namespace assay::kernels
