#include <gtest/gtest.h>

#include "conformance/adapters/optimized/client.h"
#include "conformance/files/same.h"
#include "conformance/hosts/host.h"
#include "tests/support/methods.h"

// Rewrites of quantized programs keep every bit, where all sums are exact. The scale is 1/4, and the numbers are
// multiples of 1/8, so that half of them lie between two codes.
namespace assay {
namespace optimized_codes_test {

using Index = PlanBuilder::Index;

constexpr double scale = 0.25;
constexpr Real nan = std::numeric_limits<Real>::quiet_NaN(), infinity = std::numeric_limits<Real>::infinity();

// A program whose values have memory of their own.
struct Quantized {
  PlanBuilder::Sizes sizes = {2, 2};
  ProgramBuilder program;
  PlanBuilder plan = program.method();
  std::uint64_t end = 0;

  Index values(DType dtype = float32) { return values(dtype, sizes); }
  Index values(DType dtype, const PlanBuilder::Sizes& of_sizes) {
    std::uint64_t count = 1;
    for (const std::int32_t n : of_sizes) count *= static_cast<std::uint64_t>(n);
    return plan.planned(dtype, of_sizes, 1, std::exchange(end, end + (8 * count + 63) / 64 * 64));
  }
  Index input = values();

  struct Numbers {
    Int zero_point, low = -128, high = 127;
    DType dtype = int8;
  };
  Index quantize(Index x, const Numbers& n, Index codes) {
    plan.call_named("quantized_decomposed::quantize_per_tensor.out", operands(x, n, codes));
    return codes;
  }
  Index quantize(Index x, const Numbers& n) { return quantize(x, n, values(n.dtype)); }
  Index dequantize(Index codes, const Numbers& n) { return dequantize(codes, n, values()); }
  Index dequantize(Index codes, const Numbers& n, Index out) {
    plan.call_named("quantized_decomposed::dequantize_per_tensor.out", operands(codes, n, out));
    return out;
  }
  Index rounded(Index x, const Numbers& n) { return dequantize(quantize(x, n), n); }
  Index clamp(Index x, double low, double high) {
    const Index out = values();
    plan.call_named("aten::hardtanh.out",
                    {{"self", x}, {"min_val", plan.real(low)}, {"max_val", plan.real(high)}, {"out", out}});
    return out;
  }
  Index add(Index a, Index b) {
    const Index out = values();
    return plan.add_tensors(a, b, out), out;
  }
  Index multiply(Index a, Index b) { return call("aten::mul.out", {{"self", a}, {"other", b}}, values()); }
  Index call(std::string_view op, std::vector<PlanBuilder::Operand> operands, Index out) {
    operands.push_back({"out", out});
    return plan.call_named(op, operands), out;
  }
  Index cast(Index x, DType dtype, const PlanBuilder::Sizes& of_sizes) {
    return call("aten::_to_copy.out", {{"self", x}}, values(dtype, of_sizes));
  }
  Index product(Index x, Index weight) {
    const Index out = values();
    plan.call_named("aten::mm.out", {{"self", x}, {"mat2", weight}, {"out", out}});
    return out;
  }
  Index product(Index x) {
    return product(x, plan.constant(float32, {2, 2}, program.constant(bytes_of({1, 0, 0, 1}))));
  }
  Index constant_codes() {
    const std::int8_t codes[] = {4, -8, 0, 12};
    return plan.constant(int8, {2, 2}, program.constant(to_bytes(codes)));
  }
  // A convolution of an image of two channels, with one group or two.
  Index convolution(Index x, Index weight, Int groups) {
    const Index out = values(), ones = plan.integers({1, 1}), zeros = plan.integers({0, 0});
    plan.call_named("aten::convolution.out", {{"input", x},
                                              {"weight", weight},
                                              {"bias", plan.none()},
                                              {"stride", ones},
                                              {"padding", zeros},
                                              {"dilation", ones},
                                              {"transposed", plan.boolean(false)},
                                              {"output_padding", zeros},
                                              {"groups", plan.integer(groups)},
                                              {"out", out}});
    return out;
  }

