#pragma once

#include "optimized/runtime/kernel.h"

namespace assay::optimized {

// The first accepts the calls that XNNPACK does faster. The second is for benchmarks.
extern const Kernel convolution_xnnpack_f32, matmul_xnnpack_f32;

namespace xnnpack {

// Accepts every call that XNNPACK can do.
bool can_convolve(const Call& call);
bool can_multiply(const Call& call);

}  // namespace xnnpack
}  // namespace assay::optimized
