#include <gmock/gmock-matchers.h>

#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "reference/call.h"
#include "tests/support/tensors.h"

// What the reference answers to calls on which golden/traps says nothing: eager PyTorch cannot make them, crashes,
// reads other memory, or is less precise (golden/known_traps.txt).
namespace assay {
namespace unrecorded_calls_test {

using enum DType;
using testing::DoubleEq;
using testing::DoubleNear;
using testing::ElementsAre;

constexpr Int least = std::numeric_limits<Int>::min(), most = std::numeric_limits<Int>::max();
const Value none;

// A call without out arguments, and its answer.
struct Asked {
  Asked(std::string_view name, std::vector<Value> given)
      : op(find_operator(name)), arguments(std::move(given)), answer(answered()) {}
  Tensor out(std::size_t i = 0) const {
    if (!answer.rule.empty()) throw std::runtime_error(answer.rule + ": " + answer.message);
    return std::get<Tensor>(arguments[arguments.size() - op->outs() + i]);
  }
  std::vector<Real> values(std::size_t i = 0) const { return values_of(out(i)); }
  Scalar number() const { return number_in(arguments.back()).value(); }

  const Operator* op;
  std::vector<Value> arguments;
  Answer answer;

 private:
  Answer answered() {
    arguments.resize(op->arguments.size());
    return call(*op, arguments);
  }
};
std::string refusal(std::string_view name, std::vector<Value> arguments) {
  return Asked(name, std::move(arguments)).answer.rule;
}
Tensor ramp(const Dims& sizes) {
  std::vector<Real> values;
  for (Int i = 0; i < count(sizes); ++i) values.push_back(static_cast<Real>(i));
  return tensor(float32, sizes, values);
}

// -- eager is less precise --------------------------------------------------------------------------------------------

TEST(Precision, PowersInADistanceNeitherOverflowNorVanish) {
  const auto distance = [](Real x, Real p) {
    return Asked("aten::_cdist_forward.out",
                 {tensor(float32, {1, 2}, {x, 0}), tensor(float32, {1, 2}, {0, 0}), p, none})
        .values();
  };
  EXPECT_THAT(distance(1e30, 2), ElementsAre(testing::Gt(9e29)));
  EXPECT_THAT(distance(0x1p-20, 100), ElementsAre(0x1p-20));
}

TEST(Precision, ALargeMeanLosesNothingOfAVariance) {
  EXPECT_THAT(
      Asked("aten::var.correction_out", {tensor(float32, {3}, {1e8, 1e8 + 8, 1e8 + 16}), none, none, false}).values(),
      ElementsAre(64));
}

TEST(Precision, OneValuePerChannelIsNormalizedToZero) {
  const Asked norm("aten::_native_batch_norm_legit.no_stats_out",
                   {tensor(float32, {1, 1, 1}, {3}), none, none, true, 0.1, 1e-5});
  EXPECT_THAT(norm.values(), ElementsAre(0));
  EXPECT_THAT(norm.values(2), ElementsAre(DoubleNear(316.2278, 1e-3)));
}

TEST(Precision, AConstantRowIsNormalizedToZero) {
  const Asked constant("aten::native_layer_norm.out", {tensor(float32, {1, 3}, {1, 1, 1}), Ints{3}, none, none, 1e-5});
  EXPECT_THAT(constant.values(), testing::Each(0));
}

TEST(Precision, StatisticsOfALayerNormKeepTheRankAndHaveTheDtypeOfTheParameters) {
  const Asked norm("aten::native_layer_norm.out",
                   {tensor(float16, {2, 2}, {1, 3, 5, 5}), Ints{2}, tensor(float32, {2}, {1, 1}), none, 1e-5});
  EXPECT_EQ(norm.out().dtype, float16);
  EXPECT_EQ(norm.out(1).dtype, float32);
  EXPECT_EQ(norm.out(2).sizes, (Dims{2, 1}));
}

TEST(Precision, AlignedCornersOnlyChangeTheStepOfAnAntialiasedResampling) {  // to 3/2: samples are at 3/4, 9/4 and 15/4
  const Tensor row = tensor(float64, {1, 1, 1, 4}, {0, 12, 24, 36});
  EXPECT_THAT(Asked("aten::_upsample_bilinear2d_aa.out", {row, Ints{1, 3}, true}).values(),
              ElementsAre(DoubleEq(4.5), DoubleEq(64 / 3.0), DoubleEq(34)));
}

TEST(Precision, CausalAttentionStopsAtTheQuery) {
  const Tensor query = tensor(float32, {1, 2, 1, 1}, {0, 0}), keys = tensor(float32, {1, 4, 1, 1}, {0, 0, 0, 0}),
               values = tensor(float32, {1, 4, 1, 1}, {1, 2, 4, 8});
  EXPECT_THAT(Asked("llama::custom_sdpa.out", {query, keys, values, Int{2}, none, 0.0, true, none}).values(),
              ElementsAre(DoubleNear(7 / 3.0, 1e-6), 3.75));
}

// -- eager does not check, or reads other memory ----------------------------------------------------------------------

TEST(Unchecked, TheLeastIntegerDividedByMinus1Wraps) {  // eager ends in a signal
  const Tensor one = tensor(int64, {1, 1, 1}, {-0x1p63});
  EXPECT_THAT(Asked("aten::avg_pool2d.out", {one, Ints{1, 1}, Ints{}, Ints{0, 0}, false, true, Int{-1}}).values(),
              ElementsAre(-0x1p63));
}

TEST(Unchecked, AGivenScaleMustLeaveACellForEachPlace) {
  const auto refused = [](bool align_corners, double scale) {
    return refusal("aten::_upsample_bilinear2d_aa.out", {ramp({1, 1, 1, 4}), Ints{1, 5}, align_corners, none, scale});
  };
  EXPECT_EQ(refused(false, 0.5), "_upsample_bilinear2d_aa.R6");
  EXPECT_EQ(refused(true, 0.5), "");
  EXPECT_EQ(refused(false, -1.0), "");
}

TEST(Unchecked, TheSizesOfPiecesSumWithoutWrapping) {
  EXPECT_EQ(refusal("aten::split_with_sizes_copy.out", {ramp({5}), Ints{most, most, 7}, Int{0}}),
            "split_with_sizes_copy.R4");
}

std::vector<Value> bags(const std::vector<Real>& offsets, bool include_last_offset) {
  return {tensor(float32, {4, 1}, {1, 5, 5, -2}),
          tensor(int64, {4}, {0, 3, 1, 2}),
          tensor(int64, {static_cast<Int>(offsets.size())}, offsets),
          false,
          Int{0},
          false,
          none,
          include_last_offset,
          Int{-1}};
}

TEST(Unchecked, OffsetsOfBagsLeadToTheEndWithoutFalling) {
  EXPECT_EQ(refusal("aten::_embedding_bag.out", bags({0, 3, 2}, false)), "_embedding_bag.D2");
  EXPECT_EQ(refusal("aten::_embedding_bag.out", bags({0, 3}, true)), "_embedding_bag.D2");
}

TEST(Unchecked, AsStridedStaysInItsInput) {  // the inputs of recorded calls are parts of a larger memory
  const auto strided = [](Ints size, Ints stride, const Value& offset) {
    return Asked("aten::as_strided_copy.out", {ramp({2, 3}), size, stride, offset});
  };
  EXPECT_THAT(strided({2, 2}, {1, 2}, Int{1}).values(), ElementsAre(1, 3, 2, 4));
  EXPECT_EQ(strided({2, 4}, {3, 1}, none).answer.rule, "as_strided_copy.R4");
}

// -- eager crashes, or has no such value ------------------------------------------------------------------------------

TEST(Impossible, TheLeastIntegerIsDividedByMinusOne) {
  const auto divided = [](DType dtype, Int x) {
    return values_of<Int>(
        Asked("aten::div.out_mode", {tensor<Int>(dtype, {1}, {x}), tensor<Int>(dtype, {1}, {-1}), std::string("trunc")})
            .out());
  };
  EXPECT_THAT(divided(int32, -2147483648), ElementsAre(-2147483648));
  EXPECT_THAT(divided(int64, least), ElementsAre(least));
}

TEST(Impossible, OneToAnyPowerHasNoOutOfCodes) {
  EXPECT_EQ(refusal("aten::pow.Scalar_out", {Int{1}, tensor(float32, {1}, {2}), make(qint8, {1})}), "pow.Scalar.out");
}

TEST(Impossible, IntegersOfProgramsWrap) {  // those of Python are unbounded
  const auto number = [](std::string_view base, std::vector<Value> arguments) {
    return Asked("executorch_prim::" + std::string(base), std::move(arguments)).number();
  };
  EXPECT_EQ(number("add.Scalar", {most, Int{1}}), Scalar(least));
  EXPECT_EQ(number("sub.Scalar", {least, Int{1}}), Scalar(most));
  EXPECT_EQ(number("mul.Scalar", {most, Int{2}}), Scalar(Int{-2}));
  EXPECT_EQ(number("neg.Scalar", {least}), Scalar(least));
  EXPECT_EQ(number("floordiv.int", {least, Int{-1}}), Scalar(least));
  EXPECT_EQ(refusal("executorch_prim::ceil.Scalar", {0x1p63}), "executorch_prim::ceil.Scalar.D1");
}

// -- what is no answer of eager ---------------------------------------------------------------------------------------

TEST(Reference, WritesAllOutsOrNone) {
  const Tensor before = tensor(float32, {1}, {7});
  const Asked topk("aten::topk.values",
                   {tensor(float32, {2}, {5, 1}), Int{1}, Int{0}, true, true, before, tensor(float32, {1}, {7})});
  EXPECT_EQ(topk.answer.rule, "topk.values.out");
  EXPECT_EQ(std::get<Tensor>(topk.arguments[5]).bytes, before.bytes);
}

TEST(Reference, DoesNotPrintAMillionOffsets) {
  const std::string sentence =
      Asked("aten::_embedding_bag.out", bags(std::vector<Real>(1'000'000, 1), false)).answer.message;
  EXPECT_THAT(sentence, testing::HasSubstr("1, 1, ...)"));
  EXPECT_LT(sentence.size(), 1000u);
}

TEST(Reference, AnArgumentThatIsChangedInPlaceGetsAnOut) {
  const Operator& op = *find_operator("aten::copy_");
  EXPECT_TRUE(op.arguments[0].mutated);
  EXPECT_TRUE(op.arguments.back().out);
  EXPECT_EQ(op.arguments.back().name, "self_out");
}

}  // namespace unrecorded_calls_test
}  // namespace assay
