#include <gmock/gmock-matchers.h>

#include <cmath>
#include <limits>

#include "tests/support/calls.h"

// Common errors in reimplementations of elementwise operators. Each expected value is the answer of eager PyTorch.
namespace assay {
namespace traps_elementwise_test {

using enum DType;
using testing::ElementsAre;
using testing::NanSensitiveDoubleEq;

constexpr Real inf = std::numeric_limits<Real>::infinity(), nan = std::numeric_limits<Real>::quiet_NaN();
constexpr Int least = std::numeric_limits<Int>::min();
const Value none;

Tensor row(DType dtype, const std::vector<Real>& values) {
  return tensor(dtype, {static_cast<Int>(values.size())}, values);
}
Tensor scalar(DType dtype, Real value) { return tensor(dtype, {}, {value}); }

// The only element of an operator's result.
Real only(std::string_view name, std::vector<Value> arguments) {
  return values_of(result(name, std::move(arguments))).at(0);
}
Real unary(std::string_view name, DType dtype, Real x) { return only(name, {row(dtype, {x})}); }
Real binary(std::string_view name, DType dtype, Real a, Real b) {
  return only(name, {row(dtype, {a}), row(dtype, {b})});
}
Real divided(std::string_view mode, DType dtype, Real a, Real b) {
  return only("aten::div.out_mode", {row(dtype, {a}), row(dtype, {b}), std::string(mode)});
}
Real sum(DType dtype, Real a, Real b, const Value& alpha) {
  return only("aten::add.out", {row(dtype, {a}), row(dtype, {b}), alpha});
}
Real power(DType dtype, Real x, const Value& exponent) {
  return only("aten::pow.Tensor_Scalar_out", {row(dtype, {x}), exponent});
}
Real clamped(DType dtype, Real x, const Value& min, const Value& max) {
  return only("aten::clamp.out", {row(dtype, {x}), min, max});
}

bool same(Real a, Real b) { return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b)); }

// -- promotion --------------------------------------------------------------------------------------------------------

DType common(const Tensor& a, const Value& b) {
  return result(std::holds_alternative<Tensor>(b) ? "aten::mul.out" : "aten::mul.Scalar_out", {a, b}).dtype;
}

TEST(Promotion, OfTwoTensors) {
  constexpr DType all[] = {boolean, uint8, int8, int16, int32, int64, float16, bfloat16, float32, float64};
  constexpr DType table[10][10] = {
      {boolean, uint8, int8, int16, int32, int64, float16, bfloat16, float32, float64},
      {uint8, uint8, int16, int16, int32, int64, float16, bfloat16, float32, float64},
      {int8, int16, int8, int16, int32, int64, float16, bfloat16, float32, float64},
      {int16, int16, int16, int16, int32, int64, float16, bfloat16, float32, float64},
      {int32, int32, int32, int32, int32, int64, float16, bfloat16, float32, float64},
      {int64, int64, int64, int64, int64, int64, float16, bfloat16, float32, float64},
      {float16, float16, float16, float16, float16, float16, float16, float32, float32, float64},
      {bfloat16, bfloat16, bfloat16, bfloat16, bfloat16, bfloat16, float32, bfloat16, float32, float64},
      {float32, float32, float32, float32, float32, float32, float32, float32, float32, float64},
      {float64, float64, float64, float64, float64, float64, float64, float64, float64, float64}};
  for (int a = 0; a < 10; ++a)
    for (int b = 0; b < 10; ++b) {
      EXPECT_EQ(common(row(all[a], {1}), row(all[b], {1})), table[a][b])
          << info(all[a]).name << " and " << info(all[b]).name;
      EXPECT_EQ(common(scalar(all[a], 1), scalar(all[b], 1)), table[a][b])
          << info(all[a]).name << " and " << info(all[b]).name;
    }
}

TEST(Promotion, ZeroDimensionalTensorOnlyRaisesTheKind) {
  EXPECT_EQ(common(row(uint8, {1}), scalar(int64, 1)), uint8);
  EXPECT_EQ(common(row(int64, {1}), scalar(float16, 1)), float16);
  EXPECT_EQ(common(row(float16, {1}), scalar(float64, 1)), float16);
  EXPECT_EQ(common(row(boolean, {1}), scalar(uint8, 1)), uint8);
}

