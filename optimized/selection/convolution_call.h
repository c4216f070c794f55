#pragma once

#include <optional>
#include <span>

#include "optimized/kernels/convolution.h"
#include "optimized/runtime/kernel.h"
#include "optimized/selection/layout.h"

// Reads calls of aten::convolution over one or two dimensions, with float32 unless a function says otherwise.
namespace assay::optimized::convolution {

enum Operand { input, weight, bias, stride, padding, dilation, transposed, output_padding, groups, out };

inline bool has_bias(const Call& call) { return call[bias].kind != ValueKind::none; }
inline bool moves(const Call& call) { return call.tensor(input).moves || call.tensor(out).moves; }

// Reads the call and computes the sizes of its result. Returns nothing if no kernel supports the call.
std::optional<kernels::Convolution> convolution_of(const Call& call, Shape& result);
// The same for tensors of any dtype. Requires that input, weight and out are tensors.
std::optional<kernels::Convolution> geometry_of(const Call& call, Shape& result);
// The same as convolution_of, but also returns nothing if a fact is known only when the call runs, or if the call
// cannot be merged with its fusion.
std::optional<kernels::Convolution> fixed_convolution(const Call& call);

// Whether the weights must be finite, and whether they are. The formula has no products outside of the image, where the
// kernels multiply by zero; this gives the same sum only if the weights are finite. A constant is examined once.
bool wants_finite_weights(const kernels::Convolution& c);
bool has_finite_weights(Tensor& w);

// Whether a kernel whose weights are constants can compute the call's fusion.
bool fits_fusion(const Call& call);

kernels::WeightStrides weight_strides(const Call& call);

// Turns a batch norm of constants into a scale and a shift for each channel, so that the result is x scale + shift.
void fold(const Call& call, std::span<float> scale, std::span<float> shift);

}  // namespace assay::optimized::convolution
