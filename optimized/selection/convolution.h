#pragma once

#include "optimized/kernels/convolution.h"
#include "optimized/runtime/kernel.h"

namespace assay::optimized::convolution {

// How float32 convolutions are computed: by the functions of kernels/convolution.h or by others of the same names.
struct Algorithm {
  std::size_t (*packed_floats)(const kernels::Convolution&);
  void (*pack)(const kernels::Convolution&, const float* weight, const kernels::WeightStrides&, const float* scale,
               float* packed);
  std::size_t (*scratch_floats)(const kernels::Convolution&, const kernels::Images&);
  void (*convolve)(const kernels::Convolution&, const kernels::Images&, const float* packed, const float* bias,
                   float* out, std::size_t out_stride, float* scratch, const kernels::Epilogue&,
                   const kernels::Threads&);
};

// Prepares the step of a call. Requires a call that fits_fusion accepts.
const void* prepare(const Call& call, Stores& stores, const Algorithm& algorithm);
bool run(const Step& step, Execution& execution);
const Tensor* packed_weight(const Call& call);  // the constant weights, or null

}  // namespace assay::optimized::convolution
