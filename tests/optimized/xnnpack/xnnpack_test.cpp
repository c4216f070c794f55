#include <gtest/gtest.h>
#include <xnnpack.h>

#include <filesystem>

#include "conformance/adapters/optimized/client.h"
#include "conformance/adapters/optimized/step.h"
#include "conformance/files/compare.h"
#include "conformance/files/file.h"
#include "conformance/hosts/calls.h"
#include "conformance/hosts/host.h"
#include "optimized/xnnpack/kernels.h"
#include "optimized/xnnpack/threads.h"
#include "reference/fault.h"
#include "tests/support/convolution_calls.h"
#include "tests/support/golden.h"

// XNNPACK's kernels compared to evaluations in double, in exactly the memory that they ask for.
namespace assay::optimized {
namespace xnnpack_test {

void check(const ConvolutionCase& c) {
  SCOPED_TRACE(
      testing::PrintToString(std::vector{c.side, c.inputs, c.outputs, c.kernel, c.stride, c.padding, c.groups}));
  const ConvolutionCall convolution(c);
  ASSERT_TRUE(xnnpack::can_convolve(convolution.call));
  adapters::LoneStep step(convolution_xnnpack_f32, convolution.call);
  EXPECT_TRUE(convolution.call.tensor(0).read_beyond);
  Fault fault;
  ASSERT_TRUE(step.run(fault));
  const std::vector<float> out = convolution.out.values();
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto [value, bound] = convolution.expected(i);
    ASSERT_LE(std::fabs(double{out[i]} - value), bound) << i;
  }
  const std::unique_ptr<pthreadpool, decltype(&pthreadpool_destroy)> pool(pthreadpool_create(3), pthreadpool_destroy);
  ASSERT_TRUE(step.run(fault, {3, run_on_pthreadpool, pool.get()}));
  EXPECT_TRUE(kernels::same_bits(convolution.out.values(), out));
}

TEST(Xnnpack, Convolves) {
  for (const std::size_t inputs : {1u, 7u, 24u, 40u})
    for (const std::size_t outputs : {1u, 16u, 35u}) check({7, inputs, outputs, 1});
  for (const std::size_t kernel : {1u, 2u, 3u, 5u})
    for (const std::size_t stride : {1u, 2u})
      for (const std::size_t dilation : {1u, 2u}) check({11, 9, 20, kernel, stride, kernel / 2, dilation});
}

TEST(Xnnpack, ConvolvesGroupsAndEachChannel) {
  for (const std::size_t kernel : {1u, 3u, 5u}) {
    check({9, 4, 6, kernel, 1, kernel / 2, 1, 3});
    for (const std::size_t groups : {2u, 16u, 21u}) check({9, 1, 1, kernel, 2, kernel / 2, 1, groups});
  }
}

TEST(Xnnpack, ConvolvesMergedCalls) {
  for (const bool clamped : {false, true})
    for (const bool normed : {false, true})
      for (const bool bias : {false, true}) check({8, 12, 18, 3, 1, 1, 1, 1, bias, clamped, normed});
}

TEST(Xnnpack, RefusesUnsupportedCalls) {
  const auto can = [](auto change) {
    ConvolutionCall convolution({8, 4, 6, 3});
    change(convolution);
    return xnnpack::can_convolve(convolution.call);
  };
  EXPECT_TRUE(can([](ConvolutionCall&) {}));
  EXPECT_FALSE(can([](ConvolutionCall& c) { c.call.tensor(0).constant = true; }));  // the file may end behind it
  EXPECT_FALSE(can([](ConvolutionCall& c) { c.call.tensor(0).lasts = true; }));
  EXPECT_FALSE(can([](ConvolutionCall& c) { c.call.tensor(1).constant = false; }));
  EXPECT_FALSE(can([](ConvolutionCall& c) { c.call.tensor(2).constant = false; }));
  EXPECT_FALSE(can([](ConvolutionCall& c) { c.fusion.residual = c.arguments.back(), c.call.fusion = &c.fusion; }));
  EXPECT_FALSE(
      can([](ConvolutionCall& c) { c.fusion.activation = kernels::Activation::silu, c.call.fusion = &c.fusion; }));
  EXPECT_FALSE(can([](ConvolutionCall& c) {
    c.fusion.activation = kernels::Activation::clamp, c.fusion.low = c.fusion.high, c.call.fusion = &c.fusion;
  }));
}

TEST(Xnnpack, IsChosenWhereArithmeticIsRelaxedAndSumsAreShort) {
  const auto accepts = [](const ConvolutionCase& c, bool relaxed) {
    ConvolutionCall convolution(c);
    convolution.call.relaxed = relaxed;
    return convolution_xnnpack_f32.accepts(convolution.call);
  };
  EXPECT_TRUE(accepts({14, 40, 120, 1}, true));
  EXPECT_FALSE(accepts({14, 40, 120, 1}, false));
  EXPECT_FALSE(accepts({14, 140, 40, 1}, true));
  EXPECT_FALSE(accepts({1, 40, 120, 1}, true));
  EXPECT_FALSE(accepts({14, 1, 1, 3, 1, 1, 1, 40}, true));
}

TEST(Xnnpack, IsRefusedIfOneByteIsMissing) {
  for (const std::size_t kernel : {1u, 3u}) {
    const ConvolutionCall convolution({8, 12, 18, kernel, 1, kernel / 2});
    EXPECT_NO_THROW(adapters::LoneStep(convolution_xnnpack_f32, convolution.call));
    try {
      adapters::LoneStep(convolution_xnnpack_f32, convolution.call, 1);
      ADD_FAILURE() << "made in less memory than it asked for";
    } catch (const assay::Fault& f) {
      EXPECT_EQ(f.outcome, Outcome::exhausted);
    }
  }
}

// In a process of its own, where XNNPACK uses the heap.
TEST(XnnpackDeathTest, RefusesToRunWithAnotherAllocator) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto refused = [] {
    xnn_initialize(nullptr);
    const ConvolutionCall convolution({8, 12, 18, 3});
    try {
      adapters::LoneStep(convolution_xnnpack_f32, convolution.call);
    } catch (const assay::Fault& f) {
      std::exit(f.outcome == Outcome::exhausted ? 0 : 1);
    }
    std::exit(2);
  };
  EXPECT_EXIT(refused(), testing::ExitedWithCode(0), "");
}

