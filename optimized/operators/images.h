#pragma once

#include <optional>
#include <span>

#include "optimized/kernels/convolution.h"
#include "optimized/runtime/kernel.h"

namespace assay::optimized {

// A tensor of rank 3 (count, channels, width) or 4 as images, contiguous or channels last; none: it lies otherwise.
// What lies either way, as its channels or pixels are one, is channels last.
std::optional<kernels::Images> images_of(const Tensor& tensor);

// Images whose channels lie together as planes of the channels, and back.
void to_planes(const float* pixels, std::size_t channels, const kernels::Images& as, float* planes);
void to_pixels(const float* planes, std::size_t channels, const kernels::Images& as, float* pixels);

// At a multiple of 64; empty when only counting. Zeroed.
std::span<float> take_floats(format::Workspace& packed, std::size_t n);

// From an element to the next in each dimension, in elements.
void element_strides(const Tensor& tensor, std::size_t* strides);

// But for the residual, which moves.
kernels::Epilogue epilogue_of(const Fusion& fusion);

}  // namespace assay::optimized