TEST(Promotion, PythonNumberOnlyRaisesTheKind) {
  EXPECT_EQ(common(row(uint8, {1}), Int{1}), uint8);
  EXPECT_EQ(common(row(boolean, {1}), Int{1}), int64);
  EXPECT_EQ(common(row(boolean, {1}), true), boolean);
  EXPECT_EQ(common(row(int64, {1}), 1.0), float32);
  EXPECT_EQ(common(scalar(float16, 1), 1.0), float16);
}

TEST(Promotion, WideUnsignedMeetsFloatingOnly) {
  EXPECT_EQ(common(row(uint16, {1}), row(float16, {1})), float16);
  EXPECT_EQ(common(row(uint16, {1}), scalar(int32, 1)), uint16);
  EXPECT_EQ(refusal("aten::mul.out", {row(uint16, {1}), row(int32, {1})}), "mul.dtype");
  EXPECT_EQ(refusal("aten::mul.out", {row(boolean, {1}), scalar(uint16, 1)}), "mul.dtype");
  EXPECT_EQ(refusal("aten::add.out", {row(uint16, {1}), row(uint16, {1}), Int{1}}), "add.R1");
}

TEST(Promotion, FloatFunctionsOfIntegersGiveFloat32) {
  for (const auto* name :
       {"aten::exp.out", "aten::sqrt.out", "aten::sin.out", "aten::sigmoid.out", "aten::reciprocal.out"})
    for (const DType dtype : {boolean, uint8, int64, uint64})
      EXPECT_EQ(result(name, {row(dtype, {1})}).dtype, float32) << name;
  EXPECT_EQ(result("aten::div.out", {row(int64, {1}), row(int64, {2})}).dtype, float32);
  EXPECT_EQ(result("aten::floor.out", {row(int64, {1})}).dtype, int64);
}

// -- scalars ----------------------------------------------------------------------------------------------------------

TEST(Scalars, WrapInAnIntegerDType) {
  EXPECT_EQ(only("aten::add.Scalar_out", {row(uint8, {1}), Int{300}, Int{1}}), 45);
  EXPECT_EQ(only("aten::add.Scalar_out", {row(int8, {1}), Int{200}, Int{1}}), -55);
  EXPECT_EQ(only("aten::add.Scalar_out", {row(int32, {1}), Int{1} << 40, Int{1}}), 1);
  EXPECT_EQ(only("aten::eq.Scalar_out", {row(uint8, {0}), Int{256}}), true);
  EXPECT_EQ(only("aten::gt.Scalar_out", {row(uint8, {5}), Int{-1}}), false);
}

TEST(Scalars, AreRoundedBeforeTheyAreCompared) {
  EXPECT_EQ(only("aten::eq.Scalar_out", {row(float16, {1}), 1.0002}), true);
  EXPECT_EQ(only("aten::eq.Scalar_out", {row(float16, {inf}), 1e6}), true);
  EXPECT_EQ(only("aten::eq.Scalar_out", {row(float32, {0.1}), 0.1}), true);
  EXPECT_EQ(only("aten::eq.Tensor_out", {row(float32, {0.1}), row(float64, {0.1})}), false);
}

TEST(Scalars, ProductOfAHalfTensorTakesAFloat32Number) {
  EXPECT_EQ(only("aten::mul.Scalar_out", {row(bfloat16, {3}), 1.00390625}), 3.015625);
  EXPECT_EQ(only("aten::mul.out", {row(bfloat16, {3}), scalar(float32, 1.00390625)}), 3.015625);
  EXPECT_EQ(only("aten::mul.out", {row(bfloat16, {3}), scalar(bfloat16, 1.00390625)}), 3);
  EXPECT_EQ(only("aten::mul.Scalar_out", {row(float16, {60000}), 1e-5}), 0.60009765625);
}

