#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "optimized/kernels/integer_product.h"
#include "tests/support/backwards.h"
#include "tests/support/dot_ways.h"
#include "tests/support/fenced_kernels.h"
#include "tests/support/steps.h"

// Convolutions of images of floats that are quantized, of every instruction set with and without VNNI, equal the
// formula of kernels/integer_product.h bit for bit. The memory is between guard pages.
namespace assay::kernels {
namespace kernels_steps_test {

class StepKernels : public testing::TestWithParam<DotWay> {};
INSTANTIATE_TEST_SUITE_P(EachWay, StepKernels, testing::ValuesIn(all_dot_ways()), name_of_way);

std::mt19937 generator(13);
float any(float low, float high) { return std::uniform_real_distribution(low, high)(generator); }
int any_code() { return std::uniform_int_distribution(-128, 127)(generator); }

constexpr float untouched = 17;

struct Case {
  ConvolutionAxis y = {}, x = {};
  std::size_t height = 1, width = 1, groups = 1, inputs = 3, outputs = 5, images = 2, out_gap = 0;
  bool has_pixel_steps = false;
  Epilogue epilogue = {};

  std::size_t channels() const { return groups * inputs; }
  std::size_t out_channels() const { return groups * outputs; }
  std::size_t out_height() const { return y.results(height, false); }
  std::size_t out_width() const { return x.results(width, false); }
  std::size_t rows() const { return images * (has_pixel_steps ? height * width : 1); }
  std::size_t row_size() const { return images * height * width * channels() / rows(); }
};

struct Data {
  std::vector<float> input;  // channels last
  std::vector<std::int8_t> weight;
  std::vector<ChannelNumbers> numbers;
};

std::vector<float> run(const DotWay& way, const Case& c, const Data& data, const Threads& threads) {
  IntegerConvolution convolution;
  convolution.shape = {way.set, c.groups, c.inputs, c.outputs, c.y, c.x, false};
  convolution.has_signed_input = false, convolution.has_steps = true, convolution.uses_vnni = way.uses_vnni;
  const FencedArray<float> in(data.input);
  const FencedArray<std::int8_t> weight(data.weight);
  const Fenced packed(packed_floats(convolution), packed_alignment);
  const Channels channels{[](const void* all, std::size_t i) { return static_cast<const ChannelNumbers*>(all)[i]; },
                          data.numbers.data()};
  const std::size_t plane = c.y.kernel * c.x.kernel;
  pack(convolution, weight.data(), {plane * c.inputs, plane, c.x.kernel, 1}, channels, packed.data());
  const FencedArray<std::uint8_t> codes(data.input.size());
  const FencedArray<Steps> steps(c.rows());
  quantize_rows(way.set, in.data(), c.rows(), c.row_size(), codes.data(), steps.data(), threads);
  const CodeImages images{codes.data(), c.images, c.height, c.width, c.channels()};
  const FencedArray<std::uint8_t> scratch(scratch_bytes(convolution, images, threads));
  const std::size_t stride = c.out_channels() + c.out_gap;
  const FencedArray<float> out(
      std::vector<float>(c.images * c.out_height() * c.out_width() * stride - c.out_gap, untouched));
  convolve_steps(convolution, images, {steps.data(), c.has_pixel_steps}, packed.data(), out.data(), stride,
                 scratch.data(), c.epilogue, threads);
  return out.values();
}

// The result that the formula gives to output channel o of result (y, x).
float want(const Case& c, const Data& data, const std::vector<RowOfSteps>& rows, std::size_t image, std::size_t y,
           std::size_t x, std::size_t o) {
  const RowOfSteps& row = rows[c.has_pixel_steps ? (image * c.height + y) * c.width + x : image];
  if (row.has_nan) return nan;
  const std::size_t group = o / c.outputs;
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < c.y.kernel; ++i)
    for (std::size_t j = 0; j < c.x.kernel; ++j)
      for (std::size_t k = 0; k < c.inputs; ++k) {
        const std::size_t in_y = y * c.y.stride + i * c.y.dilation - c.y.padding,
                          in_x = x * c.x.stride + j * c.x.dilation - c.x.padding;
        if (in_y >= c.height || in_x >= c.width) continue;
        const std::size_t channel = group * c.inputs + k,
                          at = c.has_pixel_steps ? channel : (in_y * c.width + in_x) * c.channels() + channel;
        sum += row.steps[at] * data.weight[((o * c.inputs + k) * c.y.kernel + i) * c.x.kernel + j];
      }
  const float scaled = rounded(double{rounded(static_cast<double>(sum))} * rounded(1.0 / row.k));
  const float result = rounded(double{scaled} * data.numbers[o].scale + data.numbers[o].shift);
  return c.epilogue.activation == Activation::clamp ? std::min(std::max(result, c.epilogue.low), c.epilogue.high)
                                                    : result;
}

bool is_same(float a, float b) { return std::isnan(a) ? std::isnan(b) : a == b; }

// Channels last. `input` is random if it is empty: rows have different ranges.
void check(const DotWay& way, const Case& c, std::vector<float> input = {}) {
  Data data{std::move(input), {}, {}};
  for (std::size_t r = 0; data.input.size() < c.rows() * c.row_size(); ++r) {
    const float low = any(-3, 1), high = low + any(0.1f, 5);
    for (std::size_t i = 0; i < c.row_size(); ++i) data.input.push_back(any(low, high));
  }
  for (std::size_t i = 0; i < c.out_channels() * c.inputs * c.y.kernel * c.x.kernel; ++i)
    data.weight.push_back(static_cast<std::int8_t>(any_code()));
  for (std::size_t o = 0; o < c.out_channels(); ++o) data.numbers.push_back({any(0.001f, 0.1f), any(-2, 2)});
  std::vector<RowOfSteps> rows;
  for (std::size_t r = 0; r < c.rows(); ++r)
    rows.push_back(steps_of(std::span(data.input).subspan(r * c.row_size(), c.row_size())));
  const std::vector<float> out = run(way, c, data, {});
  const std::size_t stride = c.out_channels() + c.out_gap;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::size_t o = i % stride, place = i / stride, x = place % c.out_width(),
                      y = place / c.out_width() % c.out_height(), image = place / c.out_width() / c.out_height();
    const float expected = o < c.out_channels() ? want(c, data, rows, image, y, x, o) : untouched;
    ASSERT_TRUE(is_same(expected, out[i])) << out[i] << " for " << expected << ": channel " << o << " of result (" << y
                                           << ", " << x << ") of image " << image;
  }
  for (std::size_t count = 2; count <= 3; ++count)
    EXPECT_TRUE(std::ranges::equal(run(way, c, data, backwards(count)), out, is_same)) << count << " threads";
}

