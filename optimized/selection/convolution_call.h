#pragma once

#include <optional>
#include <span>

#include "optimized/kernels/convolution.h"
#include "optimized/runtime/kernel.h"
#include "optimized/selection/layout.h"

// A call of aten::convolution of float32, over one or two dimensions.
namespace assay::optimized::convolution {

enum Operand { input, weight, bias, stride, padding, dilation, transposed, output_padding, groups, out };

inline bool has_bias(const Call& call) { return call[bias].kind != ValueKind::none; }
inline bool moves(const Call& call) { return call.tensor(input).moves || call.tensor(out).moves; }

// Reads the call, and computes the sizes of its result. None: no kernel does it.
std::optional<kernels::Convolution> convolution_of(const Call& call, Shape& result);
// The same, if everything is known before the call runs and the call can be merged with its fusion.
std::optional<kernels::Convolution> fixed_convolution(const Call& call);

// Whether all weights are finite. Outside of an image there is no product; the kernels multiply by zero there, which
// gives the same sum only with finite weights. A constant is examined once.
bool wants_finite_weights(const kernels::Convolution& c);
bool has_finite_weights(Tensor& w);

// Whether a kernel that has the weights as constants can do the call's fusion.
bool fits_fusion(const Call& call);

kernels::WeightStrides weight_strides(const Call& call);

// A batch norm of constants as scale and shift of each channel: x scale + shift.
void fold(const Call& call, std::span<float> scale, std::span<float> shift);

}  // namespace assay::optimized::convolution
