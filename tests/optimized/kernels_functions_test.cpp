#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "optimized/kernels/pointwise.h"

// Judges functions of floats by those of doubles, whose error is far below that of a float. The inputs are spread over
// all bit patterns of floats, so that they have every exponent.
namespace assay {
namespace kernels_functions_test {

using kernels::Element;
using kernels::InstructionSet;

struct Function {
  std::string_view name;
  kernels::FindFormula find;
  double (*exact)(double);
};
template <kernels::Operation operation>
constexpr Function function(std::string_view name, double (*exact)(double)) {
  return {name, kernels::find_formula<operation, Element::f32>, exact};
}
constexpr Function functions[] = {
    function<"exp">("exp", std::exp),    function<"expm1">("expm1", std::expm1),
    function<"log">("log", std::log),    function<"log1p">("log1p", std::log1p),
    function<"log2">("log2", std::log2), function<"log10">("log10", std::log10),
    function<"sin">("sin", std::sin),    function<"cos">("cos", std::cos),
    function<"tanh">("tanh", std::tanh), function<"atan">("atan", std::atan),
};

std::vector<InstructionSet> sets() {
  std::vector<InstructionSet> all;
  for (std::size_t i = 0; i < std::size(kernels::instruction_sets); ++i)
    if (const auto set = static_cast<InstructionSet>(i); kernels::is_compiled(set) && kernels::is_supported(set))
      all.push_back(set);
  return all;
}

std::vector<float> spread_floats() {
  constexpr std::uint32_t step = 262'139;  // a prime number
  std::vector<float> all{0.0f, -0.0f, std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity()};
  for (std::uint64_t bits = 0; bits < std::uint64_t{1} << 32; bits += step)
    all.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  return all;
}

std::vector<float> results_of(const Function& function, InstructionSet set, const std::vector<float>& x) {
  std::vector<float> y(x.size());
  const void* operands[] = {x.data()};
  const std::uint64_t parameters[kernels::most_parameters] = {};
  function.find(set).row(operands, y.data(), x.size(), parameters);
  return y;
}

// The distance of neighbouring floats near a number.
double ulp_of(double number) {
  return std::ldexp(1.0, std::max(std::ilogb(number), std::numeric_limits<float>::min_exponent - 1) -
                             (std::numeric_limits<float>::digits - 1));
}

bool is_within_an_ulp(float got, double exact) {
  const auto rounded = static_cast<float>(exact);
  if (std::isnan(exact)) return std::isnan(got);
  if (std::isinf(rounded) || exact == 0) return got == rounded && std::signbit(got) == std::signbit(rounded);
  return std::signbit(got) == std::signbit(exact) && std::fabs(static_cast<double>(got) - exact) <= ulp_of(exact);
}

TEST(KernelsFunctions, AreWithinAnUlp) {
  const std::vector<float> x = spread_floats();
  for (const Function& function : functions)
    for (const InstructionSet set : sets()) {
      const std::vector<float> y = results_of(function, set, x);
      for (std::size_t i = 0; i < x.size(); ++i) {
        const double exact = function.exact(static_cast<double>(x[i]));
        ASSERT_TRUE(is_within_an_ulp(y[i], exact))
            << fmt::format("{} of {:a} is {:a}, but must be {:a}, with {}", function.name, x[i], y[i], exact,
                           kernels::traits(set).name);
      }
    }
}

// The last elements of a row may be a part of a vector.
TEST(KernelsFunctions, DependOnTheNumberAlone) {
  const std::vector<float> x{0.5f, -2, 100, -0.0f, 7, -90, 1e-40f, std::nanf(""), 3, -1, 0.1f, 88, -104, 2, 9, 1, 4};
  for (const Function& function : functions)
    for (const InstructionSet set : sets()) {
      const std::vector<float> all = results_of(function, set, x);
      for (std::size_t n = 1; n < x.size(); ++n) {
        const std::vector<float> y = results_of(function, set, {x.begin(), x.begin() + static_cast<std::ptrdiff_t>(n)});
        for (std::size_t i = 0; i < n; ++i)
          ASSERT_EQ(std::bit_cast<std::uint32_t>(y[i]), std::bit_cast<std::uint32_t>(all[i]))
              << fmt::format("{} of element {} of {}, with {}", function.name, i, n, kernels::traits(set).name);
      }
    }
}

}  // namespace kernels_functions_test
}  // namespace assay
