#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/calls.h"

// Common errors in reimplementations of operators on numbers. Unless a test states otherwise, each expected value is
// the answer of Python.
namespace assay {
namespace traps_number_test {

constexpr Int least = std::numeric_limits<Int>::min(), most = std::numeric_limits<Int>::max();
constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();

std::string full_name(std::string_view base) { return "executorch_prim::" + std::string(base); }

Scalar number(std::string_view name, std::vector<Value> arguments) {
  const Operator* op = find_operator(name);
  arguments.resize(op->arguments.size());
  if (const Answer answer = call(*op, arguments); answer.outcome != Outcome::ok) throw std::runtime_error(answer.rule);
  return number_in(arguments.back()).value();
}

Scalar prim(std::string_view base, std::vector<Value> arguments) {
  return number(full_name(base), std::move(arguments));
}

TEST(Number, KindIsThatOfTheOperands) {
  EXPECT_EQ(prim("add.Scalar", {Int{2}, Int{3}}), Scalar(Int{5}));
  EXPECT_EQ(prim("add.Scalar", {Int{2}, 3.0}), Scalar(5.0));
  EXPECT_EQ(prim("mul.Scalar", {true, true}), Scalar(Int{1}));
  EXPECT_EQ(prim("truediv.Scalar", {Int{6}, Int{3}}), Scalar(2.0));
  EXPECT_EQ(prim("sym_max.Scalar", {Int{3}, 2.0}), Scalar(3.0));
  EXPECT_EQ(prim("sym_ite.Scalar", {false, Int{1}, Int{2}}), Scalar(Int{2}));
  EXPECT_EQ(prim("neg.Scalar", {true}), Scalar(Int{-1}));
}

// Python's integers are unbounded; the integers of a program wrap.
TEST(Number, IntegersWrap) {
  EXPECT_EQ(prim("add.Scalar", {most, Int{1}}), Scalar(least));
  EXPECT_EQ(prim("sub.Scalar", {least, Int{1}}), Scalar(most));
  EXPECT_EQ(prim("mul.Scalar", {most, Int{2}}), Scalar(Int{-2}));
  EXPECT_EQ(prim("neg.Scalar", {least}), Scalar(least));
  EXPECT_EQ(prim("floordiv.int", {least, Int{-1}}), Scalar(least));
  EXPECT_EQ(prim("mod.int", {least, Int{-1}}), Scalar(Int{0}));
}

TEST(Number, QuotientIsRoundedDownAndTheRemainderFollowsTheDivisor) {
  EXPECT_EQ(prim("floordiv.Scalar", {Int{-7}, Int{2}}), Scalar(Int{-4}));
  EXPECT_EQ(prim("floordiv.int", {Int{7}, Int{-2}}), Scalar(Int{-4}));
  EXPECT_EQ(prim("floordiv.Scalar", {6.0, 0.1}), Scalar(59.0));
  EXPECT_EQ(prim("mod.Scalar", {Int{-7}, Int{2}}), Scalar(Int{1}));
  EXPECT_EQ(prim("mod.int", {Int{7}, Int{-2}}), Scalar(Int{-1}));
}

TEST(Number, DivisionByZeroIsAFault) {
  for (const char* base : {"truediv.Scalar", "floordiv.Scalar", "mod.Scalar", "floordiv.int", "mod.int"})
    EXPECT_EQ(refusal(full_name(base), {Int{1}, Int{0}}), full_name(base) + ".D1");
  EXPECT_EQ(refusal(full_name("truediv.Scalar"), {1.0, -0.0}), full_name("truediv.Scalar") + ".D1");
}

TEST(Number, RoundingGivesAnInteger) {
  EXPECT_EQ(prim("round.Scalar", {2.5}), Scalar(Int{2}));
  EXPECT_EQ(prim("round.Scalar", {-3.5}), Scalar(Int{-4}));
  EXPECT_EQ(prim("ceil.Scalar", {-0.5}), Scalar(Int{0}));
  EXPECT_EQ(prim("trunc.Scalar", {-2.7}), Scalar(Int{-2}));
  EXPECT_EQ(prim("sym_int.Scalar", {-2.7}), Scalar(Int{-2}));
  EXPECT_EQ(prim("ceil.Scalar", {-0x1p63}), Scalar(least));
  for (const double x : {nan, inf, -inf, 0x1p63})
    EXPECT_EQ(refusal(full_name("ceil.Scalar"), {x}), full_name("ceil.Scalar") + ".D1");
}

TEST(Number, NaNIsNeitherLessNorMore) {
  EXPECT_EQ(prim("eq.Scalar", {nan, nan}), Scalar(false));
  EXPECT_EQ(prim("ge.Scalar", {nan, nan}), Scalar(false));
  EXPECT_EQ(prim("sym_max.Scalar", {1.0, nan}), Scalar(1.0));
  EXPECT_TRUE(std::isnan(std::get<double>(prim("sym_min.Scalar", {nan, 1.0}))));
}

TEST(Number, IsReadOffATensor) {
  EXPECT_EQ(number("aten::sym_size.int", {make(DType::float32, {2, 3}), Int{-1}}), Scalar(Int{3}));
  EXPECT_EQ(refusal("aten::sym_size.int", {make(DType::float32, {}), Int{0}}), "sym_size.int.R1");
  EXPECT_EQ(number("aten::sym_numel", {make(DType::float32, {2, 0})}), Scalar(Int{0}));
  EXPECT_EQ(number("aten::_local_scalar_dense", {tensor(DType::boolean, {}, {1})}), Scalar(true));
  EXPECT_EQ(number("aten::_local_scalar_dense", {tensor(DType::float16, {2}, {0.1, 2})}), Scalar(0.0999755859375));
}

// The argument keeps its value; its new value is an additional out.
TEST(InPlace, TheNewValueIsAnOut) {
  const Operator& op = *find_operator("aten::copy_");
  EXPECT_TRUE(op.arguments[0].mutated);
  EXPECT_TRUE(op.arguments.back().out);
  EXPECT_EQ(op.arguments.back().name, "self_out");
  const Tensor self = tensor(DType::int32, {2}, {1, 2});
  EXPECT_EQ(values_of(result("aten::copy_", {self, tensor(DType::float32, {}, {1.7}), false})),
            (std::vector<Real>{1, 1}));
  EXPECT_EQ(result("aten::copy_", {self, tensor(DType::float32, {}, {1.7}), false}).dtype, DType::int32);
}

}  // namespace traps_number_test
}  // namespace assay
