#include "optimized/kernels/halves.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "tests/support/fenced_kernels.h"

// The conversions between half types and floats of every instruction set, compared to the definition of the types. The
// memory is between guard pages.
namespace assay::kernels {
namespace halves_test {

struct Format {
  int fraction_bits, exponent_bits;

  // The number with these bits, without its sign; infinity and NaN stand for their exponent.
  double value_of(unsigned bits) const {
    const int bias = (1 << (exponent_bits - 1)) - 1, exponent = static_cast<int>(bits >> fraction_bits);
    const double fraction = std::ldexp(bits & ((1u << fraction_bits) - 1), -fraction_bits);
    return exponent == 0 ? std::ldexp(fraction, 1 - bias) : std::ldexp(1 + fraction, exponent - bias);
  }
  unsigned infinite() const { return ((1u << exponent_bits) - 1) << fraction_bits; }
};

template <class Half>
constexpr Format format{};
template <>
constexpr Format format<Float16>{10, 5};
template <>
constexpr Format format<BFloat16>{7, 8};

constexpr std::size_t all = 1 << 16;

template <class Half>
std::vector<Half> every_half() {
  std::vector<Half> halves(all);
  for (std::size_t i = 0; i < all; ++i) halves[i].bits = static_cast<std::uint16_t>(i);
  return halves;
}

// Bits for which a NaN counts as any NaN of its sign.
std::uint32_t bits_of(float x) { return std::bit_cast<std::uint32_t>(std::isnan(x) ? std::copysign(nan, x) : x); }

template <class Half>
void check_widening(InstructionSet set) {
  const Format f = format<Half>;
  const FencedArray<Half> halves(every_half<Half>());
  const Fenced wide(all);
  find_widen<Half>(set)(halves.data(), 1, wide.data(), all);
  for (unsigned i = 0; i < all; ++i) {
    const unsigned size = i & 0x7fff;
    const double number = size < f.infinite() ? f.value_of(size) : double{size == f.infinite() ? infinity : nan};
    const float want = static_cast<float>(i == size ? number : -number);
    EXPECT_EQ(bits_of(wide.data()[i]), bits_of(std::copysign(want, i == size ? 1.0f : -1.0f))) << i;
    EXPECT_EQ(bits_of(wide.data()[i]), bits_of(halves.data()[i])) << i;
  }
}

// Between two neighbouring halves the nearer one is right; in the middle the one whose last bit is 0.
template <class Half>
void check_rounding(InstructionSet set) {
  std::vector<float> numbers;
  std::vector<unsigned> wanted;
  const auto want = [&](float x, unsigned bits) {
    numbers.insert(numbers.end(), {x, -x}), wanted.insert(wanted.end(), {bits, bits | 0x8000});
  };
  const Format f = format<Half>;
  for (unsigned i = 0; i < f.infinite(); ++i) {
    const double low = f.value_of(i), high = f.value_of(i + 1);
    const float middle = static_cast<float>((low + high) / 2);
    want(static_cast<float>(low), i);
    if (double{middle} != (low + high) / 2) continue;  // floats have no number between
    want(std::nextafter(middle, 0.0f), i);
    want(middle, i + i % 2);
    want(std::nextafter(middle, infinity), i + 1);
  }
  want(infinity, f.infinite());
  want(std::numeric_limits<float>::max(), f.infinite());
  want(std::numeric_limits<float>::denorm_min(), 0);
  const FencedArray<Half> halves(numbers.size());
  find_narrow<Half>(set)(Fenced(numbers).data(), halves.data(), numbers.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    EXPECT_EQ(halves.data()[i].bits, wanted[i]) << numbers[i];
    EXPECT_EQ(Half::of(numbers[i]).bits, wanted[i]) << numbers[i];
  }
  for (const std::uint32_t bits : {0x7f800001u, 0x7fc00000u, 0x7fffffffu, 0xff800001u, 0xffc12345u}) {
    const float x = std::bit_cast<float>(bits);
    Half half;
    find_narrow<Half>(set)(&x, &half, 1);
    EXPECT_TRUE(std::isnan(float{half})) << bits;
    EXPECT_EQ(half.bits, Half::of(x).bits) << bits;
  }
}

// Any number of elements, with each stride, and in place.
template <class Half>
void check_sizes(InstructionSet set) {
  const std::vector<float> numbers = random_floats(601);
  for (std::size_t n = 0; n < numbers.size(); n = n < 70 ? n + 1 : n + 177) {
    const FencedArray<Half> halves(n);
    const FencedArray<float> from(std::vector(numbers.begin(), numbers.begin() + static_cast<std::ptrdiff_t>(n)));
    find_narrow<Half>(set)(from.data(), halves.data(), n);
    find_narrow<Half>(set)(from.data(), from.data(), n);
    for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(halves.data()[i].bits, Half::of(numbers[i]).bits) << n << ", " << i;
    EXPECT_EQ(std::memcmp(from.data(), halves.data(), n * sizeof(Half)), 0) << n;
    for (const std::size_t stride : {0u, 1u, 2u, 3u}) {
      const std::size_t count = stride == 0 ? n : (n + stride - 1) / stride;
      const Fenced wide(count);
      if (n > 0) find_widen<Half>(set)(halves.data(), static_cast<std::ptrdiff_t>(stride), wide.data(), count);
      for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(wide.data()[i], float{halves.data()[i * stride]}) << n;
    }
  }
}

class Halves : public testing::TestWithParam<InstructionSet> {};
INSTANTIATE_TEST_SUITE_P(EachInstructionSet, Halves, testing::ValuesIn(sets()),
                         [](const auto& set) { return traits(set.param).name; });

TEST_P(Halves, Widen) { check_widening<Float16>(GetParam()), check_widening<BFloat16>(GetParam()); }
TEST_P(Halves, AreRounded) { check_rounding<Float16>(GetParam()), check_rounding<BFloat16>(GetParam()); }
TEST_P(Halves, OfAnyNumber) { check_sizes<Float16>(GetParam()), check_sizes<BFloat16>(GetParam()); }

}  // namespace halves_test
}  // namespace assay::kernels
