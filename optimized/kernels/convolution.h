#pragma once

#include <cstddef>

#include "optimized/kernels/epilogue.h"
#include "optimized/kernels/instruction_set.h"
#include "optimized/kernels/matmul.h"
#include "optimized/kernels/threads.h"

// Convolution over one dimension (a height of 1) or two, plain or transposed, of float32 images whose channels are
// contiguous. Pointers need the alignment of a float, packed weights packed_alignment bytes. Nothing is read or written
// outside of the given memory, and the result overlaps nothing else. It cannot fail: the caller promises sizes, strides
// and dilations of at least 1.
namespace assay::kernels {

struct ConvolutionAxis {
  std::size_t kernel = 1, stride = 1, padding = 0, dilation = 1;
  std::size_t output_padding = 0;  // of a transposed convolution

  // The number of results over this many cells.
  constexpr std::size_t results(std::size_t cells, bool transposed) const {
    const std::size_t reach = dilation * (kernel - 1) + 1;
    return transposed ? (cells - 1) * stride + reach + output_padding - 2 * padding
                      : (cells + 2 * padding - reach) / stride + 1;
  }
};

struct Convolution {
  InstructionSet set = InstructionSet::sse4;
  std::size_t groups = 1, inputs = 1, outputs = 1;  // channels of a group
  ConvolutionAxis y, x;
  bool transposed = false;

  constexpr bool is_depthwise() const { return inputs == 1 && outputs == 1 && groups > 1 && !transposed; }
};

// Strides of the weight, in floats: of [groups outputs, inputs, y, x]; of a transposed convolution, [groups inputs,
// outputs, y, x].
struct WeightStrides {
  std::size_t first, second, y, x;
};

std::size_t packed_floats(const Convolution&);
// The weights of output channel i are multiplied by scale[i], unless scale is null.
void pack(const Convolution&, const float* weight, const WeightStrides&, const float* scale, float* packed);

// Images of height x width pixels, one after another: channels last, or the planes of the channels one after another.
struct Images {
  const float* data = nullptr;
  std::size_t count = 1, height = 1, width = 1;
  std::size_t pixel_stride = 0;  // at least groups inputs floats
  bool channels_first = false;   // pixel_stride is then unused
};

// The scratch that `convolve` needs for images of these sizes.
std::size_t scratch_floats(const Convolution&, const Images&);

// `out`: as many images, channels last, of groups outputs channels, out_stride floats from a pixel to the next. A sum
// begins with the bias of its channel; bias may be null. Packed weights come from `pack` for the same convolution.
void convolve(const Convolution&, const Images&, const float* packed, const float* bias, float* out,
              std::size_t out_stride, float* scratch, const Epilogue& = {}, const Threads& = {});

}  // namespace assay::kernels