TEST(Scalars, AlphaFitsTheKindOfTheResult) {
  EXPECT_EQ(sum(boolean, 1, 1, Int{2}), true);
  EXPECT_EQ(refusal("aten::add.out", {row(int32, {1}), row(int32, {1}), 1.5}), "add.R2");
  EXPECT_EQ(refusal("aten::add.out", {row(int32, {1}), row(int32, {1}), true}), "add.R2");
  EXPECT_EQ(refusal("aten::add.out", {row(int8, {1}), row(int8, {1}), Int{128}}), "add.R3");
  EXPECT_EQ(refusal("aten::sub.out", {row(int8, {1}), row(int8, {1}), Int{128}}), "");
  EXPECT_EQ(refusal("aten::sub.out", {row(int8, {1}), row(int8, {1}), Int{-128}}), "sub.R5");
}

TEST(Scalars, OutOfRangeIsRefusedWhereItIsStored) {
  const auto filled = [](DType dtype, const Value& value) {
    return refusal("aten::masked_fill.Scalar_out", {row(dtype, {1}), row(boolean, {1}), value});
  };
  for (const Value& value : {Value(Int{256}), Value(Int{-256}), Value(-0.5), Value(255.5), Value(nan)})
    EXPECT_EQ(filled(uint8, value), "masked_fill.Scalar.R3");
  for (const Value& value : {Value(Int{-255}), Value(254.9)}) EXPECT_EQ(filled(uint8, value), "");
  EXPECT_EQ(filled(float16, -1e9), "masked_fill.Scalar.R3");
  EXPECT_EQ(filled(float16, -inf), "");
  EXPECT_EQ(filled(boolean, nan), "");
  EXPECT_EQ(only("aten::masked_fill.Scalar_out", {row(int32, {1}), row(boolean, {1}), 2.7}), 2);
  EXPECT_EQ(only("aten::where.self_out", {row(boolean, {1}), scalar(float64, -1e9), row(float16, {1})}), -inf);
}

// -- integers and bool ------------------------------------------------------------------------------------------------

TEST(Integers, Wrap) {
  EXPECT_EQ(sum(int32, 2147483647, 1, Int{1}), -2147483648.0);
  EXPECT_EQ(sum(uint8, 255, 1, Int{1}), 0);
  EXPECT_EQ(unary("aten::neg.out", uint8, 1), 255);
  EXPECT_EQ(unary("aten::abs.out", int8, -128), -128);
  EXPECT_EQ(values_of<Int>(result("aten::abs.out", {tensor<Int>(int64, {1}, {least})})).at(0), least);
}

TEST(Integers, DivideWithEachRounding) {
  EXPECT_EQ(binary("aten::floor_divide.out", int32, 7, -2), -4);
  EXPECT_EQ(divided("floor", int32, 7, -2), -4);
  EXPECT_EQ(divided("trunc", int32, 7, -2), -3);
  EXPECT_EQ(binary("aten::remainder.Tensor_out", int32, -7, 2), 1);
  EXPECT_EQ(binary("aten::fmod.Tensor_out", int32, -7, 2), -1);
}

TEST(Integers, LeastDividedByMinusOneDoesNotTrap) {
  EXPECT_EQ(binary("aten::floor_divide.out", int32, -2147483648.0, -1), -2147483648.0);
  EXPECT_EQ(
      values_of<Int>(result("aten::floor_divide.out", {tensor<Int>(int64, {1}, {least}), row(int64, {-1})})).at(0),
      least);
  EXPECT_EQ(binary("aten::remainder.Tensor_out", int8, -128, -1), 0);
}

TEST(Integers, DivisionByZeroIsAFaultUnlessNothingIsDivided) {
  for (const auto& [name, rule] : {std::pair{"aten::floor_divide.out", "floor_divide.D1"},
                                   {"aten::remainder.Tensor_out", "remainder.Tensor.D1"},
                                   {"aten::fmod.Tensor_out", "fmod.Tensor.D1"}}) {
    EXPECT_EQ(refusal(name, {row(int32, {1}), row(int32, {0})}), rule);
    EXPECT_EQ(refusal(name, {row(int32, {}), row(int32, {0})}), "");
  }
  EXPECT_EQ(refusal("aten::fmod.Scalar_out", {row(uint8, {1}), Int{256}}), "fmod.Scalar.D1");
  EXPECT_THAT(binary("aten::div.out", int32, 0, 0), NanSensitiveDoubleEq(nan));
}

