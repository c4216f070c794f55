#pragma once

#include <optional>
#include <span>

#include "optimized/kernels/convolution.h"
#include "optimized/runtime/kernel.h"

namespace assay::optimized {

// A tensor of rank 3 (count, channels, width) or 4 as images, contiguous or channels last; none: it lies otherwise.
// What lies either way, as its channels or pixels are one, is channels last.
std::optional<kernels::Images> images_of(const Tensor& tensor);

// But for the residual, which moves.
kernels::Epilogue epilogue_of(const Fusion& fusion);

}  // namespace assay::optimized