constexpr ConvolutionAxis three{3, 1, 1}, wide{5, 2, 2}, apart{3, 1, 2, 2};

TEST_P(StepKernels, ConvolveImages) {
  const std::size_t lanes = traits(GetParam().set).lanes;
  for (const std::size_t outputs : {std::size_t{1}, lanes, 2 * lanes + 1, 5 * lanes})
    for (const ConvolutionAxis& axis : {ConvolutionAxis{}, three, wide, apart})
      check(GetParam(),
            {.y = axis, .x = axis, .height = 6, .width = 11, .inputs = 7, .outputs = outputs, .out_gap = outputs % 2});
}
TEST_P(StepKernels, ConvolveImagesOfManyChannels) {
  check(GetParam(), {.y = three, .x = three, .height = 5, .width = 40, .inputs = 130, .outputs = 70});
}
TEST_P(StepKernels, ConvolveGroups) {
  check(GetParam(), {.y = three, .x = three, .height = 5, .width = 7, .groups = 3, .inputs = 4, .outputs = 6});
}
TEST_P(StepKernels, ConvolveEachChannel) {
  for (const std::size_t groups : {2u, 5u, 16u, 33u, 64u, 150u})
    for (const ConvolutionAxis& axis : {ConvolutionAxis{}, three, wide, apart})
      check(GetParam(), {.y = axis, .x = axis, .height = 6, .width = 9, .groups = groups, .inputs = 1, .outputs = 1});
}

