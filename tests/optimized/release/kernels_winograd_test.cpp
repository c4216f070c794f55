#include <gmock/gmock-matchers.h>

#include <cmath>
#include <functional>
#include <iostream>

#include "optimized/kernels/winograd.h"
#include "tests/support/backwards.h"
#include "tests/support/fenced_kernels.h"

// Winograd's convolutions of every instruction set, compared to evaluations in double and the bound of
// spec/numerics.md. The memory is between guard pages.
namespace assay::kernels {
namespace kernels_winograd_test {

struct Case {
  std::size_t height, width, inputs, outputs, padding = 1, images = 1, out_gap = 0;
  bool channels_first = false, has_residual = false;
  Epilogue epilogue = {};
};

struct Data {
  std::vector<float> input, weight, bias, residual;
};

struct Shape {
  explicit Shape(const Case& c) : height(c.height + 2 * c.padding - 2), width(c.width + 2 * c.padding - 2) {}
  std::size_t height, width;
  std::size_t count() const { return height * width; }
};

Data random_data(const Case& c) {
  return {random_floats(c.images * c.height * c.width * c.inputs), random_floats(c.inputs * c.outputs * 9),
          random_floats(c.outputs), random_floats(c.images * Shape(c).count() * c.outputs)};
}

std::vector<float> run(InstructionSet set, const Case& c, const Data& data, const Threads& threads) {
  const ConvolutionAxis axis{3, 1, c.padding};
  const Convolution convolution{set, 1, c.inputs, c.outputs, axis, axis};
  const Fenced in(data.input), weight(data.weight), bias(data.bias), residual(data.residual);
  const Fenced packed(winograd::packed_floats(convolution), packed_alignment);
  winograd::pack(convolution, weight.data(), {9 * c.inputs, 9, 3, 1}, nullptr, packed.data());
  const Images images{in.data(), c.images, c.height, c.width, c.inputs, c.channels_first};
  const Fenced scratch(winograd::scratch_floats(convolution, images));
  const std::size_t results = c.images * Shape(c).count();
  const Fenced out(with_gaps(std::vector<float>(results * c.outputs, nan), results, c.outputs, c.out_gap));
  Epilogue epilogue = c.epilogue;
  if (c.has_residual) epilogue.residual = residual.data(), epilogue.residual_stride = c.outputs;
  winograd::convolve(convolution, images, packed.data(), bias.data(), out.data(), c.outputs + c.out_gap, scratch.data(),
                     epilogue, threads);
  return out.values();
}

// The transforms of spec/numerics.md.
constexpr double points[] = {0, 0.625, -0.625, 1.5, -1.5};

using Matrix = std::vector<std::vector<double>>;

// The powers of the points. The row of infinity has the last power alone.
Matrix powers(std::size_t n) {
  Matrix m(6, std::vector<double>(n));
  for (std::size_t i = 0; i < 6; ++i)
    for (std::size_t k = 0; k < n; ++k) m[i][k] = i == 5 ? k + 1 == n : std::pow(points[i], static_cast<double>(k));
  return m;
}

// The coefficients of the product of (x - p) over all points p but one.
std::vector<double> product_without(std::size_t i) {
  std::vector<double> all{1};
  for (std::size_t k = 0; k < 5; ++k) {
    if (k == i) continue;
    all.push_back(0);
    for (std::size_t d = all.size() - 1; d > 0; --d) all[d] = all[d - 1] - points[k] * all[d];
    all[0] *= -points[k];
  }
  all.resize(6);
  return all;
}

Matrix pixel_transform() {
  Matrix m;
  for (std::size_t i = 0; i < 6; ++i) m.push_back(product_without(i));
  return m;
}

Matrix weight_transform() {
  Matrix m = powers(3);
  for (std::size_t i = 0; i < 5; ++i)
    for (double& x : m[i])
      for (std::size_t k = 0; k < 5; ++k)
        if (k != i) x /= points[i] - points[k];
  return m;
}

Matrix absolute(Matrix m) {
  for (auto& row : m)
    for (double& x : row) x = std::fabs(x);
  return m;
}

// m x m^T.
Matrix transformed(const Matrix& m, const Matrix& x) {
  Matrix result(m.size(), std::vector<double>(m.size()));
  for (std::size_t i = 0; i < m.size(); ++i)
    for (std::size_t j = 0; j < m.size(); ++j)
      for (std::size_t a = 0; a < x.size(); ++a)
        for (std::size_t b = 0; b < x.size(); ++b) result[i][j] += m[i][a] * x[a][b] * m[j][b];
  return result;
}

Matrix transposed(const Matrix& m) {
  Matrix t(m[0].size(), std::vector<double>(m.size()));
  for (std::size_t i = 0; i < m.size(); ++i)
    for (std::size_t j = 0; j < m[0].size(); ++j) t[j][i] = m[i][j];
  return t;
}

struct Number {
  double value, ordinary,
      relaxed;  // `ordinary`: the magnitude of the formula's terms; `relaxed`: of the transforms' terms
};

double pixel(const Case& c, const Data& data, std::size_t image, std::size_t y, std::size_t x, std::size_t channel) {
  y -= c.padding, x -= c.padding;
  if (y >= c.height || x >= c.width) return 0;
  return data.input[c.channels_first ? ((image * c.inputs + channel) * c.height + y) * c.width + x
                                     : ((image * c.height + y) * c.width + x) * c.inputs + channel];
}

// All results of a tile; the first is result (y, x).
void evaluate_tile(const Case& c, const Data& data, std::size_t image, std::size_t y, std::size_t x,
                   std::vector<Number>& numbers) {
  static const Matrix pixels = absolute(pixel_transform()), weights = absolute(weight_transform()),
                      sums = absolute(transposed(powers(4)));
  const Shape shape(c);
  for (std::size_t o = 0; o < c.outputs; ++o) {
    Matrix products(6, std::vector<double>(6));
    for (std::size_t i = 0; i < c.inputs; ++i) {
      Matrix d(6, std::vector<double>(6)), g(3, std::vector<double>(3));
      for (std::size_t a = 0; a < 36; ++a) d[a / 6][a % 6] = std::fabs(pixel(c, data, image, y + a / 6, x + a % 6, i));
      for (std::size_t a = 0; a < 9; ++a) g[a / 3][a % 3] = std::fabs(data.weight[(o * c.inputs + i) * 9 + a]);
      const Matrix v = transformed(pixels, d), u = transformed(weights, g);
      for (std::size_t a = 0; a < 36; ++a) products[a / 6][a % 6] += v[a / 6][a % 6] * u[a / 6][a % 6];
    }
    const Matrix magnitudes = transformed(sums, products);
    for (std::size_t r = 0; r < 16; ++r) {
      const std::size_t at_y = y + r / 4, at_x = x + r % 4;
      if (at_y >= shape.height || at_x >= shape.width) continue;
      const std::size_t at = ((image * shape.height + at_y) * shape.width + at_x) * c.outputs + o;
      Number& n = numbers[at] = {};
      for (std::size_t i = 0; i < c.inputs; ++i)
        for (std::size_t tap = 0; tap < 9; ++tap) {
          const double term =
              pixel(c, data, image, at_y + tap / 3, at_x + tap % 3, i) * data.weight[(o * c.inputs + i) * 9 + tap];
          n.value += term, n.ordinary += std::fabs(term);
        }
      n.relaxed = magnitudes[r / 4][r % 4];
      for (const double more : {double{data.bias[o]}, c.has_residual ? double{data.residual[at]} : 0})
        n.value += more, n.ordinary += std::fabs(more), n.relaxed += std::fabs(more);
    }
  }
}

std::vector<Number> evaluate(const Case& c, const Data& data) {
  const Shape shape(c);
  std::vector<Number> numbers(c.images * shape.count() * c.outputs);
  for (std::size_t image = 0; image < c.images; ++image)
    for (std::size_t y = 0; y < shape.height; y += 4)
      for (std::size_t x = 0; x < shape.width; x += 4) evaluate_tile(c, data, image, y, x, numbers);
  return numbers;
}

constexpr double unit = 0x1p-24;

// The number of roundings of a term: of the weight, four in each pass over the pixels, of the products, four in each
// pass over the sums, of the bias and of the residual.
double roundings(const Case& c) { return static_cast<double>(c.inputs) + 20; }
double bound(const Case& c, const Number& n) {
  const double share = roundings(c) * unit;
  return share / (1 - share) * n.relaxed;
}

// Results as computed from `numbers`. The bound is propagated through activations, whose slopes are below 1.5.
void check(InstructionSet set, const Case& c) {
  const Data data = random_data(c);
  const std::vector<Number> numbers = evaluate(c, data);
  const std::vector<float> out = run(set, c, data, {});
  const bool curved = c.epilogue.activation > Activation::clamp;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const double got = out[i / c.outputs * (c.outputs + c.out_gap) + i % c.outputs],
                 want = activated(c.epilogue, numbers[i].value);
    const double own = curved ? 4 * unit * (std::fabs(numbers[i].value) + std::fabs(want)) : 0;
    ASSERT_LE(std::fabs(got - want), bound(c, numbers[i]) * (curved ? 1.5 : 1) + own) << "number " << i;
  }
  for (std::size_t count = 2; count <= 3; ++count)
    EXPECT_TRUE(same_bits(run(set, c, data, backwards(count)), out)) << count << " threads";
}

class Winograd : public testing::TestWithParam<InstructionSet> {};
INSTANTIATE_TEST_SUITE_P(EachInstructionSet, Winograd, testing::ValuesIn(sets()),
                         [](const auto& set) { return traits(set.param).name; });

TEST_P(Winograd, ConvolvesAroundEachEdgeOfATile) {
  for (const std::size_t padding : {0u, 1u, 2u})
    for (const std::size_t height : {3u, 6u, 7u, 8u, 9u, 10u})
      for (const std::size_t width : {3u, 5u, 10u, 11u})
        check(GetParam(), {height, width, 2 + width % 3, 3 + height % 3, padding});
}

TEST_P(Winograd, ConvolvesAnyNumberOfChannels) {
  for (const std::size_t inputs : {1u, 3u, 4u, 15u, 16u, 17u, 40u})
    for (const std::size_t outputs : {1u, 4u, 17u, 66u}) check(GetParam(), {6, 9, inputs, outputs});
}

TEST_P(Winograd, ConvolvesInBlocks) { check(GetParam(), {70, 45, 9, 20}); }

TEST_P(Winograd, ConvolvesImagesAndPlanes) {
  for (const bool planes : {false, true}) check(GetParam(), {9, 7, 5, 6, 1, 3, planes ? 0u : 2u, planes, true});
}

TEST_P(Winograd, ConvolvesThenAddsAndActivates) {
  for (int activation = 0; activation <= static_cast<int>(Activation::gelu_tanh); ++activation)
    check(GetParam(), {6,
                       9,
                       5,
                       19,
                       1,
                       1,
                       0,
                       false,
                       activation % 2 == 0,
                       {nullptr, 0, static_cast<Activation>(activation), -0.5f, 0.75f}});
}

// Numbers that exceed the bound of the formula's sum, and by how much: the reason why arithmetic has to be relaxed.
TEST_P(Winograd, ExceedsTheOrdinaryBoundButNotItsOwn) {
  const Case c{14, 14, 32, 8};
  std::mt19937 generator(3);
  std::normal_distribution<float> normal;
  const auto worst_of = [&](const char* name, const std::function<float(std::size_t)>& pixel) {
    Data data = random_data(c);
    std::ranges::fill(data.bias, 0.0f);
    for (std::size_t i = 0; i < data.input.size(); ++i) data.input[i] = pixel(i / c.inputs);
    for (float& w : data.weight) w = normal(generator);
    const std::vector<Number> numbers = evaluate(c, data);
    const std::vector<float> out = run(GetParam(), c, data, {});
    double ordinary = 0, own = 0;
    for (std::size_t i = 0; i < out.size(); ++i) {
      const double error = std::fabs(double{out[i]} - numbers[i].value);
      ordinary = std::max(ordinary, error == 0 ? 0 : error / (unit * numbers[i].ordinary));
      own = std::max(own, error == 0 ? 0 : error / (unit * numbers[i].relaxed));
      EXPECT_LE(error, bound(c, numbers[i])) << name;
    }
    std::cout << traits(GetParam()).name << ", " << name << ": " << ordinary
              << " roundings of the formula's magnitude, " << own << " of the transforms'\n";
    return ordinary;
  };
  const double allowed = 4 * std::sqrt(9.0 * static_cast<double>(c.inputs));
  EXPECT_LE(worst_of("normal", [&](std::size_t) { return normal(generator); }), allowed);
  EXPECT_LE(worst_of("positive", [&](std::size_t) { return std::max(0.0f, normal(generator)); }), allowed);
  worst_of("log-normal", [&](std::size_t) { return std::exp(3 * normal(generator)); });
  EXPECT_GT(worst_of("one pixel of 10,000", [&](std::size_t at) { return at == 100 ? 1e4f : normal(generator); }),
            allowed);
  EXPECT_TRUE(std::isinf(worst_of("zeros but for one pixel", [&](std::size_t at) { return at == 100 ? 1.1f : 0; })));
}

}  // namespace kernels_winograd_test
}  // namespace assay::kernels
