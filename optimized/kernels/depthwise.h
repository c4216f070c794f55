#pragma once

#include "optimized/kernels/convolution.h"

namespace assay::kernels {

// The distance of the weights of two taps, in floats. The weights of a tap are contiguous and fill whole vectors.
constexpr std::size_t depthwise_stride(const Convolution& c) {
  const std::size_t lanes = traits(c.set).lanes;
  return (c.groups + lanes - 1) / lanes * lanes;
}

// Computes one image.
void convolve_depthwise(const Convolution&, const Images&, const float* packed, const float* bias, float* out,
                        std::size_t out_stride, const Epilogue&, const Threads&);

}  // namespace assay::kernels
