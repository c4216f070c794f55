#pragma once

#include <optional>
#include <span>

#include "optimized/kernels/convolution.h"
#include "optimized/runtime/kernel.h"

namespace assay::optimized {

// Describes a tensor of rank 3 (count, channels, width) or 4 as images that are contiguous or channels last. Images
// with one channel or one pixel are both; they count as channels last. Returns nothing for other dim orders.
std::optional<kernels::Images> images_of(const Tensor& tensor);

// The epilogue of a fusion with the activation and its limits. The caller sets the residual.
kernels::Epilogue epilogue_of(const Fusion& fusion);

}  // namespace assay::optimized
