#pragma once

#include <optional>
#include <span>

#include "optimized/kernels/convolution.h"
#include "optimized/selection/layout.h"
#include "optimized/runtime/kernel.h"

// What a call of aten::convolution of f32, over one or two dimensions, asks for.
namespace assay::optimized::convolution {

enum Operand { input, weight, bias, stride, padding, dilation, transposed, output_padding, groups, out };

inline bool has_bias(const Call& call) { return call[bias].kind != ValueKind::none; }
inline bool moves(const Call& call) { return call.tensor(input).moves || call.tensor(out).moves; }

// What the call is, and the sizes of its result; none: no kernel does it.
std::optional<kernels::Convolution> convolution_of(const Call& call, Shape& result);
// Where all of that is known before it runs, and it can be merged with what it is merged with.
std::optional<kernels::Convolution> fixed_convolution(const Call& call);

// No product is made of what lies outside of an image; the kernels make one with zero, which is not seen where weights
// are finite. Constants are looked at once.
bool wants_finite_weights(const kernels::Convolution& c);
bool has_finite_weights(Tensor& w);

// Whether a kernel that has the weights as constants can do what is merged with the call.
bool fits_fusion(const Call& call);

kernels::WeightStrides weight_strides(const Call& call);

// What a batch norm of constants makes of each channel: x scale + shift.
void fold(const Call& call, std::span<float> scale, std::span<float> shift);

}  // namespace assay::optimized::convolution
