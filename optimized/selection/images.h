#pragma once

#include <optional>
#include <span>

#include "optimized/kernels/convolution.h"
#include "optimized/runtime/kernel.h"

namespace assay::optimized {

// A tensor of rank 3 (count, channels, width) or 4 as images, contiguous or channels last. An image with one channel or
// one pixel, which is both, counts as channels last. None: another dim order.
std::optional<kernels::Images> images_of(const Tensor& tensor);

// Whether sizes are fixed, except those of the residual.
kernels::Epilogue epilogue_of(const Fusion& fusion);

}  // namespace assay::optimized
