#include <gmock/gmock-matchers.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <numbers>
#include <vector>

#include "optimized/kernels/epilogue.h"
#include "optimized/kernels/quantize.h"

// Activations over their whole domain: each 2^12th float, and the floats at which the formula changes.
namespace assay::kernels {
namespace kernels_activation_test {

constexpr float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
constexpr double unit = 0x1p-24, smallest = 0x1p-149;

std::vector<float> domain() {
  std::vector<float> all;
  for (std::uint64_t bits = 0; bits < 1ull << 32; bits += 1u << 12)
    all.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  for (const float x : {0.0f, 1.0f, 2.0f, 3.0f, 5.5f, 6.0f, 87.3f, 88.7f, 103.9f, 104.0f, 1e19f, 1e38f, infinity})
    for (const float sign : {1.0f, -1.0f})
      for (const float to : {-infinity, x, infinity}) all.push_back(sign * std::nextafter(x, to));
  all.push_back(nan);
  return all;
}

double ulp(double value) {
  const double size = std::fabs(value);
  return size < 0x1p-126 ? smallest : std::ldexp(1, std::ilogb(size) - 23);
}

// The value in double, and the bound of a float's error.
struct Row {
  Activation activation;
  const char* name;
  double (*value)(double x);
  double (*bound)(double x, double value);
};

double clamped(double x) { return x < -0.5 ? -0.5 : x > 6 ? 6 : x; }
double six_of(double x) { return x < -3 ? 0 : x > 3 ? 6 : x + 3; }
double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

const Row rows[] = {
    {Activation::none, "none", [](double x) { return x; }, [](double, double) { return 0.0; }},
    {Activation::clamp, "clamp", clamped, [](double, double) { return 0.0; }},
    // The sum, the product and the quotient have an error of half an ulp each.
    {Activation::hardsigmoid, "hardsigmoid", [](double x) { return six_of(x) / 6; },
     [](double, double y) { return 2 * unit * std::fabs(y) + smallest; }},
    {Activation::hardswish, "hardswish", [](double x) { return x * six_of(x) / 6; },
     [](double, double y) { return 3 * unit * std::fabs(y) + smallest; }},
    // aten::sigmoid in the spec: 2.5 ulp, flush.
    {Activation::sigmoid, "sigmoid", sigmoid, [](double, double y) { return y < 0x1p-126 ? 0x1p-126 : 2.5 * ulp(y); }},
    // The same, and half an ulp of the product.
    {Activation::silu, "silu", [](double x) { return x * sigmoid(x); },
     [](double x, double y) {
       const double s = sigmoid(x);
       return std::fabs(x) * (s < 0x1p-126 ? 0x1p-126 : 2.5 * ulp(s)) + 0.5 * ulp(y);
     }},
    // aten::gelu in the spec: half of 4 units of 2 |x|.
    {Activation::gelu, "gelu", [](double x) { return x / 2 * std::erfc(-x / std::numbers::sqrt2); },
     [](double x, double) { return 4 * unit * std::fabs(x) + smallest; }},
    {Activation::gelu_tanh, "gelu_tanh",
     [](double x) { return x * sigmoid(2 * std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)); },
     [](double x, double) { return 4 * unit * std::fabs(x) + smallest; }},
};

class Activations : public testing::TestWithParam<std::tuple<InstructionSet, Row>> {};

TEST_P(Activations, KeepTheAccuracyOfTheSpec) {
  const auto& [set, row] = GetParam();
  const std::vector<float> x = domain();
  std::vector<float> y(x.size());
  Epilogue epilogue;
  epilogue.activation = row.activation, epilogue.low = -0.5f, epilogue.high = 6;
  activate(set, epilogue, x.data(), y.data(), x.size());
  double worst = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double want = row.value(double{x[i]});
    if (!std::isfinite(want) || std::fabs(want) > double{std::numeric_limits<float>::max()}) {
      // a product of the largest numbers may overflow before it is divided
      ASSERT_THAT(double{y[i]},
                  testing::NanSensitiveDoubleEq(std::isfinite(want) ? std::copysign(HUGE_VAL, want) : want))
          << x[i];
      continue;
    }
    if (std::isinf(y[i]) && row.activation == Activation::hardswish && std::fabs(want) * 6 > 3.4e38) continue;
    const double bound = row.bound(double{x[i]}, want), error = std::fabs(double{y[i]} - want);
    ASSERT_LE(error, bound) << row.name << " of " << x[i] << ": " << y[i] << " for " << want;
    if (bound > 0) worst = std::max(worst, error / bound);
  }
  RecordProperty("worst_share_of_bound", std::to_string(worst));
  std::printf("%s: %.2f of the bound\n", row.name, worst);
}

std::vector<InstructionSet> sets() {
  std::vector<InstructionSet> all;
  for (std::size_t i = 0; i < std::size(instruction_sets); ++i)
    if (is_supported(static_cast<InstructionSet>(i))) all.push_back(static_cast<InstructionSet>(i));
  return all;
}

// Equal to the two kernels that quantize and convert back, bit for bit.
TEST(FakeQuantize, RoundsAsTheKernelsOfCodes) {
  std::vector<float> x = domain();
  for (int code = -300; code <= 300; ++code) x.push_back((static_cast<float>(code) + 0.5f) * 0.3f);
  for (const float special : {HUGE_VALF, -HUGE_VALF, std::nanf("")}) x.push_back(special);
  for (const InstructionSet set : sets())
    for (const float zero_point : {-128.0f, 0.0f, 5.0f}) {
      Epilogue epilogue;
      epilogue.activation = Activation::fake_quantize;
      epilogue.fake_quantizer = {{1 / 0.3f, zero_point, -100, 120}, 0.3f, 0};
      std::vector<std::int8_t> codes(x.size());
      std::vector<float> want(x.size()), got(x.size());
      find_quantize<std::int8_t>(set)(epilogue.fake_quantizer, x.data(), codes.data(), x.size());
      find_dequantize<std::int8_t>(set)(zero_point, 0.3f, codes.data(), want.data(), x.size());
      activate(set, epilogue, x.data(), got.data(), x.size());
      EXPECT_EQ(got, want) << name_of(set) << ", zero point " << zero_point;
    }
}

INSTANTIATE_TEST_SUITE_P(EachInstructionSet, Activations,
                         testing::Combine(testing::ValuesIn(sets()), testing::ValuesIn(rows)), [](const auto& of) {
                           return std::string(traits(std::get<0>(of.param)).name) + "_" + std::get<1>(of.param).name;
                         });

}  // namespace kernels_activation_test
}  // namespace assay::kernels