TEST(Integers, PowersWrapAndNegativeOnesVanish) {
  EXPECT_EQ(values_of<Int>(result("aten::pow.Tensor_Tensor_out", {row(int64, {10}), row(int64, {20})})).at(0),
            7766279631452241920);
  EXPECT_EQ(power(uint8, 2, Int{8}), 0);
  const Tensor bases = row(int32, {1, -1, -1, 2, 0});
  EXPECT_THAT(values_of(result("aten::pow.Tensor_Tensor_out", {bases, row(int32, {-3, -3, -2, -1, -1})})),
              ElementsAre(1, -1, 1, 0, 0));
  EXPECT_EQ(refusal("aten::pow.Tensor_Scalar_out", {bases, Int{-1}}), "pow.Tensor_Scalar.R1");
}

TEST(Integers, PowerTakesTheKindOfTheExponent) {
  EXPECT_EQ(result("aten::pow.Tensor_Scalar_out", {row(int32, {2}), 2.0}).dtype, float32);
  EXPECT_EQ(result("aten::pow.Tensor_Scalar_out", {row(boolean, {1}), Int{2}}).dtype, int64);
  EXPECT_EQ(result("aten::pow.Scalar_out", {2.5, row(int64, {2})}).dtype, float32);
}

TEST(Bool, HasNoArithmeticButAddAndMul) {
  EXPECT_EQ(sum(boolean, 1, 1, Int{1}), true);
  EXPECT_EQ(binary("aten::mul.out", boolean, 1, 0), false);
  EXPECT_EQ(binary("aten::div.out", boolean, 1, 1), 1);
  for (const auto* name :
       {"aten::remainder.Tensor_out", "aten::fmod.Tensor_out", "aten::floor_divide.out", "aten::pow.Tensor_Tensor_out"})
    EXPECT_NE(refusal(name, {row(boolean, {1}), row(boolean, {1})}), "") << name;
  for (const auto* name : {"aten::abs.out", "aten::neg.out", "aten::ceil.out", "aten::relu.out"})
    EXPECT_NE(refusal(name, {row(boolean, {1})}), "") << name;
  EXPECT_EQ(refusal("aten::sub.out", {row(float32, {1}), row(boolean, {1}), Int{1}}), "sub.R2");
  EXPECT_EQ(refusal("aten::rsub.Scalar_out", {row(float32, {1}), true, Int{1}}), "rsub.Scalar.R2");
  EXPECT_EQ(refusal("aten::clamp.out", {row(boolean, {1}), false, true}), "clamp.R2");
}

TEST(Bits, OfBoolAreOneAndFloatsHaveNone) {
  EXPECT_EQ(unary("aten::bitwise_not.out", boolean, 1), false);
  EXPECT_EQ(unary("aten::bitwise_not.out", uint8, 1), 254);
  EXPECT_EQ(unary("aten::bitwise_not.out", int8, 1), -2);
  EXPECT_EQ(result("aten::bitwise_and.Tensor_out", {row(boolean, {1}), row(int64, {3})}).dtype, int64);
  EXPECT_EQ(refusal("aten::bitwise_or.Scalar_out", {row(int64, {1}), 1.0}), "bitwise_or.Scalar.R1");
}

TEST(Logic, NanIsTrue) {
  EXPECT_EQ(only("aten::logical_and.out", {row(float32, {nan}), row(int8, {-1})}), true);
  EXPECT_EQ(unary("aten::logical_not.out", float32, -0.0), true);
  EXPECT_EQ(only("aten::logical_or.out", {row(float16, {0}), scalar(float64, 1e-9)}), false);  // 0 in float16
}

TEST(Logic, IntegersAreNeitherInfiniteNorNan) {
  for (const auto* name : {"aten::isinf.out", "aten::isnan.out"})
    for (const DType dtype : {boolean, int64, uint64}) EXPECT_EQ(unary(name, dtype, 1), false) << name;
}