TEST_P(StepKernels, MultiplyPixels) {
  for (const std::size_t inputs : {1u, 3u, 16u, 67u, 200u})
    for (const std::size_t width : {1u, 2u, 13u, 40u})
      check(GetParam(),
            {.height = 2, .width = width, .inputs = inputs, .outputs = inputs + 4, .has_pixel_steps = true});
}

TEST_P(StepKernels, ApplyAnActivation) {
  const Epilogue clamp{.activation = Activation::clamp, .low = -1, .high = 2.5f};
  for (const std::size_t groups : {1u, 5u})
    check(GetParam(), {.y = three,
                       .x = three,
                       .height = 4,
                       .width = 9,
                       .groups = groups,
                       .inputs = 5 / groups,
                       .outputs = 5 / groups,
                       .epilogue = clamp});
}
// The other activations are those of another kernel.
TEST_P(StepKernels, ApplyActivationsToWhatIsStored) {
  for (const std::size_t groups : {1u, 70u}) {
    const Case c{.y = three,
                 .x = three,
                 .height = 3,
                 .width = 5,
                 .groups = groups,
                 .inputs = 70 / groups,
                 .outputs = 70 / groups,
                 .out_gap = 1};
    Data data;
    for (std::size_t i = 0; i < c.rows() * c.row_size(); ++i) data.input.push_back(any(-1, 2));
    for (std::size_t i = 0; i < 70 * c.inputs * 9; ++i) data.weight.push_back(static_cast<std::int8_t>(any_code()));
    for (std::size_t o = 0; o < 70; ++o) data.numbers.push_back({0.01f, any(-2, 2)});
    const std::vector<float> plain = run(GetParam(), c, data, {});
    Case swish = c;
    swish.epilogue.activation = Activation::hardswish;
    std::vector<float> activated = plain;
    for (std::size_t i = 0; i < plain.size(); i += 71)
      activate(GetParam().set, swish.epilogue, &plain[i], &activated[i], 70);
    EXPECT_EQ(run(GetParam(), swish, data, {}), activated);
  }
}

// Images with a NaN, with an infinity, of zeros, of one sign, with an infinite range, and with ends whose codes 0
// differ if the formula adds -127 in place of -128.
TEST_P(StepKernels, QuantizeUnusualImages) {
  const float ends[][2] = {{nan, 1},
                           {infinity, 1},
                           {0, 0},
                           {3, 5},
                           {-3, -5},
                           {3e38f, -3e38f},
                           {1e-40f, -1e-40f},
                           {1, -1},
                           {-0x1.695d0ep+1f, 0x1.695d10p+1f}};
  std::vector<float> images;
  for (const auto& [first, second] : ends)
    for (int i = 0; i < 12; ++i) images.push_back(i == 0 ? first : second / float(i));
  for (const std::size_t groups : {1u, 2u})
    check(GetParam(),
          {.y = three,
           .x = three,
           .height = 2,
           .width = 3,
           .groups = groups,
           .inputs = 2 / groups,
           .outputs = groups == 2 ? 1u : 3u,
           .images = 9},
          images);
  check(GetParam(), {.height = 2, .width = 3, .inputs = 2, .outputs = 3, .images = 9, .has_pixel_steps = true}, images);
}

// The largest sums of both signs.
TEST_P(StepKernels, SumExtremeSteps) {
  for (const float x : {1.0f, -1.0f})
    check(GetParam(), {.inputs = 65793, .outputs = 2, .images = 1, .has_pixel_steps = true},
          std::vector<float>(65793, x));
}

}  // namespace kernels_steps_test
}  // namespace assay::kernels
