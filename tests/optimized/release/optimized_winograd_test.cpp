#include <gtest/gtest.h>

#include "conformance/adapters/optimized/step.h"
#include "optimized/runtime/table.h"
#include "tests/support/convolution_calls.h"

// Which convolutions use Winograd's algorithm, and what it does with merged calls.
namespace assay::optimized {
namespace optimized_winograd_test {

std::string_view kernel_of(const ConvolutionCase& c, bool relaxed, void (*change)(ConvolutionCall&) = nullptr) {
  ConvolutionCall convolution(c);
  convolution.call.relaxed = relaxed;
  if (change) change(convolution);
  return find_kernel(convolution.call)->name;
}

TEST(OptimizedWinograd, IsChosenWhereArithmeticIsRelaxed) {
  EXPECT_EQ(kernel_of({12, 16, 16, 3, 1, 1}, true), "winograd_f32");
  EXPECT_EQ(kernel_of({12, 16, 16, 3, 1, 1}, false), "convolution_f32");
}

TEST(OptimizedWinograd, IsNotChosenForOtherConvolutions) {
  for (const ConvolutionCase& c : {ConvolutionCase{12, 15, 16, 3, 1, 1},
                                   {12, 16, 15, 3, 1, 1},
                                   {7, 16, 16, 3, 1, 1},
                                   {12, 16, 16, 5, 1, 2},
                                   {24, 16, 16, 3, 2, 1},
                                   {12, 16, 16, 3, 1, 2, 2},
                                   {12, 16, 16, 3, 1, 1, 1, 2}})
    EXPECT_EQ(kernel_of(c, true), "convolution_f32");
  const auto with_infinite_weight = [](ConvolutionCall& c) { c.weight.data()[5] = kernels::infinity; };
  EXPECT_EQ(kernel_of({12, 16, 16, 3}, true, with_infinite_weight), "convolution_f32");
  EXPECT_EQ(kernel_of({12, 16, 16, 3}, true, [](ConvolutionCall& c) { c.call.tensor(1).constant = false; }),
            "convolution_f32");
}

// Random numbers of one size do not leave the bound of the formula.
TEST(OptimizedWinograd, ComputesMergedCalls) {
  for (const bool clamped : {false, true})
    for (const bool normed : {false, true})
      for (const bool bias : {false, true}) {
        const ConvolutionCall convolution({13, 17, 35, 3, 1, 1, 1, 1, bias, clamped, normed});
        const Kernel* kernel = find_kernel(convolution.call);
        ASSERT_EQ(kernel->name, std::string_view("winograd_f32"));
        Fault fault;
        ASSERT_TRUE(LoneStep(*kernel, convolution.call).run(fault));
        const std::vector<float> out = convolution.out.values();
        for (std::size_t i = 0; i < out.size(); ++i) {
          const auto [value, bound] = convolution.expected(i);
          ASSERT_LE(std::fabs(double{out[i]} - value), bound) << i;
        }
      }
}

}  // namespace optimized_winograd_test
}  // namespace assay::optimized