// -- floating edge cases ----------------------------------------------------------------------------------------------

struct Pair {
  Real a, b, expected;
};

void expect_all(std::string_view name, const std::vector<Pair>& pairs) {
  for (const auto& [a, b, expected] : pairs)
    EXPECT_TRUE(same(binary(name, float32, a, b), expected))
        << name << " of " << a << " and " << b << " is " << binary(name, float32, a, b);
}

TEST(Floats, FloorDivide) {
  expect_all("aten::floor_divide.out", {{1, 0, inf},
                                        {-1, 0, -inf},
                                        {0, 0, nan},
                                        {nan, 0, nan},
                                        {inf, 2, nan},
                                        {1, inf, 0},
                                        {-1, inf, -1},
                                        {1, 0.1, 9},
                                        {6, 0.1, 59},
                                        {-0.0, 3, -0.0}});
  EXPECT_EQ(divided("trunc", float32, inf, 2), inf);
}

TEST(Floats, TruncDropsTheFractionOfTheRoundedQuotient) {
  EXPECT_EQ(divided("trunc", float32, 1, 0.1), 10);
  const Tensor dividends = row(float16, {8.4765625, 8.4765625});
  const auto quotient = [&](const std::vector<Real>& divisors) {
    return only("aten::div.out_mode", {dividends, row(float16, divisors), std::string("trunc")});
  };
  EXPECT_EQ(quotient({0.061004638671875, 1}), 139);  // rounded to float16
  EXPECT_EQ(quotient({0.061004638671875}), 138);     // a single divisor keeps the quotient in float32
}

TEST(Floats, Remainders) {
  expect_all("aten::remainder.Tensor_out",
             {{5, 0, nan}, {inf, 2, nan}, {5, inf, 5}, {-5, inf, inf}, {-1e-20, 1, 1}, {-0.0, 3, -0.0}});
  expect_all("aten::fmod.Tensor_out", {{-5, inf, -5}, {5, 0, nan}, {-6, 3, -0.0}});
}

TEST(Floats, Powers) {
  expect_all("aten::pow.Tensor_Tensor_out", {{1, nan, 1},
                                             {nan, 0, 1},
                                             {-1, inf, 1},
                                             {0, -1, inf},
                                             {-0.0, -1, -inf},
                                             {-8, 1.0 / 3, nan},
                                             {-0.0, 0.5, 0},
                                             {-inf, 0.5, inf}});
}

TEST(Floats, ScalarExponentOfOneHalfIsARoot) {
  EXPECT_TRUE(same(power(float32, -0.0, 0.5), -0.0));
  EXPECT_TRUE(same(power(float32, -inf, 0.5), nan));
  EXPECT_TRUE(same(power(float32, -0.0, -0.5), -inf));
  EXPECT_TRUE(same(power(float16, -0.0, 0.5), 0.0));  // float16 computes a power, which gives +0
  EXPECT_TRUE(same(power(float16, -inf, -0.5), 0.0));
}

TEST(Floats, OneHasThePowerOneInEveryDType) {
  EXPECT_EQ(only("aten::pow.Scalar_out", {Int{1}, row(uint16, {7})}), 1);
  EXPECT_EQ(refusal("aten::pow.Scalar_out", {Int{2}, row(uint16, {7})}), "pow.Scalar.R2");
  EXPECT_EQ(power(uint16, 7, Int{1}), 7);
  EXPECT_EQ(power(boolean, 1, false), true);
  EXPECT_EQ(refusal("aten::pow.Tensor_Scalar_out", {row(uint16, {7}), Int{2}}), "pow.Tensor_Scalar.R2");
}

TEST(Floats, NanWinsEveryComparison) {
  for (const auto* name : {"aten::maximum.out", "aten::minimum.out"}) expect_all(name, {{nan, 1, nan}, {1, nan, nan}});
  EXPECT_TRUE(same(clamped(float32, nan, -1.0, 1.0), nan));
  EXPECT_TRUE(same(clamped(float32, 0, nan, 1.0), nan));
  EXPECT_TRUE(same(unary("aten::relu.out", float32, nan), nan));
  EXPECT_EQ(unary("aten::sign.out", float32, nan), 0);
  EXPECT_TRUE(same(only("aten::hardtanh.out", {row(float32, {nan}), -1.0, 1.0}), nan));
}

