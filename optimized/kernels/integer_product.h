#pragma once

#include <cstddef>
#include <cstdint>

#include "optimized/kernels/convolution.h"
#include "optimized/kernels/steps.h"

// Convolutions and matrix products of 8-bit codes. The sum of the products is an integer without rounding, modulo 2^32.
// It becomes a code: f32(f32(sum) scale) + shift is rounded to a float, limited, rounded to the nearest integer, half
// to even, and the zero point is added. If the codes are the steps of floats (kernels/steps.h), it becomes a float:
// f32(f32(f32(sum) inverse) scale + shift), where the product with the scale and the sum are rounded to doubles. All
// instruction sets give the same results. Requires what kernels/convolution.h requires; only scratch memory is written
// beside the result.
namespace assay::kernels {

// The codes of a result: `low` to `high`. The code of 0 is the zero point, which may be outside of the codes.
constexpr std::int32_t most_zero_point = 1 << 14;  // the largest absolute value
struct CodeRange {
  std::int32_t zero_point = 0, low = -128, high = 127;
};

struct IntegerConvolution {
  Convolution shape;                  // requires can_convolve
  bool has_signed_input = true;       // whether the input's codes are int8, or uint8
  std::int32_t input_zero_point = 0;  // the code that is the image outside of its bounds; requires a code
  CodeRange result;                   // requires codes of one 8-bit dtype
  bool uses_vnni = false;             // requires has_vnni(shape.set)
  // Whether the codes are those of steps, and the results floats. The members from has_signed_input to result are then
  // unused, except that has_signed_input must be false.
  bool has_steps = false;
};

// Whether `convolve` can compute a convolution: its sums fit, and the taps of a depthwise one are few.
bool can_convolve(const Convolution&);

// The numbers of an output channel. A sum begins with `addend`, which must be 0 if the codes are those of steps.
struct ChannelNumbers {
  float scale = 1, shift = 0;
  std::int32_t addend = 0;
};
struct Channels {
  ChannelNumbers (*of)(const void* context, std::size_t channel);
  const void* context;
};

std::size_t packed_floats(const IntegerConvolution&);
// Packs weights and numbers; strides are in bytes. `packed` must be aligned to packed_alignment bytes.
void pack(const IntegerConvolution&, const std::int8_t* weight, const WeightStrides& strides, const Channels& channels,
          float* packed);

// Images of codes, channels last, as in Images.
struct CodeImages {
  const void* data = nullptr;
  std::size_t count = 1, height = 1, width = 1;
  std::size_t pixel_stride = 0;  // codes
};

// The bytes of scratch memory that `convolve` needs for images of these sizes.
std::size_t scratch_bytes(const IntegerConvolution&, const CodeImages&, const Threads&);

// Computes codes in `out`, channels last; out_stride is the distance of their pixels in codes.
void convolve(const IntegerConvolution&, const CodeImages&, const float* packed, void* out, std::size_t out_stride,
              void* scratch, const Threads& = {});

// Whether each pixel of the input may be a row of steps, because each result reads one pixel.
bool can_have_pixel_steps(const Convolution&);

// The same for codes of steps. Rows of steps are pixels, or whole images; `steps` has their numbers. Computes floats,
// to which the epilogue is applied; out_stride is the distance of their pixels in floats. Requires an epilogue without
// residual.
struct ImageSteps {
  const Steps* steps;
  bool of_pixels = false;  // requires can_have_pixel_steps
};
void convolve_steps(const IntegerConvolution&, const CodeImages&, const ImageSteps&, const float* packed, float* out,
                    std::size_t out_stride, void* scratch, const Epilogue& = {}, const Threads& = {});

}  // namespace assay::kernels
