#include <gmock/gmock-matchers.h>

#include <limits>

#include "tests/support/calls.h"

// Common errors in reimplementations of reductions, scans and norms. Each expected value is the answer of eager
// PyTorch.
namespace assay {
namespace traps_reduction_test {

using enum DType;
using testing::Each;
using testing::ElementsAre;
using testing::IsNan;

constexpr Real inf = std::numeric_limits<Real>::infinity(), nan = std::numeric_limits<Real>::quiet_NaN();
const Value none;
const Value all_dims = none;
Value number(DType dtype) { return static_cast<Int>(dtype); }

Tensor row(DType dtype, const std::vector<Real>& values) {
  return tensor(dtype, {static_cast<Int>(values.size())}, values);
}
Tensor repeated(DType dtype, Int n, Real value) {
  return row(dtype, std::vector<Real>(static_cast<std::size_t>(n), value));
}

Tensor sum(const Tensor& self, const Value& dtype = none) {
  return result("aten::sum.IntList_out", {self, all_dims, false, dtype});
}
Tensor mean(const Tensor& self, const Value& dtype = none) {
  return result("aten::mean.out", {self, all_dims, false, dtype});
}
Tensor variance(const Tensor& self, const Value& correction = none) {
  return result("aten::var.correction_out", {self, all_dims, correction, false});
}
Tensor cumsum(const Tensor& self) { return result("aten::cumsum.out", {self, Int{0}, none}); }
Real only(const Tensor& t) { return values_of(t).at(0); }

// -- sums and products ------------------------------------------------------------------------------------------------

TEST(Sum, IntegersAndBoolsAreSummedInInt64) {
  for (const DType dtype : {boolean, uint8, int8, int16, int32, int64, uint16, uint32, uint64})
    EXPECT_EQ(sum(row(dtype, {1, 1})).dtype, int64) << info(dtype).name;
  EXPECT_EQ(only(sum(repeated(boolean, 300, 1))), 300);
}

TEST(Sum, ElementsAreCastFirst) {
  EXPECT_EQ(only(sum(row(float32, {0.6, 0.6}), number(int64))), 0);
  EXPECT_EQ(only(sum(row(int32, {100, 100}), number(int8))), -56);
  EXPECT_EQ(only(sum(row(int32, {2, -2}), number(boolean))), 1);
}

TEST(Sum, HalfTypesAreSummedWide) {
  EXPECT_EQ(only(sum(repeated(float16, 5000, 1))), 5000);
  EXPECT_EQ(only(sum(repeated(bfloat16, 5000, 1))), 4992);
  EXPECT_EQ(only(sum(row(float16, {60000, 60000, -60000}))), 60000);
}

TEST(Sum, NoKernelForWideUnsignedUnlessEmpty) {
  EXPECT_EQ(refusal("aten::sum.IntList_out", {row(float32, {1}), all_dims, false, number(uint16)}), "sum.IntList.R2");
  EXPECT_EQ(sum(row(float32, {}), number(uint16)).dtype, uint16);
}

TEST(Mean, OfIntegersNeedsADtype) {
  EXPECT_EQ(refusal("aten::mean.out", {row(int32, {1, 2}), all_dims, false, none}), "mean.R1");
  EXPECT_EQ(only(mean(row(int32, {1, 2}), number(float32))), 1.5);
}

TEST(Mean, HalfTypesAreSummedInFloat32EvenFromWiderElements) {
  EXPECT_EQ(only(mean(repeated(float16, 4, 60000))), 60000);
  EXPECT_NEAR(only(mean(row(float32, {70000, -70000, 1}), number(float16))), 1.0 / 3, 1e-3);
}

TEST(Product, IntegersAreMultipliedInInt64) {
  const Tensor product = result("aten::prod.out", {row(int8, {100, 100}), none});
  EXPECT_EQ(product.dtype, int64);
  EXPECT_EQ(only(product), 10000);
}

// -- extremes ---------------------------------------------------------------------------------------------------------

TEST(Extremes, FirstOfEqualsAndFirstNan) {
  const std::vector<Tensor> ties =
      results("aten::max.dim_max", {tensor(float32, {2, 3}, {1, 2, 2, 0, -0.0, 0}), Int{1}, false});
  EXPECT_THAT(values_of(ties[1]), ElementsAre(1, 0));
  const std::vector<Tensor> nans = results("aten::min.dim_min", {row(float32, {1, nan, -inf, nan}), Int{0}, false});
  EXPECT_THAT(only(nans[0]), IsNan());
  EXPECT_EQ(only(nans[1]), 1);
}

TEST(Extremes, EmptyDimensionIsRefusedAnEmptyResultIsNot) {
  const Tensor empty = tensor(float32, {0, 3}, {});
  EXPECT_EQ(refusal("aten::amax.out", {empty, Ints{0}, false}), "amax.R2");
  EXPECT_EQ(refusal("aten::amax.out", {empty, Ints{}, false}), "amax.R2");
  EXPECT_EQ(result("aten::amax.out", {empty, Ints{1}, false}).sizes, Dims{0});
  EXPECT_EQ(refusal("aten::argmax.out", {empty, none, false}), "argmax.R3");
  EXPECT_EQ(refusal("aten::max.unary_out", {empty}), "max.unary.R1");
}

TEST(Extremes, BoolHasNoArgmax) {
  EXPECT_EQ(refusal("aten::argmax.out", {row(boolean, {1}), none, false}), "argmax.R1");
}

TEST(Extremes, WideUnsignedHasAnArgmaxOfOneElement) {
  const auto refused = [](const Value& dim) {
    return refusal("aten::argmax.out", {tensor(uint16, {2, 1}, {1, 2}), dim, false});
  };
  EXPECT_EQ(refused(Int{1}), "");
  EXPECT_EQ(refused(Int{0}), "argmax.R4");
  EXPECT_EQ(refused(none), "argmax.R4");
}

TEST(Extremes, ArgmaxOfAllDimensionsIsFlat) {
  const Tensor place = result("aten::argmax.out", {tensor(int32, {2, 2}, {1, 2, 4, 3}), none, true});
  EXPECT_EQ(place.sizes, (Dims{1, 1}));
  EXPECT_EQ(only(place), 2);
}

TEST(Extremes, WideUnsignedOnlyWhereThereIsNothingToCompare) {
  EXPECT_EQ(refusal("aten::max.dim_max", {row(uint64, {1, 2}), Int{0}, false}), "max.dim_max.R3");
  EXPECT_EQ(result("aten::max.dim_max", {tensor(uint64, {}, {3}), Int{0}, false}).dtype, uint64);
}

// -- any --------------------------------------------------------------------------------------------------------------

TEST(Any, Uint8StaysUint8) {
  const Tensor some = result("aten::any.all_out", {row(uint8, {7, 0})});
  EXPECT_EQ(some.dtype, uint8);
  EXPECT_EQ(only(some), 1);
  EXPECT_EQ(result("aten::any.all_out", {row(int8, {7, 0})}).dtype, boolean);
}

TEST(Any, NanIsTrueAndNothingIsFalse) {
  EXPECT_EQ(only(result("aten::any.all_out", {row(float32, {nan})})), 1);
  EXPECT_EQ(only(result("aten::any.all_out", {row(float32, {-0.0})})), 0);
  EXPECT_EQ(only(result("aten::any.all_out", {row(float32, {})})), 0);
}

TEST(Any, EmptyListOfDimensionsReducesNone) {
  const Tensor self = tensor(float32, {2, 2}, {0, 0.5, 0, 2});
  EXPECT_THAT(values_of(result("aten::any.dims_out", {self, Ints{}, false})), ElementsAre(0, 1, 0, 1));
  EXPECT_THAT(values_of(result("aten::any.dims_out", {self, none, false})), ElementsAre(1));
}

// -- dimensions -------------------------------------------------------------------------------------------------------

TEST(ReducedDimensions, EmptyListMeansAll) {
  EXPECT_EQ(result("aten::sum.IntList_out", {tensor(float32, {2, 2}, {1, 2, 3, 4}), Ints{}, false, none}).sizes,
            Dims{});
}

TEST(ReducedDimensions, ScalarHasOne) {
  const Tensor scalar = tensor(float32, {}, {3});
  for (const Int dim : {0, -1}) EXPECT_EQ(only(result("aten::prod.int_out", {scalar, dim, true, none})), 3);
  EXPECT_EQ(refusal("aten::prod.int_out", {scalar, Int{1}, true, none}), "prod.int.R1");
  EXPECT_EQ(refusal("aten::sum.IntList_out", {scalar, Ints{0, -1}, true, none}), "sum.IntList.R1");
}

// -- variance ---------------------------------------------------------------------------------------------------------

TEST(Variance, NoDegreesOfFreedom) {
  EXPECT_THAT(only(variance(row(float32, {1}))), IsNan());
  EXPECT_EQ(only(variance(row(float32, {1}), Int{0})), 0);
  EXPECT_EQ(only(variance(row(float32, {1, 2}), Int{2})), inf);
  EXPECT_EQ(only(variance(row(float32, {1, 2}), Int{3})), inf);
  EXPECT_EQ(only(variance(row(float32, {1, 2}), nan)), inf);
  EXPECT_THAT(only(variance(row(float32, {}), Int{-1})), IsNan());
}

TEST(Variance, CorrectionMayBeFractionalOrNegative) {
  EXPECT_FLOAT_EQ(static_cast<float>(only(variance(row(float32, {1, 2}), 0.5))), 1.0f / 3);
  EXPECT_FLOAT_EQ(static_cast<float>(only(variance(row(float32, {1, 2}), Int{-1}))), 1.0f / 6);
}

TEST(Variance, LargeMeanLosesNothing) { EXPECT_EQ(only(variance(row(float32, {1e8, 1e8 + 8, 1e8 + 16}))), 64); }

TEST(Variance, HalfResultMayOverflow) { EXPECT_EQ(only(variance(row(float16, {0, 500}))), inf); }

// -- softmax ----------------------------------------------------------------------------------------------------------

TEST(Softmax, HalfToFloatIsRefused) {
  EXPECT_EQ(refusal("aten::_softmax.out", {row(float16, {1}), Int{0}, true}), "_softmax.R2");
}

// -- scans ------------------------------------------------------------------------------------------------------------

TEST(CumulativeSum, BoolHasNone) {
  EXPECT_EQ(refusal("aten::cumsum.out", {row(int32, {1, 2}), Int{0}, number(boolean)}), "cumsum.R2");
}

TEST(TopK, NanIsLargest) {
  EXPECT_THAT(values_of(results("aten::topk.values", {row(float32, {5, nan, inf}), Int{2}, Int{0}, true, true})[1]),
              ElementsAre(1, 2));
  EXPECT_THAT(values_of(results("aten::topk.values", {row(float32, {5, nan, -inf}), Int{2}, Int{0}, false, true})[1]),
              ElementsAre(2, 0));
}

TEST(TopK, WritesBothOutsOrNone) {
  const Tensor before = row(float32, {7});
  std::vector<Value> arguments{row(float32, {5, 1}), Int{1}, Int{0}, true, true, before, row(float32, {7})};
  EXPECT_EQ(call(*find_operator("aten::topk.values"), arguments).rule, "topk.values.out");
  EXPECT_EQ(std::get<Tensor>(arguments[5]).bytes, before.bytes);
}

TEST(TopK, KIsBetweenNoneAndAll) {
  EXPECT_EQ(result("aten::topk.values", {row(int32, {5, 1}), Int{0}, Int{0}, true, true}).sizes, Dims{0});
  EXPECT_EQ(refusal("aten::topk.values", {row(int32, {5, 1}), Int{3}, Int{0}, true, true}), "topk.values.R2");
  EXPECT_EQ(result("aten::topk.values", {tensor(int32, {}, {5}), Int{0}, Int{0}, true, true}).sizes, Dims{});
}

// -- norms ------------------------------------------------------------------------------------------------------------

TEST(LayerNorm, StatisticsKeepTheRankAndHaveTheParametersDtype) {
  const std::vector<Tensor> outs = results("aten::native_layer_norm.out", {tensor(float16, {2, 2}, {1, 3, 5, 5}),
                                                                           Ints{2}, row(float32, {1, 1}), none, 1e-5});
  EXPECT_EQ(outs[0].dtype, float16);
  EXPECT_EQ(outs[1].dtype, float32);
  EXPECT_EQ(outs[2].sizes, (Dims{2, 1}));
  EXPECT_EQ(refusal("aten::native_layer_norm.out",
                    {tensor(float32, {2, 2}, {1, 3, 5, 5}), Ints{2}, row(float16, {1, 1}), none, 1e-5}),
            "native_layer_norm.R6");
}

TEST(LayerNorm, ConstantRow) {
  const auto norm = [](double eps) {
    return values_of(
        result("aten::native_layer_norm.out", {tensor(float32, {1, 3}, {1, 1, 1}), Ints{3}, none, none, eps}));
  };
  EXPECT_THAT(norm(1e-5), Each(0));
  EXPECT_THAT(norm(0), Each(IsNan()));
}

TEST(GroupNorm, StatisticsAreATableOfGroups) {
  const std::vector<Tensor> outs = results("aten::native_group_norm.out", {tensor(float32, {1, 4}, {1, 3, 5, 9}), none,
                                                                           none, Int{1}, Int{4}, Int{1}, Int{2}, 0.0});
  EXPECT_THAT(values_of(outs[0]), ElementsAre(-1, 1, -1, 1));
  EXPECT_EQ(outs[1].sizes, (Dims{1, 2}));
  EXPECT_THAT(values_of(outs[1]), ElementsAre(2, 7));
}

TEST(BatchNorm, SavesNothing) {
  const std::vector<Tensor> outs =
      results("aten::_native_batch_norm_legit_no_training.out",
              {tensor(float16, {1, 1}, {3}), none, none, row(float32, {1}), row(float32, {4}), 0.1, 0.0});
  EXPECT_THAT(values_of(outs[0]), ElementsAre(1));
  EXPECT_EQ(outs[1].sizes, Dims{0});
  EXPECT_EQ(outs[1].dtype, float32);
}

}  // namespace traps_reduction_test
}  // namespace assay