TEST(Floats, ZerosKeepTheirSign) {
  for (const auto& [name, x] : {std::pair{"aten::round.out", -0.3},
                                {"aten::round.out", -0.5},
                                {"aten::ceil.out", -0.3},
                                {"aten::trunc.out", -0.3},
                                {"aten::relu.out", -0.0},
                                {"aten::sqrt.out", -0.0}})
    EXPECT_TRUE(same(unary(name, float32, x), -0.0)) << name;
  EXPECT_TRUE(same(unary("aten::sign.out", float32, -0.0), 0));
  EXPECT_TRUE(same(clamped(float32, -0.0, 0.0, none), -0.0));
  EXPECT_TRUE(same(only("aten::leaky_relu.out", {row(float32, {-1}), Int{0}}), -0.0));
}

TEST(Floats, LimitsOfFunctions) {
  const auto at = [](std::string_view name, Real x) { return unary(name, float32, x); };
  for (const auto& [name, x, y] : {std::tuple{"aten::log.out", -0.0, -inf},
                                   {"aten::rsqrt.out", -0.0, -inf},
                                   {"aten::expm1.out", -inf, -1.0},
                                   {"aten::log1p.out", -1.0, -inf},
                                   {"aten::log1p.out", -2.0, nan},
                                   {"aten::sigmoid.out", -inf, 0.0},
                                   {"aten::round.out", 2.5, 2.0},
                                   {"aten::tan.out", 1.5707963705062866, -22877332.0}})
    EXPECT_TRUE(same(at(name, x), y)) << name << " of " << x << " is " << at(name, x);
  EXPECT_TRUE(same(only("aten::leaky_relu.out", {row(float32, {-inf}), Int{0}}), nan));
}

TEST(Floats, GeluOfInfinities) {
  for (const auto* form : {"none", "tanh"}) {
    EXPECT_TRUE(same(only("aten::gelu.out", {row(float32, {inf}), std::string(form)}), inf));
    EXPECT_TRUE(same(only("aten::gelu.out", {row(float32, {-inf}), std::string(form)}), nan));
  }
}

// -- clamping ---------------------------------------------------------------------------------------------------------

TEST(Floats, AngleOfSignedZeros) {
  constexpr Real pi = 3.1415927410125732;
  EXPECT_EQ(binary("aten::atan2.out", float32, 0.0, -0.0), pi);
  EXPECT_EQ(binary("aten::atan2.out", float32, -0.0, -0.0), -pi);
  EXPECT_EQ(result("aten::atan2.out", {row(int64, {1}), row(int64, {1})}).dtype, float32);
}

TEST(Floats, LogitClampsOnlyWithEps) {
  const auto logit = [](Real x, const Value& eps) { return only("aten::logit.out", {row(float32, {x}), eps}); };
  EXPECT_EQ(logit(0, none), -inf);
  EXPECT_EQ(logit(1, none), inf);
  EXPECT_TRUE(std::isnan(logit(-1, none)));
  EXPECT_FLOAT_EQ(static_cast<float>(logit(-1, 0.1)), -2.1972246F);
  EXPECT_TRUE(std::isnan(logit(nan, 0.1)));
  EXPECT_EQ(refusal("aten::logit.out", {row(float16, {1}), 1e30}), "logit.R1");
}

TEST(Floats, EluScalesEachSideItsWay) {
  const auto elu = [](DType dtype, Real x) { return only("aten::elu.out", {row(dtype, {x}), Int{1}, Int{2}, Int{3}}); };
  EXPECT_FLOAT_EQ(static_cast<float>(elu(float32, -1)), -1.9004259F);
  EXPECT_EQ(elu(float32, 1), 2);
  EXPECT_TRUE(same(elu(float32, -0.0), -0.0));
  EXPECT_EQ(refusal("aten::elu.out", {row(int32, {1}), Int{1}, Int{1}, Int{1}}), "elu.R1");
}

