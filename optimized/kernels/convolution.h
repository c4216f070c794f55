#pragma once

#include <cstddef>

#include "optimized/kernels/epilogue.h"
#include "optimized/kernels/instruction_set.h"
#include "optimized/kernels/matmul.h"
#include "optimized/kernels/threads.h"

// Convolution over one (a height of 1) or two dimensions, plain or transposed, of f32 images whose channels lie
// together. Pointers need no more alignment than a float's, but for packed weights: packed_alignment bytes. Nothing is
// read or written outside of what is given, and the result overlaps nothing else. Nothing fails: sizes, strides and
// dilations of at least 1 are the caller's promise.
namespace assay::kernels {

struct ConvolutionAxis {
  std::size_t kernel = 1, stride = 1, padding = 0, dilation = 1;
  std::size_t output_padding = 0;  // of a transposed one

  // Results over so many cells.
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

// Floats from an element of the weight to its neighbour: of [groups outputs, inputs, y, x], transposed of [groups
// inputs, outputs, y, x].
struct WeightStrides {
  std::size_t first, second, y, x;
};

std::size_t packed_floats(const Convolution&);
// Weights of output channel i are multiplied by scale[i], unless that is null.
void pack(const Convolution&, const float* weight, const WeightStrides&, const float* scale, float* packed);

// Images of height x width pixels one after the other: channels last, or the planes of the channels one after the
// other.
struct Images {
  const float* data = nullptr;
  std::size_t count = 1, height = 1, width = 1;
  std::size_t pixel_stride = 0;  // at least groups inputs floats
  bool channels_first = false;   // then there is no pixel_stride
};

// What `convolve` needs of scratch for images of these sizes.
std::size_t scratch_floats(const Convolution&, const Images&);

// out: as many images, channels last, of groups outputs channels, with out_stride floats from a pixel to the next; the
// bias, one for each of the channels, or null, begins the sum. Packed weights are those of `pack` for the same
// convolution.
void convolve(const Convolution&, const Images&, const float* packed, const float* bias, float* out,
              std::size_t out_stride, float* scratch, const Epilogue& = {}, const Threads& = {});

}  // namespace assay::kernels
