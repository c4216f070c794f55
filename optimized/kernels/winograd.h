#pragma once

#include "optimized/kernels/convolution.h"

// Convolutions of 3 x 3 taps by Winograd's F(4 x 4, 3 x 3): a tile of 6 x 6 pixels becomes 36 products of transformed
// pixels and weights, which make 4 x 4 results with a quarter of the products. The sums have other terms than the
// formula has, and often much larger ones. spec/numerics.md states the error bound. The interface is that of
// convolution.h.
namespace assay::kernels::winograd {

// Whether Winograd's algorithm applies: it requires one group, no dilation and stride 1.
bool can_convolve(const Convolution&);

// The number of tiles of one image.
std::size_t tiles_of(const Convolution&, const Images&);

std::size_t packed_floats(const Convolution&);
void pack(const Convolution&, const float* weight, const WeightStrides&, const float* scale, float* packed);
std::size_t scratch_floats(const Convolution&, const Images&);
void convolve(const Convolution&, const Images&, const float* packed, const float* bias, float* out,
              std::size_t out_stride, float* scratch, const Epilogue& = {}, const Threads& = {});

}  // namespace assay::kernels::winograd