// The reason why its arithmetic is relaxed: its kernels clamp, even to infinities, by instructions that replace NaN by
// the limit.
TEST(Xnnpack, TakesNaNForTheLowerLimit) {
  for (const bool clamped : {false, true}) {
    const ConvolutionCall convolution({4, 8, 16, 1, 1, 0, 1, 1, true, clamped});
    convolution.input.data()[3] = kernels::nan;
    Fault fault;
    ASSERT_TRUE(adapters::LoneStep(convolution_xnnpack_f32, convolution.call).run(fault));
    EXPECT_EQ(convolution.out.values()[0], clamped ? -0.5f : -kernels::infinity);
  }
}

// m x k times a constant matrix, whose rows are outputs or inputs.
void check_product(std::string_view op, std::size_t m, std::size_t k, std::size_t n, bool has_bias) {
  const Fenced a(m * k + beyond), b(random_floats(k * n)), bias(random_floats(n)), out(m * n);
  std::ranges::copy(random_floats(m * k), a.data());
  Values values;
  const bool linear = op == "aten::linear.out";
  Value* x = values.tensor({i32(m), i32(k)}, a.data(), false);
  Value* w = values.tensor(linear ? std::vector{i32(n), i32(k)} : std::vector{i32(k), i32(n)}, b.data(), true);
  Value* y = values.tensor({i32(m), i32(n)}, out.data(), false);
  Value* added = has_bias ? values.tensor({i32(n)}, bias.data(), true) : values.none();
  std::vector<Value*> arguments{x, w, y};
  if (linear) arguments = {x, w, added, y};
  if (op == "aten::addmm.out") arguments = {added, x, w, values.integer(1), values.integer(1), y};
  const Call call{&roles_of(op), arguments, nullptr, kernels::best_instruction_set(), true};
  ASSERT_TRUE(xnnpack::can_multiply(call)) << op;
  Fault fault;
  ASSERT_TRUE(adapters::LoneStep(matmul_xnnpack_f32, call).run(fault));
  for (std::size_t i = 0; i < m * n; ++i) {
    double sum = has_bias ? bias.data()[i % n] : 0, magnitude = std::fabs(sum);
    for (std::size_t j = 0; j < k; ++j) {
      const double term = double{a.data()[i / n * k + j]} * b.data()[linear ? i % n * k + j : j * n + i % n];
      sum += term, magnitude += std::fabs(term);
    }
    ASSERT_LE(std::fabs(out.values()[i] - sum), 4 * std::sqrt(static_cast<double>(k + 1)) * 0x1p-24 * magnitude) << op;
  }
  EXPECT_THROW(adapters::LoneStep(matmul_xnnpack_f32, call, 1), assay::Fault);
}

TEST(Xnnpack, Multiplies) {
  for (const std::size_t m : {1u, 9u})
    for (const std::size_t k : {1u, 13u, 70u})
      for (const std::size_t n : {1u, 16u, 45u}) {
        check_product("aten::mm.out", m, k, n, false);
        check_product("aten::addmm.out", m, k, n, true);
        for (const bool bias : {false, true}) check_product("aten::linear.out", m, k, n, bias);
      }
}

// With the tables of a build with XNNPACK: recorded programs, whose arenas have room behind what XNNPACK reads.
TEST(Xnnpack, ExecutesStepsOfPrograms) {
  for (const char* name : {"channels_last", "mobile_net", "squeeze_excite"}) {
    const std::filesystem::path folder = golden_folder() / "programs" / name;
    const hosts::ProgramCalls calls = hosts::read_calls(folder / "calls.json");
    adapters::OptimizedClient exact(folder / "program.pte", {}, {}),
        relaxed(folder / "program.pte", {}, {.testee = {{}, true}});
    const adapters::OptimizedClient::Method& method = relaxed.method("forward");
    const auto steps = [](const adapters::OptimizedClient::Method& m) {
      std::size_t n = 0;
      for (std::size_t i = 0; i < assay_step_count(m.method); ++i)
        n += assay_step_at(m.method, i).kernel == std::string_view("convolution_xnnpack_f32");
      return n;
    };
    EXPECT_EQ(steps(exact.method("forward")), 0u);
    EXPECT_GT(steps(method), 0u) << name;
    EXPECT_EQ(method.sizes.arena, exact.sizes("forward").arena + 64) << name;
    const ValidProgram program = hosts::valid_program(files::open_file(folder / "program.pte"), {});
    for (const hosts::ProgramCall& call : calls.calls) {
      const auto outputs = relaxed.call(call.method, hosts::adapted(*program.plan(call.method), call.inputs));
      for (std::size_t i = 0; i < outputs.size(); ++i)
        EXPECT_TRUE(files::compare(outputs[i], (*call.outputs)[i], call.tolerance).agrees()) << name;
    }
  }
}

}  // namespace xnnpack_test
}  // namespace assay::optimized
