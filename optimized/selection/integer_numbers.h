#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "optimized/kernels/integer_product.h"
#include "optimized/runtime/kernel.h"

// The numbers of a convolution or a matrix product of codes, from the operands of the calls that were merged into it.
namespace assay::optimized {

class IntegerNumbers {
 public:
  // Dimension `channel_dim` of the weight is that of the output channels. The bias may be None.
  IntegerNumbers(const CodesOfCall& codes, const Tensor& weight, const Value& bias, int channel_dim)
      : codes_(codes),
        bias_(bias),
        channel_dim_(channel_dim),
        channels_(weight.size(channel_dim)),
        most_addend_(0x7fffffff - 255.0 * 128 * static_cast<double>(weight.count() / channels_)) {}

  // Whether the weight has one scale, or one for each output channel, and no zero point, and all numbers are so small
  // that no float and no sum overflows. Requires a weight with elements.
  bool are_supported() const;
  // The numbers of an output channel, as kernels::Channels wants them.
  static kernels::ChannelNumbers of(const void* numbers, std::size_t channel);

 private:
  double scale(std::size_t channel) const;
  double shift(std::size_t channel) const;
  double addend(std::size_t channel) const;
  bool has_no_zero_points() const;

  const CodesOfCall& codes_;
  const Value& bias_;
  int channel_dim_;
  std::int64_t channels_;
  double most_addend_;  // the sum of it and of all products of the largest codes fits 32 bits
};

// Whether the value is a tensor of 8-bit codes whose sizes cannot change.
bool is_tensor_of_codes(const Value& v);
// The same for constant int8 codes of a weight.
bool is_weight_of_codes(const Value& v);

// Whether the sum of this many numbers, counted in steps of their scale, fits 32 bits.
bool fit_sums(const CodesOfCall& codes, std::int64_t count);
// The numbers of a mean: the sum of `count` numbers, which fits, is divided by the divisor.
kernels::ScaledSums mean_of_codes(const CodesOfCall& codes, std::int64_t count, std::int64_t divisor);

// The kernel's description of a convolution of input codes into result codes. Returns nothing if no kernel supports it.
std::optional<kernels::IntegerConvolution> integer_convolution(const kernels::Convolution& shape,
                                                               const CodesOfCall& codes, DType input);

}  // namespace assay::optimized
