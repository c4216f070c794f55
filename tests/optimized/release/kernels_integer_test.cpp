#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "optimized/kernels/integer_product.h"
#include "optimized/kernels/pool.h"
#include "optimized/kernels/quantize.h"
#include "tests/support/backwards.h"
#include "tests/support/dot_ways.h"
#include "tests/support/fenced_kernels.h"
#include "tests/support/steps.h"

// Convolutions and products of codes, of every instruction set with and without VNNI, equal plain loops bit for bit.
// The memory is between guard pages.
namespace assay::kernels {
namespace kernels_integer_test {

class IntegerKernels : public testing::TestWithParam<DotWay> {};
INSTANTIATE_TEST_SUITE_P(EachWay, IntegerKernels, testing::ValuesIn(all_dot_ways()), name_of_way);

std::mt19937 generator(7);
int any(int low, int high) { return std::uniform_int_distribution(low, high)(generator); }
template <class T>
std::vector<T> random_codes(std::size_t n, int low, int high) {
  std::vector<T> values(n);
  for (T& x : values) x = static_cast<T>(any(low, high));
  return values;
}

struct Case {
  ConvolutionAxis y = {}, x = {};
  std::size_t height = 1, width = 1, groups = 1, inputs = 3, outputs = 5, images = 1, pixel_gap = 0, out_gap = 0;
  bool has_signed_input = true, has_signed_result = true;
  int input_zero_point = 3;
  CodeRange result = {-5, -128, 127};
  int lowest = -128, highest = 127;  // of the input
  int lowest_weight = -128, highest_weight = 127;
  std::vector<ChannelNumbers> numbers = {};