  // The reference and the optimized runtime agree. Returns the number of steps.
  std::size_t expect_agreement(std::vector<Index> outputs, std::size_t folded = 0) {
    plan.plan().inputs = {input}, plan.plan().outputs = std::move(outputs);
    const Bytes file = program.bytes();
    hosts::Host host(hosts::valid_program(borrowed(file), {}));
    adapters::OptimizedClient client(file, {}, {});
    Dims dims;
    std::size_t count = 1;
    for (const std::int32_t n : sizes) dims.push_back(n), count *= static_cast<std::size_t>(n);
    for (const auto& x : {std::vector<Real>{0.125, 0.375, -0.125, -0.375},
                          {1.5, 1.625, 5.875, 6.125},
                          {-31, 32, -40, 40},
                          {nan, infinity, -infinity, 0},
                          {nan, nan, nan, nan}}) {
      std::vector<Real> all;
      for (std::size_t i = 0; i < count; ++i) all.push_back(x[i % x.size()]);
      const std::vector<Value> inputs{tensor(float32, dims, all)};
      const std::vector<Value> want = host.call("forward", inputs), got = client.call("forward", inputs);
      EXPECT_TRUE(std::ranges::equal(got, want, files::same)) << "for inputs that begin with " << x[0];
    }
    const assay_method* method = client.method("forward").method;
    EXPECT_EQ(assay_folded_step_count(method), folded);
    return assay_step_count(method);
  }

  template <class T, std::size_t n>
  static Bytes to_bytes(const T (&all)[n]) {
    const auto bytes = std::as_bytes(std::span(all));
    return {bytes.begin(), bytes.end()};
  }

