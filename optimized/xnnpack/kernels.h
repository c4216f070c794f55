#pragma once

#include "optimized/runtime/kernel.h"

namespace assay::optimized {

// The first takes what XNNPACK does faster; the second is for who compares.
extern const Kernel convolution_xnnpack_f32, matmul_xnnpack_f32;

namespace xnnpack {

// What it can do at all.
bool can_convolve(const Call& call);
bool can_multiply(const Call& call);

}  // namespace xnnpack
}  // namespace assay::optimized
