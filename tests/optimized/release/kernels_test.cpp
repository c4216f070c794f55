#include "optimized/kernels/convolution.h"

#include <gmock/gmock-matchers.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "optimized/kernels/blocks.h"
#include "optimized/kernels/halves.h"
#include "optimized/kernels/matmul.h"
#include "tests/support/backwards.h"
#include "tests/support/fenced_kernels.h"

// Products and convolutions of every instruction set, compared to evaluations in double, at all edges of their tiles.
// The memory is between guard pages.
namespace assay::kernels {
namespace kernels_test {

// A sum of products in double, and the sum of their magnitudes.
struct Sum {
  double value = 0, magnitude = 0;
  std::size_t terms = 0;
  void add(double a, double b) { value += a * b, magnitude += std::fabs(a * b), ++terms; }
};

// The bound of a dot product. An activation makes it at most 1.2 times as wide and adds a rounding or more of its own.
void expect_near(float got, const Sum& sum, const Epilogue& e, const std::string& where) {
  const double want = activated(e, sum.value), unit = std::ldexp(1, -24);
  if (!std::isfinite(want)) {
    EXPECT_THAT(double{got}, testing::NanSensitiveDoubleEq(want)) << where;
    return;
  }
  const bool curved = e.activation > Activation::clamp;
  const double bound = 4 * std::sqrt(static_cast<double>(sum.terms)) * unit * sum.magnitude * (curved ? 1.2 : 1) +
                       (curved ? 4 * unit * (std::fabs(sum.value) + std::fabs(want)) : 0);
  EXPECT_LE(std::fabs(double{got} - want), bound) << where << ": " << got << " for " << want;
}

class Kernels : public testing::TestWithParam<InstructionSet> {};
INSTANTIATE_TEST_SUITE_P(EachInstructionSet, Kernels, testing::ValuesIn(sets()),
                         [](const auto& set) { return traits(set.param).name; });

struct MatmulCase {
  std::size_t m, n, k, a_gap = 0, out_gap = 0;
  bool has_bias = true, has_residual = false, is_transposed = false;
  Epilogue epilogue = {};
  std::vector<float> a = {}, b = {};
};

std::vector<float> run(InstructionSet set, const MatmulCase& c, const std::vector<float>& a,
                       const std::vector<float>& b, const std::vector<float>& bias, const std::vector<float>& residual,
                       const Threads& threads) {
  const Fenced fenced_a(with_gaps(a, c.m, c.k, c.a_gap)), fenced_b(b), fenced_bias(bias), fenced_residual(residual);
  const Fenced packed(packed_floats(set, c.k, c.n), packed_alignment);
  const Fenced out(with_gaps(std::vector<float>(c.m * c.n, nan), c.m, c.n, c.out_gap));
  const PackedMatrix matrix = c.is_transposed ? pack(set, fenced_b.data(), c.k, c.n, 1, c.k, packed.data())
                                              : pack(set, fenced_b.data(), c.k, c.n, c.n, 1, packed.data());
  Epilogue epilogue = c.epilogue;
  if (c.has_residual) epilogue.residual = fenced_residual.data(), epilogue.residual_stride = c.n;
  matmul(fenced_a.data(), c.k + c.a_gap, c.m, matrix, c.has_bias ? fenced_bias.data() : nullptr, out.data(),
         c.n + c.out_gap, epilogue, threads);
  return out.values();
}

void check(InstructionSet set, const MatmulCase& c) {
  const std::vector<float> a = c.a.empty() ? random_floats(c.m * c.k) : c.a,
                           b = c.b.empty() ? random_floats(c.k * c.n) : c.b, bias = random_floats(c.n),
                           residual = random_floats(c.m * c.n);
  const std::vector<float> out = run(set, c, a, b, bias, residual, {});
  for (std::size_t i = 0; i < c.m; ++i)
    for (std::size_t j = 0; j < c.n; ++j) {
      Sum sum;
      if (c.has_bias) sum.add(double{bias[j]}, 1);
      if (c.has_residual) sum.add(double{residual[i * c.n + j]}, 1);
      for (std::size_t k = 0; k < c.k; ++k)
        sum.add(double{a[i * c.k + k]}, double{b[c.is_transposed ? j * c.k + k : k * c.n + j]});
      expect_near(
          out[i * (c.n + c.out_gap) + j], sum, c.epilogue,
          testing::PrintToString(std::vector{c.m, c.n, c.k}) + " at " + testing::PrintToString(std::pair{i, j}));
    }
  for (std::size_t i = 0; i + 1 < c.m; ++i)
    for (std::size_t j = c.n; j < c.n + c.out_gap; ++j) EXPECT_TRUE(std::isnan(out[i * (c.n + c.out_gap) + j]));
  for (std::size_t count = 2; count <= 3; ++count) {
    const std::vector<float> again = run(set, c, a, b, bias, residual, backwards(count));
    EXPECT_TRUE(same_bits(again, out)) << count << " threads";
  }
}

TEST_P(Kernels, MultiplyAroundEachEdgeOfATile) {
  for (const std::size_t m : {1u, 2u, 5u, 6u, 7u, 11u, 12u, 13u, 25u})
    for (const std::size_t n : {1u, 3u, 4u, 5u, 7u, 8u, 9u, 15u, 16u, 17u, 24u, 31u, 32u, 33u, 48u, 63u, 65u, 97u})
      check(GetParam(), {m, n, 1 + (m + n) % 9});
}

TEST_P(Kernels, MultiplyInPassesAndBlocks) {
  for (const std::size_t k :
       {deepest_pass - 1, deepest_pass, 2 * deepest_pass - 1, 2 * deepest_pass, 3 * deepest_pass + 1})
    check(GetParam(), {14, 37, k});
  check(GetParam(), {1200, 20, 150});
  check(GetParam(), {3, 1000, 40});
}

// The columns of some panels of equal width, of which the last vector has only one.
std::size_t columns_of_panels(InstructionSet set, std::size_t panels) {
  return (panels * panel_vectors(traits(set).registers) - 1) * traits(set).lanes + 1;
}

TEST_P(Kernels, MultiplyARowByPanelsInSeveralPlaces) {
  for (std::size_t panels = 3; panels <= 9; ++panels)
    for (const Activation activation : {Activation::none, Activation::clamp, Activation::gelu})
      for (const bool has_residual : {false, true})
        check(GetParam(), {.m = 1,
                           .n = columns_of_panels(GetParam(), panels),
                           .k = 5 * panels,
                           .has_bias = panels % 2 == 0,
                           .has_residual = has_residual,
                           .epilogue = {nullptr, 0, activation, -0.5f, 0.75f}});
  check(GetParam(), {1, columns_of_panels(GetParam(), 6), deepest_pass * 2});
}

TEST_P(Kernels, MultiplyMatricesWithGapsAndTransposedOnes) {
  check(GetParam(), {13, 37, 11, 3, 5});
  check(GetParam(), {13, 37, 11, 0, 0, false, true});
  check(GetParam(), {7, 21, 40, 1, 2, true, true, true});
  check(GetParam(), {5, 5, 0});
  check(GetParam(), {0, 5, 3});
  check(GetParam(), {5, 0, 3});
}

TEST_P(Kernels, MultiplyThenAddAndActivate) {
  for (int activation = 0; activation <= static_cast<int>(Activation::gelu_tanh); ++activation)
    for (const bool residual : {false, true}) {
      const Epilogue epilogue{nullptr, 0, static_cast<Activation>(activation), -0.5f, 0.75f};
      check(GetParam(), {13, 37, 600, 0, 3, true, residual, false, epilogue});
    }
}

TEST_P(Kernels, MultiplyInfinitiesAndNaN) {
  MatmulCase c{14, 35, 20};
  c.a = random_floats(c.m * c.k), c.b = random_floats(c.k * c.n);
  c.a[3 * c.k + 4] = infinity, c.a[5 * c.k + 1] = nan, c.b[2 * c.n + 34] = -infinity, c.b[7 * c.n] = nan;
  for (std::size_t j = 0; j < c.n; j += 2) c.b[4 * c.n + j] = 0;  // 0 times infinity is NaN
  c.a[6 * c.k + 2] = 0;
  check(GetParam(), c);
  c.epilogue = {nullptr, 0, Activation::clamp, 0, 6};
  check(GetParam(), c);
}

// Weights that are packed as a half type give the bits that the same numbers give as floats.
template <class Half>
void check_halves(InstructionSet set, const HalfWeights& halves, const MatmulCase& c) {
  std::vector<float> b = c.b.empty() ? random_floats(c.k * c.n) : c.b;
  for (float& x : b) x = float{Half::of(x)};
  const std::vector<float> a = random_floats(c.m * c.k), bias = random_floats(c.n);
  const std::vector<float> want = run(set, c, a, b, bias, {}, {});
  const Panels panels{set, c.k, c.n};
  const Fenced packed(halves.packed_floats(panels), packed_alignment);
  halves.pack(panels, b.data(), c.is_transposed ? 1 : c.n, c.is_transposed ? c.k : 1, packed.data());
  for (const std::size_t threads : {1u, 3u}) {
    const Fenced out(std::vector<float>(c.m * c.n, nan));
    matmul(Fenced(a).data(), c.k, c.m, {panels, packed.data(), &halves}, bias.data(), out.data(), c.n, c.epilogue,
           Threads{.count = threads});
    EXPECT_TRUE(same_bits(out.values(), want)) << testing::PrintToString(std::vector{c.m, c.n, c.k, threads});
  }
}

TEST_P(Kernels, MultiplyByHalves) {
  for (std::size_t m = 1; m <= most_rows_of_halves; ++m)
    for (const std::size_t n : {1u, 3u, 4u, 5u, 8u, 15u, 16u, 17u, 31u, 33u, 48u, 63u, 65u, 97u})
      for (const bool is_transposed : {false, true}) {
        const MatmulCase c{.m = m, .n = n, .k = 1 + (m + n) % 9, .is_transposed = is_transposed};
        check_halves<Float16>(GetParam(), float16_weights, c);
        check_halves<BFloat16>(GetParam(), bfloat16_weights, c);
      }
  for (std::size_t panels = 4; panels <= 6; ++panels) {
    const MatmulCase c{.m = 1, .n = columns_of_panels(GetParam(), panels), .k = 40};
    check_halves<Float16>(GetParam(), float16_weights, c);
    check_halves<BFloat16>(GetParam(), bfloat16_weights, c);
  }
  // float16 weights of which many are subnormal, without and with a number that is too large for a factor
  MatmulCase small{.m = 1, .n = 300, .k = 20};
  small.b = random_floats(small.n * small.k);
  for (float& x : small.b) x *= 0x1p-14f;
  for (const float large : {0.0f, 63.96875f, 64.0f, 65504.0f, infinity}) {
    small.b[7] = large;
    check_halves<Float16>(GetParam(), float16_weights, small);
  }
  for (const Activation activation : {Activation::none, Activation::clamp, Activation::gelu}) {
    const MatmulCase c{.m = 3, .n = 200, .k = 2 * deepest_pass + 7, .epilogue = {.activation = activation, .low = 0}};
    check_halves<Float16>(GetParam(), float16_weights, c);
    check_halves<BFloat16>(GetParam(), bfloat16_weights, c);
  }
}

struct ConvolutionCase {
  ConvolutionAxis y = {}, x = {};
  std::size_t height = 1, width = 1, groups = 1, inputs = 3, outputs = 5, images = 1, pixel_gap = 0, out_gap = 0;
  bool transposed = false, channels_first = false, has_residual = false;
  Epilogue epilogue = {};
};

std::vector<float> run(InstructionSet set, const ConvolutionCase& c, const std::vector<float>& input,
                       const std::vector<float>& weight, const std::vector<float>& bias,
                       const std::vector<float>& residual, std::size_t results, const Threads& threads) {
  const Convolution convolution{set, c.groups, c.inputs, c.outputs, c.y, c.x, c.transposed};
  const std::size_t channels = c.groups * c.inputs, outputs = c.groups * c.outputs;
  const Fenced in(c.channels_first ? input : with_gaps(input, c.images * c.height * c.width, channels, c.pixel_gap));
  const Fenced fenced_weight(weight), fenced_bias(bias), fenced_residual(residual);
  const Fenced packed(packed_floats(convolution), packed_alignment);
  const std::size_t plane = c.y.kernel * c.x.kernel;
  pack(convolution, fenced_weight.data(), {plane * (c.transposed ? c.outputs : c.inputs), plane, c.x.kernel, 1},
       nullptr, packed.data());
  const Images images{in.data(), c.images, c.height, c.width, channels + c.pixel_gap, c.channels_first};
  const Fenced scratch(scratch_floats(convolution, images));
  const Fenced out(
      with_gaps(std::vector<float>(c.images * results * outputs, nan), c.images * results, outputs, c.out_gap));
  Epilogue epilogue = c.epilogue;
  if (c.has_residual) epilogue.residual = fenced_residual.data(), epilogue.residual_stride = outputs;
  convolve(convolution, images, packed.data(), fenced_bias.data(), out.data(), outputs + c.out_gap, scratch.data(),
           epilogue, threads);
  return out.values();
}

// Adds each product to the result that the operator's definition names.
template <class Visit>
void for_each_product(const ConvolutionCase& c, std::size_t height, std::size_t width, const Visit& visit) {
  const auto place = [&](const ConvolutionAxis& axis, std::size_t q, std::size_t k) {
    return static_cast<std::ptrdiff_t>(q * axis.stride + k * axis.dilation) - static_cast<std::ptrdiff_t>(axis.padding);
  };
  const auto within = [](std::ptrdiff_t i, std::size_t n) { return i >= 0 && static_cast<std::size_t>(i) < n; };
  const std::size_t rows = c.transposed ? c.height : height, columns = c.transposed ? c.width : width;
  for (std::size_t y = 0; y < rows; ++y)
    for (std::size_t x = 0; x < columns; ++x)
      for (std::size_t i = 0; i < c.y.kernel; ++i)
        for (std::size_t j = 0; j < c.x.kernel; ++j) {
          const std::ptrdiff_t v = place(c.y, y, i), u = place(c.x, x, j);
          if (!within(v, c.transposed ? height : c.height) || !within(u, c.transposed ? width : c.width)) continue;
          const std::size_t near = y * columns + x,
                            far = static_cast<std::size_t>(v) * (c.transposed ? width : c.width) +
                                  static_cast<std::size_t>(u);
          visit(c.transposed ? near : far, c.transposed ? far : near, i * c.x.kernel + j);
        }
}

void check(InstructionSet set, const ConvolutionCase& c) {
  const std::size_t height = c.y.results(c.height, c.transposed), width = c.x.results(c.width, c.transposed),
                    pixels = c.height * c.width, results = height * width, channels = c.groups * c.inputs,
                    outputs = c.groups * c.outputs, plane = c.y.kernel * c.x.kernel;
  const std::vector<float> input = random_floats(c.images * pixels * channels),
                           weight = random_floats(c.groups * c.inputs * c.outputs * plane),
                           bias = random_floats(outputs), residual = random_floats(c.images * results * outputs);
  std::vector<Sum> sums(c.images * results * outputs);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    sums[i].add(double{bias[i % outputs]}, 1);
    if (c.has_residual) sums[i].add(double{residual[i]}, 1);
  }
  for_each_product(c, height, width, [&](std::size_t from, std::size_t to, std::size_t tap) {
    for (std::size_t image = 0; image < c.images; ++image)
      for (std::size_t g = 0; g < c.groups; ++g)
        for (std::size_t i = 0; i < c.inputs; ++i)
          for (std::size_t o = 0; o < c.outputs; ++o) {
            const std::size_t channel = g * c.inputs + i,
                              in = c.channels_first ? (image * channels + channel) * pixels + from
                                                    : (image * pixels + from) * channels + channel,
                              w = c.transposed ? channel * c.outputs + o : (g * c.outputs + o) * c.inputs + i;
            sums[(image * results + to) * outputs + g * c.outputs + o].add(double{input[in]},
                                                                           double{weight[w * plane + tap]});
          }
  });
  const std::vector<float> out = run(set, c, input, weight, bias, residual, results, {});
  for (std::size_t i = 0; i < sums.size(); ++i)
    expect_near(out[i / outputs * (outputs + c.out_gap) + i % outputs], sums[i], c.epilogue,
                "channel " + std::to_string(i % outputs) + " of result " + std::to_string(i / outputs));
  for (std::size_t count = 2; count <= 3; ++count) {
    const std::vector<float> again = run(set, c, input, weight, bias, residual, results, backwards(count));
    EXPECT_TRUE(same_bits(again, out)) << count << " threads";
  }
}

// Kernels of each kind over images that just hold them, and larger ones.
void check_axes(InstructionSet set, const ConvolutionCase& base) {
  for (const std::size_t kernel : {1u, 2u, 3u, 5u, 7u})
    for (const std::size_t stride : {1u, 2u, 3u})
      for (const std::size_t padding : {0u, 1u, 2u})
        for (const std::size_t dilation : {1u, 2u}) {
          ConvolutionCase c = base;
          c.y = c.x = {kernel, stride, padding, dilation};
          c.x.kernel = kernel == 2 ? 3 : kernel;
          const std::size_t reach = dilation * (std::max(c.x.kernel, kernel) - 1) + 1;
          if (padding > reach / 2 && !c.transposed) continue;
          if (c.transposed && 2 * padding >= dilation * (kernel - 1) + 1) continue;
          SCOPED_TRACE(testing::PrintToString(std::vector{kernel, stride, padding, dilation}));
          for (const std::size_t more : {0u, 4u, 9u}) {
            c.height = std::max<std::size_t>(reach, 1) + more / 2, c.width = reach + more;
            check(set, c);
          }
        }
}

TEST_P(Kernels, Convolve) {
  check_axes(GetParam(), {.groups = 1, .inputs = 3, .outputs = 5});
  check_axes(GetParam(), {.groups = 1, .inputs = 18, .outputs = 33, .has_residual = true});
}
TEST_P(Kernels, ConvolveGroups) {
  check_axes(GetParam(), {.groups = 3, .inputs = 4, .outputs = 2, .has_residual = true});
}
TEST_P(Kernels, ConvolvePlanes) {
  check_axes(GetParam(), {.inputs = 3, .outputs = 9, .images = 2, .channels_first = true});
}
TEST_P(Kernels, ConvolveEachChannel) {
  for (const std::size_t groups : {2u, 4u, 17u, 40u})
    check_axes(GetParam(), {.groups = groups, .inputs = 1, .outputs = 1, .has_residual = groups == 17});
}
TEST_P(Kernels, ConvolveEachChannelToSeveral) { check_axes(GetParam(), {.groups = 3, .inputs = 1, .outputs = 2}); }
TEST_P(Kernels, ConvolveTransposed) {
  check_axes(GetParam(), {.groups = 2, .inputs = 3, .outputs = 5, .transposed = true, .has_residual = true});
}

TEST_P(Kernels, ConvolveImagesWithGaps) {
  for (const std::size_t groups : {1u, 6u})
    check(GetParam(), {.y = {3, 1, 1},
                       .x = {3, 2, 1},
                       .height = 5,
                       .width = 9,
                       .groups = groups,
                       .inputs = 6 / groups,
                       .outputs = 6 / groups,
                       .images = 3,
                       .pixel_gap = 2,
                       .out_gap = 3,
                       .has_residual = true});
  check(GetParam(), {.height = 5, .width = 9, .inputs = 6, .outputs = 20, .images = 3, .pixel_gap = 2, .out_gap = 3});
}

TEST_P(Kernels, ConvolveThenActivate) {
  for (int activation = 0; activation <= static_cast<int>(Activation::gelu_tanh); ++activation)
    for (const std::size_t groups : {1u, 12u}) {
      const Epilogue epilogue{nullptr, 0, static_cast<Activation>(activation), -0.5f, 0.75f};
      check(GetParam(), {.y = {3, 1, 1},
                         .x = {3, 1, 1},
                         .height = 5,
                         .width = 9,
                         .groups = groups,
                         .inputs = 12 / groups,
                         .outputs = 24 / groups / (groups == 1 ? 1 : 2),
                         .has_residual = true,
                         .epilogue = epilogue});
    }
}

}  // namespace kernels_test
}  // namespace assay::kernels