TEST(Floats, GluHalvesADimension) {
  const Value last = Int{-1};
  EXPECT_EQ(result("aten::glu.out", {make(float32, {2, 4}), last}).sizes, (Dims{2, 2}));
  EXPECT_EQ(result("aten::glu.out", {make(float32, {2, 4}, {1, 0}), last}).dim_order, (Dims{1, 0}));
  EXPECT_EQ(refusal("aten::glu.out", {make(float32, {2, 3}), last}), "glu.R3");
  EXPECT_EQ(refusal("aten::glu.out", {make(float32, {}), last}), "glu.R3");
}

TEST(Shift, BeyondTheTypeLeavesNothingButTheSign) {
  const auto shifted = [](std::string_view way, DType dtype, Real x, Int by) {
    return only("aten::bitwise_" + std::string(way) + "_shift.Tensor_Scalar_out", {row(dtype, {x}), by});
  };
  EXPECT_EQ(shifted("left", int8, 1, 7), -128);
  EXPECT_EQ(shifted("left", int8, 1, 8), 0);
  EXPECT_EQ(shifted("left", int32, 1, -1), 0);
  EXPECT_EQ(shifted("right", int8, -128, 100), -1);
  EXPECT_EQ(shifted("right", int8, -128, -1), -1);
  EXPECT_EQ(shifted("right", uint8, 255, 8), 0);
}

TEST(Clamp, UpperLimitWins) {
  EXPECT_EQ(clamped(float32, 0, Int{5}, Int{2}), 2);
  EXPECT_EQ(only("aten::hardtanh.out", {row(float32, {0}), Int{5}, Int{2}}), 2);
}

TEST(Clamp, BesideNanALimitMayBeOfAnySize) {
  EXPECT_TRUE(same(clamped(float16, 0, nan, 1e9), nan));
  EXPECT_TRUE(same(clamped(float16, 0, -1e9, nan), nan));
  EXPECT_EQ(refusal("aten::clamp.out", {row(float16, {1}), Int{0}, 1e9}), "clamp.R4");
}

TEST(Clamp, OneTensorLimitOfBoolIsFine) {
  const Value flag = row(boolean, {0});
  EXPECT_EQ(only("aten::clamp.Tensor_out", {row(boolean, {1}), none, flag}), false);
  EXPECT_EQ(refusal("aten::clamp.Tensor_out", {row(boolean, {1}), flag, flag}), "clamp.Tensor.R3");
}

TEST(Clamp, LimitsFit) {
  EXPECT_EQ(refusal("aten::clamp.out", {row(uint8, {1}), none, Int{300}}), "clamp.R4");
  EXPECT_EQ(refusal("aten::clamp.out", {row(float16, {1}), none, 1e9}), "clamp.R4");
  EXPECT_EQ(refusal("aten::clamp.out", {row(uint8, {1}), none, none}), "clamp.R1");
  EXPECT_EQ(refusal("aten::hardtanh.out", {row(uint8, {1}), Int{-1}, Int{1}}), "hardtanh.R2");
  EXPECT_EQ(refusal("aten::hardtanh.out", {row(uint8, {1}), -0.5, 255.5}), "");
}

// -- casts ------------------------------------------------------------------------------------------------------------

TEST(Casts, OfFloatsToIntegersTruncateAndKeepTheLowBits) {
  struct Case {
    DType to;
    Real x, expected;
  };
  for (const auto& [to, x, expected] : {Case{int32, nan, -2147483648.0},
                                        {int32, 3e9, -2147483648.0},
                                        {uint8, 300, 44},
                                        {uint8, -1, 255},
                                        {uint8, -300, 212},
                                        {uint8, 3000000001, 1},
                                        {uint8, inf, 0},
                                        {int8, 300, 44},
                                        {uint16, 70000, 4464},
                                        {int16, 2147483648.0, 0},
                                        {boolean, nan, 1},
                                        {boolean, 1e-45, 1},
                                        {boolean, -0.0, 0}})
    EXPECT_EQ(values_of(cast(row(float64, {x}), to)).at(0), expected) << x << " to " << info(to).name;
  EXPECT_EQ(values_of<Int>(cast(row(float32, {nan}), int64)).at(0), least);
}

