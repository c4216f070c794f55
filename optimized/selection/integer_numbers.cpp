#include "optimized/selection/integer_numbers.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <optional>

namespace assay::optimized {
namespace {

// The largest factor of a sum, and the largest summand.
constexpr double most_scale = 0x1p80, most_shift = 0x1p100;

// Element i of a constant tensor of numbers. It may be unaligned while memory is only counted. NaN for other dtypes.
double element_of(const Tensor& t, std::size_t i) {
  const auto read = [&]<class T>(T x) {
    std::memcpy(&x, t.data + i * sizeof x, sizeof x);
    return static_cast<double>(x);
  };
  switch (t.dtype) {
    case DType::float32:
      return read(float{});
    case DType::float64:
      return read(double{});
    case DType::int8:
      return read(std::int8_t{});
    case DType::int32:
      return read(std::int32_t{});
    case DType::int64:
      return read(std::int64_t{});
    default:
      return std::nan("");
  }
}

// Number i of an operand: a number, a constant tensor, or None, which is 0. NaN for other operands.
double number_of(const Value& v, std::size_t i) {
  if (v.kind == ValueKind::real) return v.real;
  if (v.kind == ValueKind::integer) return static_cast<double>(v.integer);
  if (v.kind == ValueKind::none) return 0;
  return v.is_tensor() && v.tensor->constant && v.tensor->data ? element_of(*v.tensor, i) : std::nan("");
}

bool is_channel_count(const Value& v, std::int64_t channels) { return !v.is_tensor() || v.tensor->count() == channels; }

kernels::CodeRange range_of(const kernels::FakeQuantizer& q) {
  return {static_cast<std::int32_t>(q.zero_point), static_cast<std::int32_t>(q.low), static_cast<std::int32_t>(q.high)};
}

}  // namespace

double IntegerNumbers::scale(std::size_t channel) const {
  if (codes_.factors) return number_of(*codes_.factors, codes_.factors->tensor->count() == 1 ? 0 : channel);
  return double{codes_.input.scale} * number_of((*codes_.weight)[1], channel) * double{codes_.result.inverse_scale};
}

double IntegerNumbers::shift(std::size_t channel) const {
  if (codes_.factors) return 0;
  return number_of(bias_, channel) * double{codes_.result.inverse_scale};
}

double IntegerNumbers::addend(std::size_t channel) const { return codes_.factors ? number_of(bias_, channel) : 0; }

bool IntegerNumbers::has_no_zero_points() const {
  if (codes_.factors) return codes_.factors->tensor->count() == 1 || is_channel_count(*codes_.factors, channels_);
  const Call& w = *codes_.weight;
  const bool per_channel = w[1].is_tensor();
  if (per_channel && (w[3].kind != ValueKind::integer || w[3].integer != channel_dim_)) return false;
  if (!is_channel_count(w[1], channels_) || !is_channel_count(w[2], channels_)) return false;
  for (std::size_t i = 0; i < static_cast<std::size_t>(channels_); ++i)
    if (number_of(w[2], i) != 0) return false;
  return true;
}

bool IntegerNumbers::are_supported() const {
  if (!has_no_zero_points() || !is_channel_count(bias_, channels_)) return false;
  for (std::size_t i = 0; i < static_cast<std::size_t>(channels_); ++i)
    if (!(std::fabs(scale(i)) <= most_scale) || !(std::fabs(shift(i)) <= most_shift) ||
        !(std::fabs(addend(i)) <= most_addend_))
      return false;
  return true;
}

kernels::ChannelNumbers IntegerNumbers::of(const void* numbers, std::size_t channel) {
  const auto& n = *static_cast<const IntegerNumbers*>(numbers);
  return {static_cast<float>(n.scale(channel)), static_cast<float>(n.shift(channel)),
          static_cast<std::int32_t>(n.addend(channel))};
}

bool is_tensor_of_codes(const Value& v) {
  return v.is_tensor() && !v.tensor->moves && (v.tensor->dtype == DType::int8 || v.tensor->dtype == DType::uint8);
}

bool is_weight_of_codes(const Value& v) {
  return v.is_tensor() && v.tensor->constant && v.tensor->data && v.tensor->dtype == DType::int8;
}

bool fit_sums(const CodesOfCall& codes, std::int64_t count) {
  return static_cast<double>(count) * (255 + std::fabs(double{codes.input.zero_point})) <= 0x7fffffff;
}

kernels::ScaledSums mean_of_codes(const CodesOfCall& codes, std::int64_t count, std::int64_t divisor) {
  return {static_cast<std::int32_t>(-static_cast<double>(count) * double{codes.input.zero_point}),
          static_cast<float>(double{codes.input.scale} / static_cast<double>(divisor)), 0, codes.result};
}

std::optional<kernels::IntegerConvolution> integer_convolution(const kernels::Convolution& shape,
                                                               const CodesOfCall& codes, DType input) {
  const kernels::CodeRange from = range_of(codes.input), to = range_of(codes.result);
  const std::int32_t least = input == DType::int8 ? -128 : 0;
  if (!kernels::can_convolve(shape) || from.zero_point < least || from.zero_point > least + 255 || to.low > to.high ||
      std::abs(to.zero_point) > kernels::most_zero_point)
    return {};
  return kernels::IntegerConvolution{shape, input == DType::int8, from.zero_point, to, kernels::has_vnni(shape.set)};
}

}  // namespace assay::optimized
