#pragma once

#include "optimized/runtime/kernel.h"

namespace assay::optimized {

// They take what XNNPACK does faster.
extern const Kernel convolution_xnnpack_f32, matmul_xnnpack_f32;

namespace xnnpack {

// What it can do at all.
bool can_convolve(const Call& call);
bool can_multiply(const Call& call);

}  // namespace xnnpack
}  // namespace assay::optimized