TEST(Casts, RoundToEven) {
  EXPECT_THAT(values_of(cast(row(float32, {65519, 65520, 2.98e-8}), float16)), ElementsAre(65504, inf, 0));
  EXPECT_THAT(values_of(cast(row(int64, {2049, 65520}), float16)), ElementsAre(2048, inf));
  EXPECT_EQ(values_of(cast(row(int64, {16777217}), float32)).at(0), 16777216);
}

TEST(Casts, OfFloat64ToHalfTypesGoThroughFloat32) {
  EXPECT_EQ(values_of(cast(row(float64, {1 + std::ldexp(1, -11) + std::ldexp(1, -30)}), float16)).at(0), 1);
}

// -- outs -------------------------------------------------------------------------------------------------------------

Answer into(std::string_view name, std::vector<Value> arguments, DType out) {
  arguments.emplace_back(make(out, {1}));
  return call(*find_operator(name), arguments);
}

TEST(Outs, MayHaveAnotherDTypeOfTheSameOrAHigherKind) {
  EXPECT_EQ(into("aten::add.out", {row(int64, {300}), row(int64, {0}), Int{1}}, int8).outcome, Outcome::ok);
  EXPECT_EQ(into("aten::add.out", {row(float32, {1}), row(float32, {1}), Int{1}}, int32).rule, "add.out");
  EXPECT_EQ(into("aten::add.out", {row(int64, {1}), row(int64, {1}), Int{1}}, boolean).rule, "add.out");
  EXPECT_EQ(into("aten::lt.Tensor_out", {row(int64, {1}), row(int64, {1})}, float32).outcome, Outcome::ok);
  EXPECT_EQ(into("aten::logical_not.out", {row(int64, {1})}, uint16).rule, "logical_not.out");
}

TEST(Outs, OfOperatorsWithoutCastsHaveTheDTypeOfTheResult) {
  EXPECT_EQ(into("aten::abs.out", {row(float32, {1})}, float64).rule, "abs.R2");
  EXPECT_EQ(into("aten::add.Scalar_out", {row(float32, {1}), Int{1}, Int{1}}, float64).rule, "add.Scalar.out");
  EXPECT_EQ(into("aten::where.self_out", {row(boolean, {1}), row(float32, {1}), row(float32, {1})}, float64).rule,
            "where.self.out");
}

TEST(Outs, OfOneToAnyPowerMayHaveAnyDType) {
  EXPECT_EQ(into("aten::pow.Scalar_out", {Int{1}, row(float32, {2})}, int32).outcome, Outcome::ok);
  EXPECT_EQ(into("aten::pow.Scalar_out", {Int{2}, row(float32, {2})}, int32).rule, "pow.Scalar.out");
  EXPECT_EQ(into("aten::pow.Scalar_out", {Int{1}, row(float32, {2})}, qint8).rule, "pow.Scalar.out");
}

TEST(Layout, IsThatOfTheFirstUnambiguousOperand) {
  const auto order = [](const Tensor& self, const Tensor& other) {
    return result("aten::mul.out", {self, other}).dim_order;
  };
  const Tensor last = make(float32, {2, 3, 2, 2}, {0, 2, 3, 1});
  EXPECT_EQ(order(make(float32, {2, 3, 2, 2}), last), (Dims{0, 1, 2, 3}));
  EXPECT_EQ(order(last, make(float32, {2, 3, 2, 2})), (Dims{0, 2, 3, 1}));
  EXPECT_EQ(order(make(float32, {3, 1, 1}), last), (Dims{0, 2, 3, 1}));  // broadcast along both other dimensions
  EXPECT_EQ(order(make(float32, {2, 2}), last), (Dims{0, 2, 3, 1}));     // agrees
  EXPECT_EQ(order(make(float32, {3, 2, 2}), last), (Dims{0, 1, 2, 3}));
  EXPECT_EQ(order(make(float32, {3, 1}, {1, 0}), make(float32, {1, 2}, {1, 0})), (Dims{0, 1}));
}

}  // namespace traps_elementwise_test
}  // namespace assay
