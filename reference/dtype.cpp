#include "reference/dtype.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

static_assert(std::endian::native == std::endian::little, "tensors are little-endian, and so is this code");

namespace assay {
namespace {

template <class S>
Int int_value(Bits b) {
  return static_cast<Int>(static_cast<S>(b));
}
template <class S>
Real int_as_real(Bits b) {
  return static_cast<Real>(static_cast<S>(b));
}
Bits int_bits(Int x) { return static_cast<Bits>(x); }

Int bool_value(Bits b) { return (b & 0xff) != 0; }
Real bool_as_real(Bits b) { return (b & 0xff) != 0; }
Bits bool_bits(Int x) { return x != 0; }
Bits bool_bits_of_real(Real x) { return x != 0; }  // NaN is true

// ATen's cast of a floating value to an integer on x86: truncate to a wider signed type and keep the low bits. NaN and
// a value that the wider type cannot hold become its smallest value.
template <class Wide>
Bits truncated(Real x) {
  constexpr Wide least = std::numeric_limits<Wide>::min();
  constexpr Real limit = static_cast<Real>(least);
  return static_cast<Bits>(static_cast<Int>(x >= limit && x < -limit ? static_cast<Wide>(x) : least));
}

// The cast to an unsigned type as wide as Signed. A value that Signed cannot hold is reduced by half the range, cast,
// and raised again. For uint32, ATen's vector code casts this way; its other code gives another result where uint32
// cannot hold the value.
template <class Signed>
Bits truncated_unsigned(Real x) {
  constexpr Signed least = std::numeric_limits<Signed>::min();
  constexpr Real half = -static_cast<Real>(least);
  return x >= half ? truncated<Signed>(x - half) ^ static_cast<Bits>(least) : truncated<Signed>(x);
}

Real f64_value(Bits b) { return static_cast<Real>(std::bit_cast<double>(b)); }
Bits f64_bits(Real x) { return std::bit_cast<Bits>(static_cast<double>(x)); }
Real f32_value(Bits b) { return static_cast<Real>(std::bit_cast<float>(static_cast<std::uint32_t>(b))); }
Bits f32_bits(Real x) { return std::bit_cast<std::uint32_t>(static_cast<float>(x)); }
Bits f64_bits_of_int(Int x) { return f64_bits(static_cast<Real>(x)); }
Bits f32_bits_of_int(Int x) { return std::bit_cast<std::uint32_t>(static_cast<float>(x)); }

// A 16-bit format with `exponent` and `fraction` bits: float16 is <5, 10>, bfloat16 is <8, 7>. Its normal numbers have
// the form of float64 with fewer fraction bits and another bias.
template <int exponent, int fraction>
struct Small {
  static constexpr int bias = (1 << (exponent - 1)) - 1, top = (1 << exponent) - 1;
  static constexpr int lost = 52 - fraction;
  static constexpr Bits rebias = static_cast<Bits>(1023 - bias) << 52, infinity = static_cast<Bits>(top) << fraction;
  static constexpr double least_normal = std::bit_cast<double>(rebias + (Bits{1} << 52)),
                          least = least_normal / (1 << fraction);
};

template <int exponent, int fraction>
Real small_value(Bits b) {
  using Format = Small<exponent, fraction>;
  const Bits magnitude = b & ((Bits{1} << (exponent + fraction)) - 1);
  const Real size = magnitude > Format::infinity    ? std::numeric_limits<Real>::quiet_NaN()
                    : magnitude == Format::infinity ? std::numeric_limits<Real>::infinity()
                    : magnitude < Bits{1} << fraction
                        ? static_cast<Real>(magnitude) * Format::least
                        : std::bit_cast<double>((magnitude << Format::lost) + Format::rebias);
  return (b >> (exponent + fraction)) & 1 ? -size : size;
}

template <int exponent, int fraction>
Bits small_bits(Real x) {
  using Format = Small<exponent, fraction>;
  const Bits sign = static_cast<Bits>(std::signbit(x)) << (exponent + fraction);
  if (std::isnan(x)) return sign | Format::infinity | Bits{1} << (fraction - 1);
  const Real size = std::fabs(x);
  if (size < Format::least_normal) return sign | static_cast<Bits>(std::nearbyint(size / Format::least));
  // A carry into the next binade needs no special case: the bit pattern of the result is the successor.
  const Bits bits = std::bit_cast<Bits>(static_cast<double>(size)), odd = bits >> Format::lost & 1;
  const Bits rounded = (bits - Format::rebias + (Bits{1} << (Format::lost - 1)) - 1 + odd) >> Format::lost;
  return sign | std::min(rounded, Format::infinity);
}

// ATen converts int64 to a half type through float32.
template <int exponent, int fraction>
Bits small_bits_of_int(Int x) {
  return small_bits<exponent, fraction>(static_cast<Real>(static_cast<float>(x)));
}

using enum DType;
constexpr DTypeInfo with_casts(const DTypeFacts& d) {
  switch (d.part) {
    case uint8:
      return {d, int_as_real<std::uint8_t>, int_value<std::uint8_t>, truncated<std::int64_t>, int_bits};
    case int8:
      return {d, int_as_real<std::int8_t>, int_value<std::int8_t>, truncated<std::int32_t>, int_bits};
    case int16:
      return {d, int_as_real<std::int16_t>, int_value<std::int16_t>, truncated<std::int32_t>, int_bits};
    case int32:
      return {d, int_as_real<std::int32_t>, int_value<std::int32_t>, truncated<std::int32_t>, int_bits};
    case int64:
      return {d, int_as_real<std::int64_t>, int_value<std::int64_t>, truncated<std::int64_t>, int_bits};
    case uint16:
      return {d, int_as_real<std::uint16_t>, int_value<std::uint16_t>, truncated<std::int32_t>, int_bits};
    case uint32:
      return {d, int_as_real<std::uint32_t>, int_value<std::uint32_t>, truncated_unsigned<std::int32_t>, int_bits};
    case uint64:
      return {d, int_as_real<std::uint64_t>, int_value<std::uint64_t>, truncated_unsigned<std::int64_t>, int_bits};
    case boolean:
      return {d, bool_as_real, bool_value, bool_bits_of_real, bool_bits};
    case float16:
      return {d, small_value<5, 10>, nullptr, small_bits<5, 10>, small_bits_of_int<5, 10>};
    case bfloat16:
      return {d, small_value<8, 7>, nullptr, small_bits<8, 7>, small_bits_of_int<8, 7>};
    case float32:
      return {d, f32_value, nullptr, f32_bits, f32_bits_of_int};
    case float64:
      return {d, f64_value, nullptr, f64_bits, f64_bits_of_int};
    default:  // opaque
      return {d, nullptr, nullptr, nullptr, nullptr};
  }
}
constexpr auto table = [] {
  std::array<DTypeInfo, std::size(dtype_facts)> all{};
  std::ranges::transform(dtype_facts, all.begin(), with_casts);
  return all;
}();

}  // namespace

const DTypeInfo& info(DType dtype) {
  return table[static_cast<std::size_t>(dtype_rows[static_cast<std::size_t>(dtype)])];
}

std::optional<DType> dtype_named(std::string_view name) {
  const auto* row = std::ranges::find_if(table, [&](const DTypeInfo& d) { return d.name == name || d.alias == name; });
  return row == table.end() ? std::nullopt : std::optional(row->dtype);
}

std::optional<DType> dtype_numbered(Int number) {
  const DTypeFacts* found = find_dtype(number);
  return found ? std::optional(found->dtype) : std::nullopt;
}

DType complex_of(DType floating) {
  return floating == float16 ? complex32 : floating == float64 ? complex128 : complex64;
}

Real round_to(DType dtype, Real x) { return info(dtype).real_of(info(dtype).bits_of_real(x)); }
Complex round_to(DType dtype, const Complex& z) { return {round_to(dtype, z.real()), round_to(dtype, z.imag())}; }
Int truncated_to(DType dtype, Real x) { return info(dtype).int_of(info(dtype).bits_of_real(x)); }
Int wrap_to(DType dtype, Int x) { return info(dtype).int_of(info(dtype).bits_of_int(x)); }

Int Rounding::operator()(Int x) const { return wrap_to(dtype, x); }

namespace {

// As std::ldexp(1, exponent) and std::ilogb(x), which are calls of a library that take ten times as long. The proofs of
// precision compile this file with a wider Real.
constexpr int bias = 1023, mantissa_bits = 52;
Real power_of_two(int exponent) {
  const bool is_normal = exponent > -bias && exponent <= bias;
  return is_normal ? Real{std::bit_cast<double>(static_cast<Bits>(exponent + bias) << mantissa_bits)}
                   : std::ldexp(Real{1}, exponent);
}
template <class Wider>
int exponent_of(Wider x) {
  return std::ilogb(x);
}
int exponent_of(double x) {
  const int biased = static_cast<int>(std::bit_cast<Bits>(x) >> mantissa_bits & 0x7ff);
  return biased > 0 ? biased - bias : std::ilogb(x);
}

}  // namespace

Real ulp(DType dtype, Real x) {
  const DTypeInfo& d = info(dtype);
  const int exponent = x == 0 || !std::isfinite(x) ? d.least_exponent : std::max(exponent_of(x), d.least_exponent);
  return power_of_two(exponent - d.precision + 1);
}

Real least_integer(DType dtype) {
  const bool is_unsigned = info(dtype).real_of(~Bits{0}) > 0;
  return is_unsigned ? 0 : -std::ldexp(Real{1}, info(dtype).bytes * 8 - 1);
}

Real largest_integer(DType dtype) {
  return std::ldexp(Real{1}, info(dtype).bytes * 8 - (least_integer(dtype) < 0 ? 1 : 0)) - 1;
}

Arithmetic arithmetic(DType result, DType partial) {
  const auto unit = [](DType d) { return std::ldexp(Real{1}, -info(d).precision); };
  const auto least = [](DType d) { return std::ldexp(Real{1}, info(d).least_exponent); };
  const Real stored = unit(result) / unit(partial);
  return {unit(partial), least(partial), largest(partial), stored > 1 ? stored : 0, least(result), largest(result)};
}

Real largest(DType dtype) {
  const DTypeInfo& d = info(dtype);
  return (2 - power_of_two(1 - d.precision)) * power_of_two(1 - d.least_exponent);
}

}  // namespace assay