  std::size_t channels() const { return groups * inputs; }
  std::size_t out_channels() const { return groups * outputs; }
  std::size_t plane() const { return y.kernel * x.kernel; }
  std::size_t out_height() const { return y.results(height, false); }
  std::size_t out_width() const { return x.results(width, false); }
};

struct Data {
  std::vector<std::uint8_t> input;  // with gaps
  std::vector<std::int8_t> weight;
};

constexpr std::uint8_t untouched = 0x5a;

std::vector<std::uint8_t> run(const DotWay& way, const Case& c, const Data& data, const Threads& threads) {
  const IntegerConvolution convolution{{way.set, c.groups, c.inputs, c.outputs, c.y, c.x, false},
                                       c.has_signed_input,
                                       c.input_zero_point,
                                       c.result,
                                       way.uses_vnni};
  const FencedArray<std::uint8_t> in(data.input);
  const FencedArray<std::int8_t> weight(data.weight);
  const Fenced packed(packed_floats(convolution), packed_alignment);
  const Channels channels{[](const void* all, std::size_t i) { return static_cast<const ChannelNumbers*>(all)[i]; },
                          c.numbers.data()};
  pack(convolution, weight.data(), {c.plane() * c.inputs, c.plane(), c.x.kernel, 1}, channels, packed.data());
  const CodeImages images{in.data(), c.images, c.height, c.width, c.channels() + c.pixel_gap};
  const FencedArray<std::uint8_t> scratch(scratch_bytes(convolution, images, threads));
  const std::size_t stride = c.out_channels() + c.out_gap;
  const FencedArray<std::uint8_t> out(
      std::vector<std::uint8_t>(c.images * c.out_height() * c.out_width() * stride - c.out_gap, untouched));
  convolve(convolution, images, packed.data(), out.data(), stride, scratch.data(), threads);
  return out.values();
}

// The code that the formula gives to output channel o of result (y, x).
std::uint8_t want(const Case& c, const Data& data, std::size_t image, std::size_t y, std::size_t x, std::size_t o) {
  const std::size_t group = o / c.outputs;
  std::int64_t sum = c.numbers[o].addend;
  for (std::size_t i = 0; i < c.y.kernel; ++i)
    for (std::size_t j = 0; j < c.x.kernel; ++j) {
      const std::size_t row = y * c.y.stride + i * c.y.dilation - c.y.padding,
                        column = x * c.x.stride + j * c.x.dilation - c.x.padding;
      if (row >= c.height || column >= c.width) continue;
      for (std::size_t k = 0; k < c.inputs; ++k) {
        const std::uint8_t code =
            data.input[((image * c.height + row) * c.width + column) * (c.channels() + c.pixel_gap) + group * c.inputs +
                       k];
        const int number = c.has_signed_input ? static_cast<std::int8_t>(code) : code;
        sum += std::int64_t{number - c.input_zero_point} *
               data.weight[((o * c.inputs + k) * c.y.kernel + i) * c.x.kernel + j];
      }
    }
  EXPECT_EQ(sum, static_cast<std::int32_t>(sum));
  const float scaled = static_cast<float>(sum) * c.numbers[o].scale, shifted = scaled + c.numbers[o].shift;
  const int code = static_cast<int>(std::nearbyint(
                       std::min(std::max(shifted, static_cast<float>(c.result.low - c.result.zero_point)),
                                static_cast<float>(c.result.high - c.result.zero_point)))) +
                   c.result.zero_point;
  return static_cast<std::uint8_t>(code);
}

void check(const DotWay& way, Case c) {
  if (!c.has_signed_input) c.lowest += 128, c.highest += 128, c.input_zero_point += 128;
  if (!c.has_signed_result) c.result.low += 128, c.result.high += 128, c.result.zero_point += 128;
  const std::size_t pixels = c.images * c.height * c.width, stride = c.channels() + c.pixel_gap;
  const Data data{
      random_codes<std::uint8_t>(pixels * stride - c.pixel_gap, c.lowest, c.highest),
      random_codes<std::int8_t>(c.out_channels() * c.inputs * c.plane(), c.lowest_weight, c.highest_weight)};
  if (c.numbers.empty())
    for (std::size_t o = 0; o < c.out_channels(); ++o)  // many sums lie between two codes
      c.numbers.push_back(
          {0.5f / static_cast<float>(1 << any(2, 12)), static_cast<float>(any(-9, 9)) * 0.25f, any(-100000, 100000)});
  const std::vector<std::uint8_t> out = run(way, c, data, {});
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::size_t o = i % (c.out_channels() + c.out_gap), place = i / (c.out_channels() + c.out_gap),
                      x = place % c.out_width(), y = place / c.out_width() % c.out_height(),
                      image = place / c.out_width() / c.out_height();
    ASSERT_EQ(out[i], o < c.out_channels() ? want(c, data, image, y, x, o) : untouched)
        << "channel " << o << " of result " << place;
  }
  for (std::size_t count = 2; count <= 3; ++count)
    EXPECT_EQ(run(way, c, data, backwards(count)), out) << count << " threads";
}

TEST_P(IntegerKernels, MultiplyAroundEachEdgeOfATile) {
  const std::size_t lanes = traits(GetParam().set).lanes;
  for (const std::size_t rows : {1u, 2u, 5u, 6u, 7u, 9u, 10u, 11u, 13u})
    for (std::size_t vectors = 0; vectors <= 5; ++vectors)
      for (const std::size_t more : {std::size_t{1}, lanes / 2 + 1, lanes})
        for (const std::size_t depth : {1u, 3u, 4u, 7u, 67u})
          check(GetParam(), {.width = rows,
                             .inputs = depth,
                             .outputs = vectors * lanes + more,
                             .pixel_gap = depth % 2,
                             .out_gap = rows % 3});
}

TEST_P(IntegerKernels, MultiplyInBlocks) {
  check(GetParam(), {.width = 150, .inputs = 1200, .outputs = 70});
  check(GetParam(), {.width = 13, .inputs = 20000, .outputs = 9, .highest_weight = 100});
}

TEST_P(IntegerKernels, ReadAndWriteSignedAndUnsignedCodes) {
  for (const std::size_t groups : {1u, 6u})
    for (const bool has_signed_input : {false, true})
      for (const bool has_signed_result : {false, true})
        for (const int zero_point : {-128, -1, 0, 127})
          check(GetParam(), {.y = {3, 1, 1},
                             .x = {3, 1, 1},
                             .height = 4,
                             .width = 9,
                             .groups = groups,
                             .inputs = 6 / groups,
                             .outputs = groups == 1 ? 20u : 1u,
                             .images = 2,
                             .has_signed_input = has_signed_input,
                             .has_signed_result = has_signed_result,
                             .input_zero_point = zero_point,
                             .result = {zero_point, zero_point < 0 ? -100 : -128, 90}});
}

// The largest sums of both signs. The scale keeps their codes apart.
TEST_P(IntegerKernels, SumExtremeCodes) {
  for (const std::size_t depth : {4093u, 65793u})
    for (const int zero_point : {-128, 127})
      for (const int code : {-128, 127})
        for (const int weight : {-128, 127})
          for (const bool has_signed_input : {false, true})
            check(GetParam(), {.width = 3,
                               .inputs = depth,
                               .outputs = 3,
                               .has_signed_input = has_signed_input,
                               .input_zero_point = zero_point,
                               .result = {0, -128, 127},
                               .lowest = code,
                               .highest = code,
                               .lowest_weight = weight,
                               .highest_weight = weight,
                               .numbers = {{0x1p-24f}, {0x1p-25f, 0.5f}, {0x1p-26f, 0, weight < 0 ? 1 : -1}}});
}

// Halves go to the even code, before the zero point is added.
TEST_P(IntegerKernels, RoundHalvesToEven) {
  for (const int zero_point : {0, 1})
    check(GetParam(), {.width = 40,
                       .inputs = 1,
                       .outputs = 8,
                       .result = {zero_point, -128, 127},
                       .lowest_weight = 1,
                       .highest_weight = 5,
                       .numbers = std::vector<ChannelNumbers>(8, {0.5f})});
}

TEST_P(IntegerKernels, LimitSumsThatAreNoCodes) {
  for (const float scale : {1e30f, 3e38f})
    for (const std::size_t groups : {1u, 5u})
      check(GetParam(), {.width = 12,
                         .groups = groups,
                         .inputs = 5 / groups,
                         .outputs = 5 / groups,
                         .numbers = std::vector<ChannelNumbers>(5, {scale, -scale})});
}

// A zero point outside of the codes, and sums beyond 16 bits, whose codes are the limits.
TEST_P(IntegerKernels, MoveSumsByLargeZeroPoints) {
  for (const std::size_t groups : {1u, 5u})
    for (const bool has_signed_result : {false, true})
      for (const int zero_point : {-most_zero_point + 128, most_zero_point - 128})
        check(GetParam(), {.width = 40,
                           .groups = groups,
                           .inputs = 5 / groups,
                           .outputs = 5 / groups,
                           .has_signed_result = has_signed_result,
                           .result = {zero_point, -128, 127},
                           .numbers = {{1.0f, -static_cast<float>(zero_point)}, {1e6f}, {-1e6f}, {1}, {-1}}});
}

template <class Code>
void check_fixed_point_sums(InstructionSet set) {
  constexpr int least = std::numeric_limits<Code>::min();
  const FixedPointSum sums[] = {
      {1 << 21, 1 << 20, 1 << 15, 20, 3, least + 5, least + 250},
      {-(1 << 21), 1 << 11, -77, 21, least, least, least + 255},
      {3, 5, 2, 2, 1, least, least + 255},  // many halves
      {1 << 20, -(1 << 20), 1 << 29, 30, -1 << 20, least, least + 255},
  };
  for (const FixedPointSum& q : sums)
    for (const std::size_t n : {1u, 15u, 64u, 65u, 1000u}) {
      const FencedArray<Code> a(random_codes<Code>(n, least, least + 255)),
          b(random_codes<Code>(n, least, least + 255)), out(std::vector<Code>(n, Code{}));
      find_add_fixed<Code>(set)(q, a.data(), b.data(), out.data(), n);
      for (std::size_t i = 0; i < n; ++i) {
        const std::int64_t numerator =
            std::int64_t{q.a_factor} * a.data()[i] + std::int64_t{q.b_factor} * b.data()[i] + q.offset;
        const double quotient = std::floor(std::ldexp(static_cast<double>(numerator), -q.shift)) + q.zero_point;
        ASSERT_EQ(out.data()[i], std::clamp(quotient, double(q.low), double(q.high))) << i << " of " << n;
      }
    }
}
TEST_P(IntegerKernels, AddInFixedPoint) {
  check_fixed_point_sums<std::int8_t>(GetParam().set);
  check_fixed_point_sums<std::uint8_t>(GetParam().set);
}

// The code of x as QuantizeRow defines it.
template <class Code>
Code code_of(const Quantizer& q, float x) {
  const float code = rounded(double{std::nearbyint(rounded(double{x} * q.inverse_scale))} + q.zero_point);
  return static_cast<Code>(static_cast<std::int32_t>(std::min(std::max(code, q.low), q.high)));
}

// Scales whose numbers often lie between two codes, scales that are no powers of two, and results beyond the limits.
template <class Code>
std::vector<CombinedCodes> combinations() {
  constexpr float least = std::numeric_limits<Code>::min(), most = least + 255;
  return {{least + 3, 0.5f, least, 0.25f, 1, {4, least + 7, least, most}},
          {3, 0.1f, -7, 0.07f, 1 / 3.0f, {1 / 0.3f, 5, least + 4, most - 9}},
          {0, 1, 200, 1, 0.125f, {1, 0, least, most}},
          {-300, 1e5f, 300, 1e5f, -1e9f, {1e5f, 0, least, most}}};
}

template <Combination combination, class Code>
void check_combinations(InstructionSet set) {
  constexpr int least = std::numeric_limits<Code>::min();
  for (const CombinedCodes& q : combinations<Code>())
    for (const std::size_t n : {1u, 15u, 64u, 65u, 1000u})
      for (const bool b_is_one : {false, true}) {
        const FencedArray<Code> a(random_codes<Code>(n, least, least + 255)),
            b(random_codes<Code>(b_is_one ? 1 : n, least, least + 255)), out(std::vector<Code>(n, Code{}));
        find_combine<Code>(set, combination)(q, a.data(), b.data(), b_is_one, out.data(), n);
        for (std::size_t i = 0; i < n; ++i) {
          const float x = rounded(double{rounded(a.data()[i] - double{q.a_zero_point})} * q.a_scale),
                      y = rounded(double{rounded(b.data()[b_is_one ? 0 : i] - double{q.b_zero_point})} * q.b_scale);
          const float number = combination == Combination::sum ? rounded(double{x} + y)
                                                               : rounded(double{rounded(double{x} * y)} * q.factor);
          ASSERT_EQ(out.data()[i], code_of<Code>(q.result, number)) << i << " of " << n << ", number " << number;
        }
      }
}
TEST_P(IntegerKernels, AddAndMultiplyCodesAsFloats) {
  check_combinations<Combination::sum, std::int8_t>(GetParam().set);
  check_combinations<Combination::sum, std::uint8_t>(GetParam().set);
  check_combinations<Combination::product, std::int8_t>(GetParam().set);
  check_combinations<Combination::product, std::uint8_t>(GetParam().set);
}

// Windows of several rows, with the channels contiguous or one plane after another.
template <class Code>
void check_sums(InstructionSet set, const ScaledSums& q, int low, int high) {
  for (const std::size_t channels : {1u, 7u, 8u, 63u, 64u, 300u})
    for (const std::size_t rows : {1u, 3u})
      for (const std::size_t columns : {1u, 2u, 67u}) {
        const std::size_t pixel = channels + (channels > 1), row = (columns + 1) * pixel;
        const FencedArray<Code> in(random_codes<Code>((rows - 1) * row + (columns - 1) * pixel + channels, low, high)),
            out(std::vector<Code>(channels, Code{}));
        sum_of_codes<Code>(
            set, {in.data(), rows, columns, static_cast<std::ptrdiff_t>(row), static_cast<std::ptrdiff_t>(pixel)}, q,
            channels, out.data());
        for (std::size_t c = 0; c < channels; ++c) {
          std::int64_t sum = q.begin;
          for (std::size_t i = 0; i < rows; ++i)
            for (std::size_t j = 0; j < columns; ++j) sum += in.data()[i * row + j * pixel + c];
          const float scaled = rounded(double{rounded(static_cast<double>(sum))} * q.factor);
          ASSERT_EQ(out.data()[c], code_of<Code>(q.result, rounded(double{scaled} + q.offset)))
              << c << " of " << channels << ", sum " << sum;
        }
      }
}
template <class Code>
void check_sums(InstructionSet set) {
  constexpr int least = std::numeric_limits<Code>::min();
  constexpr float low = least, high = low + 255;
  check_sums<Code>(set, {-5, 0.25f, 0, {2, low + 9, low, high}}, least, least + 255);
  check_sums<Code>(set, {0, 0.03f, 11.5f, {1, 0, low + 20, high - 20}}, least, least + 255);
  check_sums<Code>(set, {123456, 1e-3f, -100, {1, 0, low, high}}, least + 250, least + 255);
  check_sums<Code>(set, {-0x7f000000, 0x1p-24f, 0, {1, 0, low, high}}, least, least + 5);
}
TEST_P(IntegerKernels, AddUpCodes) {
  check_sums<std::int8_t>(GetParam().set);
  check_sums<std::uint8_t>(GetParam().set);
}

TEST_P(IntegerKernels, InterleavePlanes) {
  for (const std::size_t n : {1u, 16u, 63u, 64u, 65u, 200u}) {
    const std::size_t stride = n + 3;
    const FencedArray<std::uint8_t> planes(random_codes<std::uint8_t>(2 * stride + n, 0, 255)),
        pixels(std::vector<std::uint8_t>(3 * n, untouched));
    interleave_three(GetParam().set, planes.data(), stride, pixels.data(), n);
    for (std::size_t i = 0; i < 3 * n; ++i)
      ASSERT_EQ(pixels.data()[i], planes.data()[i % 3 * stride + i / 3]) << i << " of " << n;
  }
}

template <class Code>
void check_largest(InstructionSet set) {
  constexpr int least = std::numeric_limits<Code>::min();
  for (const std::size_t channels : {1u, 7u, 8u, 63u, 64u, 137u})
    for (const std::size_t rows : {1u, 3u}) {
      const std::size_t columns = 2, pixel = channels + 1, row = 3 * pixel;
      const FencedArray<Code> in(random_codes<Code>((rows - 1) * row + pixel + channels, least, least + 255)),
          out(std::vector<Code>(channels, Code{}));
      max_of_codes<Code>(
          set, {in.data(), rows, columns, static_cast<std::ptrdiff_t>(row), static_cast<std::ptrdiff_t>(pixel)},
          channels, out.data());
      for (std::size_t c = 0; c < channels; ++c) {
        int largest = least;
        for (std::size_t i = 0; i < rows; ++i)
          for (std::size_t j = 0; j < columns; ++j)
            largest = std::max<int>(largest, in.data()[i * row + j * pixel + c]);
        ASSERT_EQ(out.data()[c], largest) << c << " of " << channels;
      }
    }
}
TEST_P(IntegerKernels, FindTheLargestCode) {
  check_largest<std::int8_t>(GetParam().set);
  check_largest<std::uint8_t>(GetParam().set);
}

TEST_P(IntegerKernels, LookUpCodes) {
  const auto table = random_codes<std::uint8_t>(256, 0, 255);
  for (const std::size_t n : {1u, 63u, 64u, 1000u}) {
    const FencedArray<std::uint8_t> x(random_codes<std::uint8_t>(n, 0, 255)),
        y(std::vector<std::uint8_t>(n, untouched));
    look_up(GetParam().set, table.data(), x.data(), y.data(), n);
    for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(y.data()[i], table[x.data()[i]]) << i << " of " << n;
  }
}

// Kernels of each kind over images that just hold them, and larger ones.
void check_axes(const DotWay& way, const Case& base) {
  for (const std::size_t kernel : {1u, 2u, 3u, 5u})
    for (const std::size_t stride : {1u, 2u})
      for (const std::size_t padding : {0u, 1u, 2u})
        for (const std::size_t dilation : {1u, 2u}) {
          Case c = base;
          c.y = c.x = {kernel, stride, padding, dilation};
          c.x.kernel = kernel == 2 ? 3 : kernel;
          const std::size_t reach = dilation * (c.x.kernel - 1) + 1;
          if (padding > reach / 2) continue;
          SCOPED_TRACE(testing::PrintToString(std::vector{kernel, stride, padding, dilation}));
          for (const std::size_t more : {0u, 4u, 9u}) {
            c.height = reach + more / 2, c.width = reach + more;
            check(way, c);
          }
        }
}

TEST_P(IntegerKernels, Convolve) {
  check_axes(GetParam(), {.inputs = 3, .outputs = 5, .images = 2});
  check_axes(GetParam(), {.inputs = 18, .outputs = 33, .pixel_gap = 3, .out_gap = 2});
}
// Images that are copied in several parts, whose rows are wider and narrower than a tile.
TEST_P(IntegerKernels, ConvolveInBlocks) {
  for (const std::size_t width : {4u, 23u})
    for (const std::size_t stride : {1u, 2u})
      for (const std::size_t dilation : {1u, 3u})
        check(GetParam(), {.y = {3, stride, 1, dilation},
                           .x = {2, stride, 2, dilation},
                           .height = 30,
                           .width = width,
                           .groups = 2,
                           .inputs = 6001 / width,
                           .outputs = 3});
}
TEST_P(IntegerKernels, ConvolveGroups) {
  check_axes(GetParam(), {.groups = 3, .inputs = 4, .outputs = 2, .has_signed_input = false});
}
TEST_P(IntegerKernels, ConvolveEachChannel) {
  for (const std::size_t groups : {2u, 4u, 17u, 40u, 68u})
    check_axes(GetParam(), {.groups = groups, .inputs = 1, .outputs = 1, .out_gap = groups % 3});
}

}  // namespace kernels_integer_test
}  // namespace assay::kernels