 private:
  std::vector<PlanBuilder::Operand> operands(Index x, const Numbers& n, Index out) {
    return {{"input", x},
            {"scale", plan.real(scale)},
            {"zero_point", plan.integer(n.zero_point)},
            {"quant_min", plan.integer(n.low)},
            {"quant_max", plan.integer(n.high)},
            {"dtype", plan.integer(static_cast<Int>(n.dtype))},
            {"out", out}};
  }
};

TEST(OptimizedCodes, AreRoundedByTheProductBeforeThem) {
  Quantized q;
  EXPECT_EQ(q.expect_agreement({q.rounded(q.product(q.input), {3})}), 1u);
}

TEST(OptimizedCodes, AreLimitedByTheClampBeforeThem) {
  Quantized q;
  EXPECT_EQ(q.expect_agreement({q.rounded(q.clamp(q.product(q.input), -1.3, 5.9), {3})}), 1u);
}

// NaN gets the code 0, which the second call of the clamp raises to the code of its lower limit.
TEST(OptimizedCodes, AreLimitedByTheClampBehindThem) {
  for (const Int zero_point : {-128, -11, 0, 20, 127}) {
    SCOPED_TRACE(zero_point);
    Quantized q;
    const Index once = q.rounded(q.product(q.input), {zero_point});
    EXPECT_EQ(q.expect_agreement({q.rounded(q.clamp(once, 0, 6), {zero_point})}), 1u);
  }
}

TEST(OptimizedCodes, KeepTheirOwnLimits) {
  Quantized q;
  const Index once = q.rounded(q.product(q.input), {3, -5, 40});
  EXPECT_EQ(q.expect_agreement({q.rounded(q.clamp(once, -10, 10), {3, -3, 30})}), 1u);
}

TEST(OptimizedCodes, AreStoredForTheirOtherReaders) {
  Quantized q;
  const Index codes = q.quantize(q.product(q.input), {3});
  EXPECT_EQ(q.expect_agreement({codes, q.dequantize(codes, {3})}), 3u);
}

TEST(OptimizedCodes, AreConvertedBackWithTheirOwnZeroPoint) {
  Quantized q;
  EXPECT_EQ(q.expect_agreement({q.dequantize(q.quantize(q.product(q.input), {3}), {4})}), 3u);
}

TEST(OptimizedCodes, AreConvertedBackOnce) {
  Quantized q;
  const Index codes = q.quantize(q.input, {3}), a = q.dequantize(codes, {3}), b = q.dequantize(codes, {3});
  EXPECT_EQ(q.expect_agreement({q.add(a, b)}), 3u);
}

TEST(OptimizedCodes, AreConvertedBackAgainWithAnotherZeroPoint) {
  Quantized q;
  const Index codes = q.quantize(q.input, {3}), a = q.dequantize(codes, {3}), b = q.dequantize(codes, {4});
  EXPECT_EQ(q.expect_agreement({q.add(a, b)}), 4u);
}

TEST(OptimizedCodes, AreConvertedBackAgainAfterTheyChange) {
  Quantized q;
  const Index codes = q.quantize(q.input, {3}), a = q.dequantize(codes, {3});
  q.quantize(q.add(q.input, q.input), {3}, codes);
  EXPECT_EQ(q.expect_agreement({q.add(a, q.dequantize(codes, {3}))}), 6u);
}

// The product packs the constant. The sum reads it in each execution.
// Codes of both dtypes whose number 0 has this distance from the least code.
std::vector<Quantized::Numbers> signed_and_unsigned(Int zero_point) {
  return {{zero_point - 128}, {zero_point, 0, 255, uint8}};
}

TEST(OptimizedCodes, AreMultipliedAsIntegers) {
  for (const Quantized::Numbers& x : signed_and_unsigned(131))
    for (const Quantized::Numbers& y : signed_and_unsigned(20)) {
      Quantized q;
      const Index weight = q.dequantize(q.constant_codes(), {0}), product = q.product(q.rounded(q.input, x), weight);
      EXPECT_EQ(q.expect_agreement({q.quantize(q.clamp(product, -3, 20), y)}, 1), 2u);
    }
}

TEST(OptimizedCodes, AreConvolvedAsIntegers) {
  for (const Quantized::Numbers& x : signed_and_unsigned(131))
    for (const Quantized::Numbers& y : signed_and_unsigned(20))
      for (const std::int32_t groups : {1, 2}) {
        Quantized q{.sizes = {1, 2, 1, 2}};
        const std::int8_t codes[] = {4, -8}, all[] = {4, -8, 0, 12};
        const PlanBuilder::Sizes sizes{2, 2 / groups, 1, 1};
        const auto data = q.program.constant(groups == 1 ? q.to_bytes(all) : q.to_bytes(codes));
        const Index weight = q.dequantize(q.plan.constant(int8, sizes, data), {0},
                                          q.plan.planned(float32, sizes, 1, std::exchange(q.end, q.end + 64)));
        EXPECT_EQ(q.expect_agreement({q.quantize(q.convolution(q.rounded(q.input, x), weight, groups), y)}, 1), 2u);
      }
}

TEST(OptimizedCodes, AreAddedInOnePass) {
  for (const Quantized::Numbers& x : signed_and_unsigned(131))
    for (const Quantized::Numbers& y : signed_and_unsigned(20)) {
      Quantized q;
      const Index a = q.rounded(q.input, x), b = q.dequantize(q.quantize(q.clamp(q.input, -2, 9), x), x);
      const bool is_one_pass = x.dtype == y.dtype;
      EXPECT_EQ(q.expect_agreement({q.quantize(q.clamp(q.add(a, b), -3, 20), y)}), is_one_pass ? 4u : 8u);
    }
}

TEST(OptimizedCodes, AreMultipliedInOnePass) {
  for (const Quantized::Numbers& x : signed_and_unsigned(131))
    for (const Quantized::Numbers& y : signed_and_unsigned(20))
      for (const bool has_factor : {false, true}) {
        Quantized q;
        const Index a = q.rounded(q.input, x), b = q.dequantize(q.quantize(q.clamp(q.input, -2, 9), x), x);
        Index product = q.multiply(a, b);
        if (has_factor)
          product = q.call("aten::mul.Scalar_out", {{"self", product}, {"other", q.plan.real(0.375)}}, q.values());
        const std::size_t apart = has_factor ? 8 : 7;
        EXPECT_EQ(q.expect_agreement({q.quantize(product, y)}), x.dtype == y.dtype ? 4u : apart);
      }
}

// One of the operands has one number for each channel or for each pixel.
TEST(OptimizedCodes, AreBroadcast) {
  for (const Quantized::Numbers& numbers : signed_and_unsigned(131))
    for (const Int dim : {1, 3})
      for (const bool is_first : {false, true})
        for (const auto& [side, is_sum] :
             {std::pair(2, false), std::pair(2, true), std::pair(40, false), std::pair(40, true)}) {
          Quantized q{.sizes = {1, side, 1, side}};
          PlanBuilder::Sizes sizes = q.sizes;
          sizes[static_cast<std::size_t>(dim)] = 1;
          const Index slice = q.call("aten::slice_copy.Tensor_out",
                                     {{"self", q.input}, {"dim", q.plan.integer(dim)}, {"end", q.plan.integer(1)}},
                                     q.values(float32, sizes));
          const Index x = q.rounded(q.input, numbers),
                      part = q.dequantize(q.quantize(slice, numbers, q.values(numbers.dtype, sizes)), numbers,
                                          q.values(float32, sizes));
          const Index a = is_first ? part : x, b = is_first ? x : part;
          EXPECT_EQ(q.expect_agreement({q.quantize(is_sum ? q.add(a, b) : q.multiply(a, b), numbers)}), 4u);
        }
}

// The mean of the pixels of each channel, by three operators.
Index average(Quantized& q, Index x, std::string_view op) {
  const Index out = q.values(float32, {1, 2, 1, 1});
  if (op == "aten::mean.out")
    return q.call(op, {{"self", x}, {"dim", q.plan.integers({2, -1})}, {"keepdim", q.plan.boolean(true)}}, out);
  if (op == "aten::_adaptive_avg_pool2d.out")
    return q.call(op, {{"self", x}, {"output_size", q.plan.integers({1, 1})}}, out);
  return q.call(op, {{"self", x}, {"kernel_size", q.plan.integers({1, 2})}}, out);
}
constexpr std::string_view averages[] = {"aten::mean.out", "aten::_adaptive_avg_pool2d.out", "aten::avg_pool2d.out"};

TEST(OptimizedCodes, AreAveraged) {
  for (const Quantized::Numbers& x : signed_and_unsigned(131))
    for (const Quantized::Numbers& y : signed_and_unsigned(20))
      for (const std::string_view op : averages) {
        SCOPED_TRACE(op);
        Quantized q{.sizes = {1, 2, 1, 2}};
        const Index mean = average(q, q.rounded(q.input, x), op);
        EXPECT_EQ(q.expect_agreement({q.quantize(mean, y, q.values(y.dtype, {1, 2, 1, 1}))}),
                  x.dtype == y.dtype ? 2u : 4u);
      }
}

// A pool whose windows lie partly outside of the image. What lies there counts as 0, or not at all.
TEST(OptimizedCodes, AreAveragedInPaddedWindows) {
  for (const Quantized::Numbers& numbers : signed_and_unsigned(140))
    for (const bool counts_padding : {false, true}) {
      Quantized q{.sizes = {1, 2, 1, 2}};
      const Index out = q.call("aten::avg_pool2d.out",
                               {{"self", q.rounded(q.input, numbers)},
                                {"kernel_size", q.plan.integers({1, 2})},
                                {"stride", q.plan.integers({1, 1})},
                                {"padding", q.plan.integers({0, 1})},
                                {"count_include_pad", q.plan.boolean(counts_padding)}},
                               q.values(float32, {1, 2, 1, 3}));
      EXPECT_EQ(q.expect_agreement({q.quantize(out, numbers, q.values(numbers.dtype, {1, 2, 1, 3}))}), 2u);
    }
}

// A mean of channels, and a mean that is also an output.
TEST(OptimizedCodes, AreConvertedBackForOtherMeans) {
  Quantized of_channels{.sizes = {1, 2, 1, 2}}, stored{.sizes = {1, 2, 1, 2}};
  const Index mean = of_channels.call("aten::mean.out",
                                      {{"self", of_channels.rounded(of_channels.input, {3})},
                                       {"dim", of_channels.plan.integers({1})},
                                       {"keepdim", of_channels.plan.boolean(true)}},
                                      of_channels.values(float32, {1, 1, 1, 2}));
  EXPECT_EQ(of_channels.expect_agreement({of_channels.quantize(mean, {5}, of_channels.values(int8, {1, 1, 1, 2}))}),
            4u);
  const Index kept = average(stored, stored.rounded(stored.input, {3}), averages[0]);
  EXPECT_EQ(stored.expect_agreement({kept, stored.quantize(kept, {5}, stored.values(int8, {1, 2, 1, 1}))}), 4u);
}

// As an undelegated XNNPACK payload computes it: with the sum S of the N codes of a channel, S r + (z - N z1 r). If
// the ones that are counted are also an output, all calls are kept.
TEST(OptimizedCodes, OfAveragesOfPayloadsAreAddedUp) {
  for (const Quantized::Numbers& x : signed_and_unsigned(131))
    for (const bool counts : {false, true}) {
      Quantized q{.sizes = {1, 2, 1, 2}};
      const PlanBuilder::Sizes sizes{1, 2, 1, 1};
      const Index codes = q.cast(q.quantize(q.input, x), float64, q.sizes);
      const auto number = [&](std::string_view op, Index a, double b) {
        return q.call(op, {{"self", a}, {"other", q.plan.real(b)}}, q.values(float32, sizes));
      };
      const auto both = [&](std::string_view op, Index a, Index b) {
        return q.call(op, {{"self", a}, {"other", b}}, q.values(float32, sizes));
      };
      const auto sum = [&](Index of) {
        return q.cast(q.call("aten::sum.IntList_out",
                             {{"self", of}, {"dim", q.plan.integers({2, 3})}, {"keepdim", q.plan.boolean(true)}},
                             q.values(float64, sizes)),
                      float32, sizes);
      };
      const Index ones =
          q.call("aten::full_like.out", {{"self", codes}, {"fill_value", q.plan.integer(1)}}, q.values(float64));
      const Index count = sum(ones),
                  ratio = both("aten::div.out",
                               q.plan.constant(float32, {1, 1, 1, 1}, q.program.constant(bytes_of({1.3}))), count);
      const Index zeros = both("aten::mul.out", number("aten::mul.Scalar_out", count, double(x.zero_point)), ratio);
      const Index offset = number("aten::rsub.Scalar_out", zeros, -7);
      const Index average = both("aten::add.out", both("aten::mul.out", sum(codes), ratio), offset);
      const Index made = q.values(x.dtype, sizes);
      q.plan.call_named("quantized_decomposed::quantize_per_tensor.out",
                        {{"input", average},
                         {"scale", q.plan.real(1)},
                         {"zero_point", q.plan.integer(0)},
                         {"quant_min", q.plan.integer(x.dtype == int8 ? -100 : 10)},
                         {"quant_max", q.plan.integer(90)},
                         {"dtype", q.plan.integer(static_cast<Int>(x.dtype))},
                         {"out", made}});
      std::vector<Index> outputs{made};
      if (counts) outputs.push_back(ones);
      EXPECT_EQ(q.expect_agreement(outputs), counts ? 14u : 2u);
    }
}

// As an undelegated XNNPACK payload computes it: whole numbers in float64, and a factor for each column.
TEST(OptimizedCodes, OfWholeProductsAreMultipliedAsIntegers) {
  for (const Quantized::Numbers& x : signed_and_unsigned(131))
    for (const bool has_bias : {false, true}) {
      Quantized q;
      const auto cast = [&](Index from, DType dtype) {
        const Index out = q.values(dtype);
        return q.plan.call_named("aten::_to_copy.out", {{"self", from}, {"out", out}}), out;
      };
      const Index whole = q.values(float64), sums = q.values(float64), scaled = q.values();
      q.plan.call_named("quantized_decomposed::dequantize_per_tensor.out",
                        {{"input", q.quantize(q.input, x)},
                         {"scale", q.plan.real(1)},
                         {"zero_point", q.plan.integer(x.zero_point)},
                         {"quant_min", q.plan.integer(x.low)},
                         {"quant_max", q.plan.integer(x.high)},
                         {"dtype", q.plan.integer(static_cast<Int>(x.dtype))},
                         {"out_dtype", q.plan.integer(static_cast<Int>(float64))},
                         {"out", whole}});
      const Index weight = cast(q.constant_codes(), float64);
      const std::int32_t bias[] = {-3, 5};
      if (has_bias) {
        const Index of_columns = q.plan.planned(float64, {2}, 1, std::exchange(q.end, q.end + 64));
        q.plan.call_named(
            "aten::_to_copy.out",
            {{"self", q.plan.constant(int32, {2}, q.program.constant(q.to_bytes(bias)))}, {"out", of_columns}});
        q.plan.call_named("aten::addmm.out", {{"self", of_columns}, {"mat1", whole}, {"mat2", weight}, {"out", sums}});
      } else {
        q.plan.call_named("aten::mm.out", {{"self", whole}, {"mat2", weight}, {"out", sums}});
      }
      const Index factors = q.plan.constant(float32, {2}, q.program.constant(bytes_of({0.125, 0.0625})));
      q.plan.call_named("aten::mul.out", {{"self", cast(sums, float32)}, {"other", factors}, {"out", scaled}});
      const Index codes = q.values(int8);
      q.plan.call_named("quantized_decomposed::quantize_per_tensor.out",
                        {{"input", scaled},
                         {"scale", q.plan.real(1)},
                         {"zero_point", q.plan.integer(-7)},
                         {"quant_min", q.plan.integer(-100)},
                         {"quant_max", q.plan.integer(90)},
                         {"dtype", q.plan.integer(static_cast<Int>(int8))},
                         {"out", codes}});
      EXPECT_EQ(q.expect_agreement({codes}), 2u);
    }
}

// The codes of quantized elementwise calls of converted codes. The calls combine the number with itself and with
// numbers.
Index hardswish(Quantized& q, Index x) {
  const auto call = [&](std::string_view op, Index a, Index b) {
    const Index out = q.values();
    q.plan.call_named(std::string(op), {{"self", a}, {"other", b}, {"out", out}});
    return out;
  };
  const auto constant = [&](Real n) { return q.plan.constant(float32, {1, 1}, q.program.constant(bytes_of({n}))); };
  const Index limited = q.clamp(call("aten::add.out", x, constant(3)), 0, 6);
  return call("aten::div.out", call("aten::mul.out", x, limited), constant(6));
}

TEST(OptimizedCodes, AreLookedUp) {
  for (const DType dtype : {int8, uint8})
    for (const Int low : {0, 2}) {
      Quantized q;
      const Quantized::Numbers from{5, low, 127, dtype}, to{-3, -90, 100};
      EXPECT_EQ(q.expect_agreement({q.quantize(hardswish(q, q.rounded(q.input, from)), to)}), 2u);
    }
}

TEST(OptimizedCodes, AreNotLookedUpIfAResultDependsOnMore) {
  Quantized q;
  const Index x = q.rounded(q.input, {3});
  EXPECT_EQ(q.expect_agreement({q.quantize(q.add(hardswish(q, x), q.input), {1})}), 8u);
}

// The conversion and the clamp are also read elsewhere.
TEST(OptimizedCodes, AreLookedUpBesideTheOtherReaders) {
  Quantized q;
  const Index clamped = q.clamp(q.rounded(q.input, {3}), -1, 5);
  EXPECT_EQ(q.expect_agreement({q.quantize(clamped, {1}), q.add(clamped, clamped)}), 5u);
}

// Between the conversion and the last call, the codes change.
TEST(OptimizedCodes, AreNotLookedUpAfterTheyChange) {
  Quantized q;
  const Index codes = q.quantize(q.input, {3});
  const Index x = q.clamp(q.dequantize(codes, {3}), -1, 5);
  q.quantize(q.add(q.input, q.input), {3}, codes);
  EXPECT_EQ(q.expect_agreement({q.quantize(x, {1}), q.dequantize(codes, {3})}), 7u);
}

// A max pool of each pixel and its neighbours.
Index pool(Quantized& q, Index x) {
  const Index out = q.values();
  const auto both = [&](Int n) { return q.plan.integers({n, n}); };
  q.plan.call_named("aten::max_pool2d_with_indices.out", {{"self", x},
                                                          {"kernel_size", both(3)},
                                                          {"stride", both(1)},
                                                          {"padding", both(1)},
                                                          {"dilation", both(1)},
                                                          {"ceil_mode", q.plan.boolean(false)},
                                                          {"out", out},
                                                          {"indices", q.values(int64)}});
  return out;
}

TEST(OptimizedCodes, AreComparedByAPool) {
  for (const DType dtype : {int8, uint8}) {
    Quantized q;
    q.sizes = {1, 1, 2, 2};
    q.input = q.values();
    const Quantized::Numbers numbers{5, dtype == int8 ? -128 : 0, dtype == int8 ? 127 : 255, dtype};
    EXPECT_EQ(q.expect_agreement({q.quantize(pool(q, q.rounded(q.input, numbers)), numbers)}), 2u);
  }
}

TEST(OptimizedCodes, ThatChangeAreNotComparedByAPool) {
  for (const Quantized::Numbers& to : {Quantized::Numbers{6}, {5, -100}, {5, 0, 255, uint8}}) {
    Quantized q;
    q.sizes = {1, 1, 2, 2};
    q.input = q.values();
    EXPECT_EQ(q.expect_agreement({q.quantize(pool(q, q.rounded(q.input, {5})), to)}), 4u);
  }
}

struct FixedPoint {
  Int a = 1 << 19, b = -(1 << 18), offset = 1 << 19, divisor = 1 << 20, zero_point = 7, low = -100, high = 90;
};

// The steps of a sum in fixed point of two tensors of codes.
std::size_t steps_of_sum(const FixedPoint& n) {
  Quantized q;
  const auto call = [&](const char* op, const char* name, Index x, Int number,
                        std::vector<PlanBuilder::Operand> more = {}) {
    const Index out = q.values(int64);
    more.insert(more.end(), {{"self", x}, {name, q.plan.integer(number)}, {"out", out}});
    q.plan.call_named(op, more);
    return out;
  };
  const auto cast = [&](Index x, DType dtype) {
    const Index out = q.values(dtype);
    q.plan.call_named("aten::_to_copy.out", {{"self", x}, {"out", out}});
    return out;
  };
  const Index a = q.quantize(q.input, {3}), b = q.quantize(q.add(q.input, q.input), {-5}), sum = q.values(int64);
  q.plan.add_tensors(call("aten::mul.Scalar_out", "other", cast(a, int64), n.a),
                     call("aten::mul.Scalar_out", "other", cast(b, int64), n.b), sum);
  Index x = call("aten::add.Scalar_out", "other", sum, n.offset);
  x = call("aten::div.Scalar_mode_out", "other", x, n.divisor, {{"rounding_mode", q.plan.string("floor")}});
  x = call("aten::add.Scalar_out", "other", x, n.zero_point);
  x = call("aten::clamp.out", "min", x, n.low, {{"max", q.plan.integer(n.high)}});
  return q.expect_agreement({cast(x, int8)});
}

TEST(OptimizedCodes, AreAddedInFixedPoint) {
  EXPECT_EQ(steps_of_sum({}), 4u);
  EXPECT_EQ(steps_of_sum({.a = 1 << 21, .b = 1 << 21, .offset = 0x7fffffff - (127 << 22)}), 4u);
  EXPECT_EQ(steps_of_sum({.a = 1, .b = 1, .offset = 0, .divisor = 2}), 4u);
}
TEST(OptimizedCodes, AreNotAddedInFixedPointIfASumNeedsMoreBits) {
  EXPECT_EQ(steps_of_sum({.a = 1 << 21, .b = 1 << 21, .offset = 0x7fffffff - (127 << 22) + 1}), 13u);
  EXPECT_EQ(steps_of_sum({.a = 1 << 21, .b = 1 << 21, .offset = -0x7fffffff + (1 << 29) - 1}), 13u);
}
TEST(OptimizedCodes, AreNotAddedInFixedPointWithAnotherDivisor) { EXPECT_EQ(steps_of_sum({.divisor = 3}), 13u); }

// The sum reads the numbers, the product their codes.
TEST(OptimizedCodes, AreConvertedBackForTheOtherReaders) {
  Quantized q;
  const Index weight = q.dequantize(q.constant_codes(), {0}), x = q.rounded(q.input, {3});
  EXPECT_EQ(q.expect_agreement({q.quantize(q.product(x, weight), {5}), q.add(x, x)}, 1), 4u);
}

// Between the conversion and the product, the codes change.
TEST(OptimizedCodes, AreNotReadAfterTheyChange) {
  Quantized q;
  const Index weight = q.dequantize(q.constant_codes(), {0}), codes = q.quantize(q.input, {3});
  const Index x = q.dequantize(codes, {3});
  q.quantize(q.add(q.input, q.input), {3}, codes);
  EXPECT_EQ(q.expect_agreement({q.quantize(q.product(x, weight), {5}), q.dequantize(codes, {3})}, 1), 7u);
}

TEST(OptimizedCodes, OfWeightsWithAZeroPointAreConvertedBack) {
  Quantized q;
  const Index weight = q.dequantize(q.constant_codes(), {4});
  EXPECT_EQ(q.expect_agreement({q.quantize(q.product(q.rounded(q.input, {3}), weight), {5})}, 1), 4u);
}

TEST(OptimizedCodes, OfConstantsAreConvertedBackBeforeTheFirstExecution) {
  Quantized q;
  const Index weight = q.dequantize(q.constant_codes(), {0}), x = q.rounded(q.input, {0});
  EXPECT_EQ(q.expect_agreement({q.product(x, weight), q.add(x, weight)}, 1), 4u);
}

TEST(OptimizedCodes, OfConstantsAreConvertedBackWhenTheyAreAnOutput) {
  Quantized q;
  EXPECT_EQ(q.expect_agreement({q.dequantize(q.constant_codes(), {0})}), 1u);
}

}  // namespace optimized_codes_test
}  // namespace assay
