#pragma once

#include "optimized/runtime/kernel.h"

namespace assay::optimized {

// convolution_xnnpack_f32 accepts the calls that XNNPACK computes faster; matmul_xnnpack_f32 is only for benchmarks.
extern const Kernel convolution_xnnpack_f32, matmul_xnnpack_f32;

namespace xnnpack {

// Accepts every call that XNNPACK can compute.
bool can_convolve(const Call& call);
bool can_multiply(const Call& call);

}  // namespace xnnpack
}  // namespace assay::optimized
