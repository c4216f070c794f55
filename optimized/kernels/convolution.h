#pragma once

#include <cstddef>

#include "optimized/kernels/epilogue.h"
#include "optimized/kernels/instruction_set.h"
#include "optimized/kernels/matmul.h"
#include "optimized/kernels/threads.h"

// Convolution over one dimension (a height of 1) or two, plain or transposed, of float32 images whose channels are
// contiguous. Requires pointers that are aligned to a float, packed weights that are aligned to packed_alignment bytes,
// a result that overlaps no operand, and sizes, strides and dilations of at least 1. Nothing is read or written outside
// of the given memory. The functions cannot fail.
namespace assay::kernels {

struct ConvolutionAxis {
  std::size_t kernel = 1, stride = 1, padding = 0, dilation = 1;
  std::size_t output_padding = 0;  // only for a transposed convolution

  // The number of results along a dimension of `cells` cells.
  constexpr std::size_t results(std::size_t cells, bool transposed) const {
    const std::size_t reach = dilation * (kernel - 1) + 1;
    return transposed ? (cells - 1) * stride + reach + output_padding - 2 * padding
                      : (cells + 2 * padding - reach) / stride + 1;
  }
};

struct Convolution {
  InstructionSet set = InstructionSet::sse4;
  // The number of groups, and the input and output channels of one group.
  std::size_t groups = 1, inputs = 1, outputs = 1;
  ConvolutionAxis y, x;
  bool transposed = false;

  constexpr bool is_depthwise() const { return inputs == 1 && outputs == 1 && groups > 1 && !transposed; }
};

// Strides of the weight, in floats. The weight has the dimensions [groups outputs, inputs, y, x]; for a transposed
// convolution [groups inputs, outputs, y, x].
struct WeightStrides {
  std::size_t first, second, y, x;
};

std::size_t packed_floats(const Convolution&);
// Packs the weights. If `scale` is not null, the weights of output channel i are multiplied by scale[i].
void pack(const Convolution&, const float* weight, const WeightStrides&, const float* scale, float* packed);

// Images of height x width pixels, stored one after another. Each image is channels last, or has one plane for each
// channel.
struct Images {
  const float* data = nullptr;
  std::size_t count = 1, height = 1, width = 1;
  std::size_t pixel_stride = 0;  // the distance of pixels in floats, at least groups inputs
  bool channels_first = false;   // pixel_stride is then unused
};

// The number of floats of scratch memory that `convolve` needs for images of these sizes.
std::size_t scratch_floats(const Convolution&, const Images&);

// Computes as many images in `out`, which are channels last with groups outputs channels; out_stride is the distance of
// their pixels in floats. A sum begins with the bias of its channel; `bias` may be null. Requires weights that `pack`
// packed for the same convolution.
void convolve(const Convolution&, const Images&, const float* packed, const float* bias, float* out,
              std::size_t out_stride, float* scratch, const Epilogue& = {}, const Threads& = {});

}  // namespace assay::kernels
