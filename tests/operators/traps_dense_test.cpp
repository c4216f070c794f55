#include <gmock/gmock-more-matchers.h>

#include <limits>

#include "tests/support/calls.h"

// Common errors in reimplementations of dense operators. Each expected value is the answer of eager PyTorch.
namespace assay {
namespace traps_dense_test {

using enum DType;
using testing::DoubleEq;
using testing::ElementsAre;

constexpr Real inf = std::numeric_limits<Real>::infinity(), nan = std::numeric_limits<Real>::quiet_NaN();
const Value none;
Value number(DType dtype) { return static_cast<Int>(dtype); }

std::vector<Real> ones(Int n) { return std::vector<Real>(static_cast<std::size_t>(n), 1); }

// -- products ---------------------------------------------------------------------------------------------------------

TEST(Product, IntegersWrap) {
  EXPECT_THAT(values_of(result("aten::mm.out", {tensor(int8, {1, 2}, {100, 100}), tensor(int8, {2, 1}, {1, 1})})),
              ElementsAre(-56));
}

TEST(Product, BoolIsRefusedUnlessNothingIsMultiplied) {
  EXPECT_EQ(refusal("aten::mm.out", {tensor(boolean, {1, 1}, {1}), tensor(boolean, {1, 1}, {1})}), "mm.R6");
  EXPECT_THAT(values_of(result("aten::mm.out", {tensor(boolean, {1, 0}, {}), tensor(boolean, {0, 1}, {})})),
              ElementsAre(0));
}

TEST(Product, HalfTypesAccumulateWide) {
  EXPECT_THAT(values_of(result("aten::mm.out",
                               {tensor(float16, {1, 5000}, ones(5000)), tensor(float16, {5000, 1}, ones(5000))})),
              ElementsAre(5000));
}

TEST(Product,
     BiasIsAddedBeforeTheOneRounding) {  // float16 cannot hold 2049; rounding before the bias would lose its last bit
  EXPECT_THAT(values_of(result("aten::addmm.out", {tensor(float16, {1}, {-2048}), tensor(float16, {1, 2}, {2048, 1}),
                                                   tensor(float16, {2, 1}, {1, 1}), Int{1}, Int{1}})),
              ElementsAre(1));
}

TEST(Product, FractionOfAnIntegerFactorIsDropped) {
  EXPECT_THAT(values_of(result("aten::addmm.out", {tensor(int64, {1}, {1}), tensor(int64, {1, 1}, {3}),
                                                   tensor(int64, {1, 1}, {1}), Int{1}, 1.5})),
              ElementsAre(4));
}

TEST(Product, FactorZeroLeavesNanOut) {
  EXPECT_THAT(values_of(result("aten::addmm.out", {tensor(float32, {1}, {nan}), tensor(float32, {1, 1}, {3}),
                                                   tensor(float32, {1, 1}, {2}), Int{0}, Int{1}})),
              ElementsAre(6));
}

TEST(Product, FactorIsRoundedWhereNothingIsMultiplied) {  // float16 cannot hold 65535
  EXPECT_THAT(values_of(result("aten::addmm.out", {tensor(float16, {1}, {0.5}), tensor(float16, {1, 0}, {}),
                                                   tensor(float16, {0, 1}, {}), Int{65535}, Int{1}})),
              ElementsAre(inf));
  EXPECT_THAT(values_of(result("aten::addmm.out", {tensor(float16, {1}, {0.5}), tensor(float16, {1, 1}, {0}),
                                                   tensor(float16, {1, 1}, {0}), Int{65535}, Int{1}})),
              ElementsAre(32768));
}

// -- convolution ------------------------------------------------------------------------------------------------------

struct Convolution {
  Tensor input, weight;
  Value bias = none;
  Ints stride{1}, padding{0}, dilation{1};
  bool transposed = false;
  Ints output_padding{0};
  Int groups = 1;
  std::vector<Value> arguments() const {
    return {input, weight, bias, stride, padding, dilation, transposed, output_padding, groups};
  }
};
constexpr std::string_view convolution = "aten::convolution.out";

TEST(Convolution, KernelIsNotMirrored) {
  EXPECT_THAT(values_of(result(
                  convolution,
                  Convolution{tensor(int32, {1, 1, 3}, {1, 2, 3}), tensor(int32, {1, 1, 2}, {1, 10})}.arguments())),
              ElementsAre(21, 32));
}

TEST(Convolution, OneEntryCountsForEveryDimension) {
  EXPECT_EQ(result(convolution, Convolution{.input = tensor(float32, {1, 1, 3, 3}, ones(9)),
                                            .weight = tensor(float32, {1, 1, 1, 1}, {1}),
                                            .stride = {2}}
                                    .arguments())
                .sizes,
            (Dims{1, 1, 2, 2}));
}

TEST(Convolution, PaddingIsMultiplied) {
  EXPECT_THAT(values_of(result(convolution, Convolution{.input = tensor(float32, {1, 1, 1}, {1}),
                                                        .weight = tensor(float32, {1, 1, 3}, {0, 1, inf}),
                                                        .padding = {1}}
                                                .arguments())),
              ElementsAre(testing::IsNan()));
}

TEST(Convolution, GroupsReadTheirOwnChannels) {
  EXPECT_THAT(values_of(result(convolution, Convolution{.input = tensor(float32, {1, 2, 1}, {3, 5}),
                                                        .weight = tensor(float32, {2, 1, 1}, {10, 100}),
                                                        .groups = 2}
                                                .arguments())),
              ElementsAre(30, 500));
}

TEST(Convolution, NothingInNothingOut) {
  EXPECT_EQ(
      result(convolution,
             Convolution{tensor(uint16, {0, 2, 5}, {}), tensor(uint16, {3, 2, 2}, std::vector<Real>(12))}.arguments())
          .sizes,
      (Dims{0, 3, 4}));
  EXPECT_EQ(result(convolution, Convolution{tensor(float32, {1, 0, 3}, {}), tensor(float32, {3, 0, 2}, {})}.arguments())
                .sizes,
            (Dims{1, 0, 2}));
}

TEST(Convolution, OnlyInt64IsDilatedOrTransposed) {
  const Tensor input = tensor(int32, {1, 1, 3}, {1, 2, 3}), weight = tensor(int32, {1, 1, 2}, {1, 10});
  EXPECT_EQ(refusal(convolution, Convolution{input, weight}.arguments()), "");
  EXPECT_EQ(refusal(convolution, Convolution{.input = input, .weight = weight, .dilation = {2}}.arguments()),
            "convolution.R26");
  EXPECT_EQ(refusal(convolution, Convolution{.input = input, .weight = weight, .transposed = true}.arguments()),
            "convolution.R26");
}

TEST(Convolution, OneDimensionIsLaidOutAsItsWeight) {
  const Dims channels_last{0, 2, 1}, channels_first{0, 1, 2};
  for (const Dims& order : {channels_last, channels_first}) {
    const Tensor input = tensor(float32, {1, 2, 3}, order, ones(6));
    for (const Dims& of_weight : {channels_last, channels_first})
      EXPECT_EQ(
          result(convolution, Convolution{input, tensor(float32, {2, 2, 2}, of_weight, ones(8))}.arguments()).dim_order,
          of_weight);
  }
}

// -- pools ------------------------------------------------------------------------------------------------------------

constexpr std::string_view average = "aten::avg_pool2d.out", largest_of = "aten::max_pool2d_with_indices.out";

TEST(Pool, KeepsChannelsLast) {
  const Dims channels_last{0, 2, 3, 1};
  const Tensor image = tensor(float32, {1, 2, 2, 2}, channels_last, ones(8));
  EXPECT_EQ(result(average, {image, Ints{2}, Ints{}, Ints{0}, false, true, none}).dim_order, channels_last);
  EXPECT_EQ(result("aten::_adaptive_avg_pool2d.out", {image, Ints{1, 1}}).dim_order, channels_last);
  for (const Tensor& t : results(largest_of, {image, Ints{2}, Ints{}, Ints{0}, Ints{1}, false}))
    EXPECT_EQ(t.dim_order, channels_last);
  const Tensor signal = tensor(float32, {1, 2, 4}, {0, 2, 1}, ones(8));
  EXPECT_EQ(result("aten::avg_pool1d.out", {signal, Ints{2}, Ints{}, Ints{0}, false, true}).dim_order, (Dims{0, 2, 1}));
  EXPECT_EQ(result("aten::adaptive_avg_pool1d.out", {signal, Ints{2}}).dim_order, (Dims{0, 2, 1}));
}

TEST(MaxPool, DilationLetsNoMorePaddingIn) {
  const auto padded = [&](Int padding) {
    return refusal(largest_of, {tensor(float32, {1, 5, 5}, ones(25)), Ints{3}, Ints{1}, Ints{padding}, Ints{2}, false});
  };
  EXPECT_EQ(padded(1), "");
  EXPECT_EQ(padded(2), "max_pool2d_with_indices.R12");
}

TEST(AveragePool, LastWindowMayNotStartInThePadding) {
  EXPECT_EQ(result(average, {tensor(float32, {1, 3, 3}, ones(9)), Ints{1}, Ints{3}, Ints{0}, true, true, none}).sizes,
            (Dims{1, 1, 1}));
}

TEST(AveragePool, CellsBehindThePaddingDoNotCount) {
  EXPECT_EQ(
      values_of(result(average, {tensor(float32, {1, 4, 4}, ones(16)), Ints{3}, Ints{2}, Ints{1}, true, true, none}))
          .back(),
      0.25);
}

TEST(AveragePool, DivisorMayBeNegativeButNotZero) {
  EXPECT_THAT(
      values_of(result(average, {tensor(float32, {1, 2, 2}, ones(4)), Ints{2}, Ints{}, Ints{0}, false, true, Int{-2}})),
      ElementsAre(-2));
  EXPECT_EQ(refusal(average, {tensor(float32, {1, 2, 2}, ones(4)), Ints{2}, Ints{}, Ints{0}, false, true, Int{0}}),
            "avg_pool2d.R12");
}

TEST(AveragePool, Int64IsTruncated) {
  EXPECT_THAT(values_of(result(
                  average, {tensor(int64, {1, 2, 2}, {-1, -2, -2, -2}), Ints{2}, Ints{}, Ints{0}, false, true, none})),
              ElementsAre(-1));
  EXPECT_EQ(refusal(average, {tensor(int32, {1, 2, 2}, ones(4)), Ints{2}, Ints{}, Ints{0}, false, true, none}),
            "avg_pool2d.R1");
}

TEST(AdaptiveAveragePool, SharesOverlap) {
  EXPECT_THAT(
      values_of(result("aten::_adaptive_avg_pool2d.out", {tensor(float64, {1, 1, 5}, {1, 2, 3, 4, 5}), Ints{1, 7}})),
      ElementsAre(1, 1.5, 2.5, 3, 3.5, 4.5, 5));
}

TEST(MaxPool, LastNanOrFirstOfEqualsWins) {
  struct Row {
    std::vector<Real> cells;
    Int index;
  };
  for (const Row& row : {Row{{1, nan, 2, nan}, 3}, Row{{2, 1, 2, 2}, 0}, Row{{-inf, -inf, -inf, -inf}, 0}})
    EXPECT_THAT(values_of<Int>(results(
                    largest_of, {tensor(float32, {1, 2, 2}, row.cells), Ints{2}, Ints{}, Ints{0}, Ints{1}, false})[1]),
                ElementsAre(row.index));
}

TEST(AdaptiveAveragePool, ToOneCellIsAMean) {  // also for an empty input; only for floating dtypes
  constexpr std::string_view pool = "aten::adaptive_avg_pool1d.out";
  EXPECT_THAT(values_of(result(pool, {tensor(float32, {1, 0}, {}), Ints{1}})), ElementsAre(testing::IsNan()));
  EXPECT_EQ(refusal(pool, {tensor(float32, {1, 0}, {}), Ints{2}}), "adaptive_avg_pool1d.R5");
  EXPECT_EQ(refusal(pool, {tensor(int64, {0, 1, 2}, {}), Ints{1}}), "adaptive_avg_pool1d.R7");
  EXPECT_EQ(refusal(pool, {tensor(int64, {0, 1, 2}, {}), Ints{2}}), "");
}

TEST(AdaptiveAveragePool, ThreeDimensions) {
  EXPECT_THAT(values_of(result("aten::_adaptive_avg_pool3d.out",
                               {tensor(float32, {1, 2, 1, 3}, {1, 2, 3, 4, 5, 6}), Ints{1, 1, 2}})),
              ElementsAre(3, 4));
  EXPECT_EQ(refusal("aten::_adaptive_avg_pool3d.out", {tensor(int64, {0, 1, 1, 1}, {}), Ints{1, 1, 1}}),
            "_adaptive_avg_pool3d.R1");
}

TEST(AveragePool, OneDimension) {
  EXPECT_THAT(values_of(result("aten::avg_pool1d.out",
                               {tensor(float32, {1, 4}, ones(4)), Ints{3}, Ints{2}, Ints{1}, true, true})),
              ElementsAre(testing::DoubleEq(2 / 3.F), 1, 0.5));
  EXPECT_EQ(
      refusal("aten::avg_pool1d.out", {tensor(float32, {1, 4}, ones(4)), Ints{2, 2}, Ints{}, Ints{0}, false, true}),
      "avg_pool1d.R4");
}

TEST(AveragePool, ThreeDimensionsTakeOneEntryOrThree) {
  const auto refused = [](const Tensor& self, Ints kernel_size) {
    return refusal("aten::avg_pool3d.out", {self, std::move(kernel_size), Ints{}, Ints{0}, false, true, none});
  };
  const Tensor self = tensor(float32, {1, 2, 2, 2}, ones(8));
  EXPECT_EQ(refused(self, {2}), "");
  EXPECT_EQ(refused(self, {2, 1, 2}), "");
  EXPECT_EQ(refused(self, {2, 2}), "avg_pool3d.R4");
  EXPECT_EQ(refused(tensor(float16, {1, 2, 2, 2}, ones(8)), {2}), "avg_pool3d.R1");
}

TEST(AveragePool, ThreeDimensionsHoldAWindowWithoutPadding) {
  const auto pooled = [](Dims sizes) {
    return refusal("aten::avg_pool3d.out", {tensor(float32, sizes, ones(sizes[1] * sizes[2] * sizes[3])), Ints{2},
                                            Ints{1}, Ints{1}, false, true, none});
  };
  EXPECT_EQ(pooled({1, 2, 2, 2}), "");
  EXPECT_EQ(pooled({1, 2, 1, 2}), "avg_pool3d.R11");
}

TEST(MaxPool, PlaceIsInAllOfTheChannel) {
  EXPECT_THAT(values_of<Int>(
                  results("aten::max_pool3d_with_indices.out", {tensor(float32, {2, 2, 1, 2}, {1, 2, 4, 3, 5, 6, 7, 8}),
                                                                Ints{2, 1, 1}, Ints{}, Ints{0}, Ints{1}, false})[1]),
              ElementsAre(2, 3, 2, 3));
}

TEST(MaxPool, WindowWithoutACell) {  // the first cell of the window that is not before the input is behind it
  const auto flat = results(largest_of, {tensor(float32, {1, 1, 1}, {5}), Ints{2}, Ints{1}, Ints{1}, Ints{2}, false});
  EXPECT_THAT(values_of(flat[0]), ElementsAre(-inf));
  EXPECT_THAT(values_of<Int>(flat[1]), ElementsAre(2));
  const auto deep = results("aten::max_pool3d_with_indices.out", {tensor(int32, {1, 1, 2, 3}, {1, 2, 3, 4, 5, 6}),
                                                                  Ints{2}, Ints{1}, Ints{1}, Ints{2}, false});
  EXPECT_THAT(values_of(deep[0]), testing::Each(-2147483648.0));
  EXPECT_THAT(values_of<Int>(deep[1]), ElementsAre(10, 9, 10, 7, 6, 7));
}

TEST(MaxPool, PaddingNeverWins) {
  EXPECT_THAT(values_of<Int>(results(
                  largest_of, {tensor(uint8, {1, 2, 2}, {0, 0, 0, 0}), Ints{2}, Ints{}, Ints{1}, Ints{1}, false})[1]),
              ElementsAre(0, 1, 2, 3));
}

// -- resampling -------------------------------------------------------------------------------------------------------

TEST(Nearest, GivenScaleIsUsed) {
  const Tensor row = tensor(float32, {1, 1, 1, 4}, {0, 1, 2, 3});
  EXPECT_THAT(values_of(result("aten::upsample_nearest2d.vec_out", {row, none, Doubles{1, 1.7}})),
              ElementsAre(0, 0, 1, 1, 2, 2));
  EXPECT_THAT(values_of(result("aten::upsample_nearest2d.vec_out", {row, Ints{1, 6}, none})),
              ElementsAre(0, 0, 1, 2, 2, 3));
  EXPECT_EQ(refusal("aten::upsample_nearest2d.vec_out", {tensor(int64, {1, 1, 1, 1}, {1}), Ints{1, 6}, none}),
            "upsample_nearest2d.vec.R1");
}

TEST(Nearest, StepIsFloat32) {  // 41 * (4/82) is 2, but just below it with a float32 step
  const Tensor row = tensor(float64, {1, 1, 1, 4}, {0, 1, 2, 3});
  EXPECT_EQ(values_of(result("aten::upsample_nearest2d.vec_out", {row, Ints{1, 82}, none}))[41], 1);
}

TEST(Bilinear, AlignedCornersIgnoreTheScale) {
  const Tensor row = tensor(float64, {1, 1, 1, 3}, {0, 2, 4});
  EXPECT_THAT(values_of(result("aten::upsample_bilinear2d.vec_out", {row, none, true, Doubles{1, 1.7}})),
              ElementsAre(0, 1, 2, 3, 4));
}

TEST(Bilinear, Uint8RoundsHalvesUpInEachPass) {
  const Tensor row = tensor(uint8, {1, 1, 1, 5}, {0, 100, 255, 3, 77});
  EXPECT_THAT(values_of(result("aten::upsample_bilinear2d.vec_out", {row, Ints{1, 2}, false, none})),
              ElementsAre(75, 22));
}

constexpr std::string_view antialiased = "aten::_upsample_bilinear2d_aa.out";

TEST(AntialiasedBilinear, TriangleIsAsWideAsTheStep) {
  const Tensor row = tensor(float64, {1, 1, 1, 4}, {1, 2, 6, 7});
  EXPECT_THAT(values_of(result(antialiased, {row, Ints{1, 2}, false})),
              ElementsAre(DoubleEq((3 * 1 + 3 * 2 + 6) / 7.0), DoubleEq((2 + 3 * 6 + 3 * 7) / 7.0)));
}

TEST(AntialiasedBilinear, AlignedCornersOnlyChangeTheStep) {  // to 3/2, so that samples are at 3/4, 9/4 and 15/4
  const Tensor row = tensor(float64, {1, 1, 1, 4}, {0, 12, 24, 36});
  EXPECT_THAT(values_of(result(antialiased, {row, Ints{1, 3}, true})),
              ElementsAre(DoubleEq(4.5), DoubleEq(64 / 3.0), DoubleEq(34)));
}

TEST(AntialiasedBilinear, DimensionThatKeepsItsSizeIsCopied) {
  EXPECT_THAT(values_of(result(antialiased, {tensor(float32, {1, 1, 1, 3}, {1, inf, 2}), Ints{2, 3}, false})),
              ElementsAre(1, inf, 2, 1, inf, 2));
  EXPECT_THAT(values_of(result(antialiased, {tensor(int64, {1, 1, 1, 2}, {-1, 1000}), Ints{1, 2}, false})),
              ElementsAre(-1, 1000));
  EXPECT_EQ(refusal(antialiased, {tensor(int64, {1, 1, 1, 2}, {-1, 1000}), Ints{1, 1}, false}),
            "_upsample_bilinear2d_aa.R7");
}

TEST(AntialiasedBilinear, GivenScaleMustLeaveACellToEachPlace) {
  const Tensor row = tensor(float32, {1, 1, 1, 4}, {0, 1, 2, 3});
  EXPECT_EQ(refusal(antialiased, {row, Ints{1, 5}, false, none, 0.5}), "_upsample_bilinear2d_aa.R6");
  EXPECT_EQ(refusal(antialiased, {row, Ints{1, 5}, true, none, 0.5}), "");
  EXPECT_EQ(refusal(antialiased, {row, Ints{1, 5}, false, none, -1.0}), "");
}

struct GridSample {
  std::vector<Real> cells;  // of one row
  std::vector<Real> places;
  Int interpolation = 0, padding = 0;
  bool align_corners = false;
  DType dtype = float32;

  std::vector<Real> values() const {
    std::vector<Real> grid;
    for (Real x : places) grid.insert(grid.end(), {x, 0});
    const auto width = static_cast<Int>(cells.size()), count = static_cast<Int>(places.size());
    return values_of(result("aten::grid_sampler_2d.out",
                            {tensor(dtype, {1, 1, 1, width}, cells), tensor(dtype, {1, 1, count, 2}, grid),
                             interpolation, padding, align_corners}));
  }
};
constexpr Int bilinear = 0, nearest = 1, bicubic = 2, zeros = 0, border = 1, reflection = 2;

TEST(GridSampler, EdgesOrCentresOfTheOutermostCells) {
  EXPECT_THAT((GridSample{.cells = {8, 4}, .places = {-1, -0.5, 0, 1}}.values()), ElementsAre(4, 8, 6, 2));
  EXPECT_THAT((GridSample{.cells = {8, 4}, .places = {-1, -0.5, 0, 1}, .align_corners = true}.values()),
              ElementsAre(8, 7, 6, 4));
}

TEST(GridSampler, NearestRoundsHalvesToEven) {
  EXPECT_THAT((GridSample{.cells = {1, 2, 3, 4}, .places = {-0.5, 0, 0.5}, .interpolation = nearest}.values()),
              ElementsAre(1, 3, 3));
}

TEST(GridSampler, PlaceIsRoundedBeforeTheNearestIsChosen) {  // float32 cannot hold 1 - 2^-26
  EXPECT_THAT((GridSample{.cells = {1, 2, 3, 4}, .places = {-0x1p-26}, .interpolation = nearest}.values()),
              ElementsAre(3));
}

TEST(GridSampler, NanIsTheFirstCellUnlessOutsideIsZero) {
  EXPECT_THAT((GridSample{.cells = {5, 6}, .places = {nan}}.values()), ElementsAre(testing::IsNan()));
  EXPECT_THAT((GridSample{.cells = {5, 6}, .places = {nan}, .interpolation = nearest}.values()), ElementsAre(0));
  for (const Int padding : {border, reflection}) {
    EXPECT_THAT((GridSample{.cells = {5, 6}, .places = {nan}, .padding = padding}.values()), ElementsAre(5));
    EXPECT_THAT((GridSample{.cells = {5, 6}, .places = {nan}, .interpolation = bicubic, .padding = padding}.values()),
                ElementsAre(testing::IsNan()));
  }
}

TEST(GridSampler, InfinityIsTheLastCellOfTheBorderAndReflectedToTheFirst) {
  EXPECT_THAT((GridSample{.cells = {5, 6}, .places = {inf, -inf}, .padding = border}.values()), ElementsAre(6, 5));
  EXPECT_THAT((GridSample{.cells = {5, 6}, .places = {inf, -inf}, .padding = reflection}.values()), ElementsAre(5, 5));
}

TEST(GridSampler, FarPlacesAreOutsideOrOnTheBorder) {
  for (const Int interpolation : {bilinear, nearest, bicubic}) {
    EXPECT_THAT((GridSample{.cells = {5, 6}, .places = {1e10, -1e10}, .interpolation = interpolation}.values()),
                ElementsAre(0, 0));
    EXPECT_THAT((GridSample{.cells = {5, 6}, .places = {1e10, -1e30}, .interpolation = interpolation, .padding = border}
                     .values()),
                ElementsAre(6, 5));
  }
}

TEST(GridSampler, ReflectsManyTimes) {  // at the edges, -1 and 1
  EXPECT_THAT(
      (GridSample{
          .cells = {1, 2, 3, 4}, .places = {1.25, 3.25, 5.25, -1.25}, .interpolation = nearest, .padding = reflection}
           .values()),
      ElementsAre(4, 1, 4, 1));
  EXPECT_THAT((GridSample{.cells = {7}, .places = {-3, 0.5}, .padding = reflection, .align_corners = true}.values()),
              ElementsAre(7, 7));
}

TEST(GridSampler, BicubicPadsCellsNotPlaces) {  // half beyond the border: weights -3/32, 19/32, 19/32 and -3/32 of
                                                // cells 0, 1, 1 and 1
  EXPECT_THAT(
      (GridSample{.cells = {32, 64}, .places = {1}, .interpolation = bicubic, .padding = border, .dtype = float64}
           .values()),
      ElementsAre(67));
  EXPECT_THAT((GridSample{.cells = {32, 64}, .places = {1}, .interpolation = bicubic, .dtype = float64}.values()),
              ElementsAre(35));
}

TEST(GridSampler, BothOfOneDtypeUnlessNothingIsSampled) {
  EXPECT_EQ(refusal("aten::grid_sampler_2d.out", {tensor(float32, {1, 1, 1, 1}, {1}),
                                                  tensor(float64, {1, 1, 1, 2}, {0, 0}), bilinear, zeros, false}),
            "grid_sampler_2d.R10");
  EXPECT_EQ(refusal("aten::grid_sampler_2d.out",
                    {tensor(int64, {1, 1, 1, 1}, {1}), tensor(float64, {1, 0, 1, 2}, {}), bilinear, zeros, false}),
            "");
}

// -- distances --------------------------------------------------------------------------------------------------------

std::vector<Real> distances(const std::vector<Real>& a, const std::vector<Real>& b, Real p,
                            const Value& compute_mode = none) {
  const auto columns = static_cast<Int>(a.size());
  return values_of(result("aten::_cdist_forward.out",
                          {tensor(float32, {1, columns}, a), tensor(float32, {1, columns}, b), p, compute_mode}));
}

TEST(Cdist, LargestLeavesNanOut) {
  EXPECT_THAT(distances({nan, 1}, {0, 5}, inf), ElementsAre(4));
  EXPECT_THAT(distances({nan}, {0}, inf), ElementsAre(0));
  for (const Real p : {0.0, 1.0, 2.0, 3.0}) EXPECT_THAT(distances({nan, 1}, {0, 5}, p), ElementsAre(testing::IsNan()));
}

TEST(Cdist, CountsWithZero) {
  EXPECT_THAT(distances({0, 1, inf, 1e-45}, {0, 2, 0, 0}, 0), ElementsAre(3));
  EXPECT_THAT(distances({0, 1}, {0, 2}, 1e-300), ElementsAre(1));  // 0 in float32
}

TEST(Cdist, EqualRowsAreNotApartInAnyMode) {
  for (const Value& mode : {none, Value(Int{1}), Value(Int{2})})
    EXPECT_THAT(distances({1000.1, 999.9}, {1000.1, 999.9}, 2, mode), ElementsAre(0));
}

TEST(Cdist, PowersNeitherOverflowNorVanish) {
  EXPECT_THAT(distances({1e30, 0}, {0, 0}, 2), ElementsAre(testing::Gt(9e29)));
  EXPECT_THAT(distances({0x1p-20, 0}, {0, 0}, 100), ElementsAre(0x1p-20));
}

TEST(Cdist, BatchesBroadcastAndMayBeEmpty) {
  EXPECT_EQ(result("aten::_cdist_forward.out",
                   {tensor(float32, {2, 1, 1, 1}, {1, 2}), tensor(float32, {3, 2, 1}, ones(6)), 2.0, none})
                .sizes,
            (Dims{2, 3, 1, 2}));
  EXPECT_THAT(values_of(result("aten::_cdist_forward.out",
                               {tensor(float32, {2, 0}, {}), tensor(float64, {1, 0}, {}), 2.0, none})),
              ElementsAre(0, 0));
  EXPECT_EQ(
      result("aten::_cdist_forward.out", {tensor(float32, {0, 3}, {}), tensor(float32, {2, 3}, ones(6)), 2.0, none})
          .sizes,
      (Dims{0, 2}));
}

TEST(Cdist, HalfTypesNeedTheProduct) {
  const auto refused = [](Int rows, Real p, const Value& mode) {
    return refusal("aten::_cdist_forward.out",
                   {tensor(float16, {1, 1}, {1}), tensor(float16, {rows, 1}, ones(rows)), p, mode});
  };
  EXPECT_EQ(refused(25, 2, none), "_cdist_forward.R9");
  EXPECT_EQ(refused(26, 2, none), "");
  EXPECT_EQ(refused(26, 2, Int{2}), "_cdist_forward.R9");
  EXPECT_EQ(refused(1, 2, Int{1}), "");
  EXPECT_EQ(refused(26, 1, Int{1}), "_cdist_forward.R9");
}

TEST(Pdist, PairsInOrder) {
  EXPECT_THAT(values_of(result("aten::_pdist_forward.out", {tensor(float32, {4, 1}, {0, 1, 3, 7}), 1.0})),
              ElementsAre(1, 3, 7, 2, 6, 4));
  EXPECT_EQ(result("aten::_pdist_forward.out", {tensor(int64, {1, 2}, {1, 2}), 2.0}).sizes, Dims{0});
}

TEST(Pdist, LargestIsNanWhereOneIs) {
  EXPECT_THAT(values_of(result("aten::_pdist_forward.out", {tensor(float32, {2, 2}, {nan, 1, 0, 5}), inf})),
              ElementsAre(testing::IsNan()));
}

// -- quantization -----------------------------------------------------------------------------------------------------

constexpr std::string_view quantize = "quantized_decomposed::quantize_per_tensor.out";

TEST(Quantize, NanAndValuesThatAreTooLarge) {
  EXPECT_THAT(values_of(result(quantize, {tensor(float32, {4}, {nan, inf, -inf, 3e9}), 1.0, Int{3}, Int{-128}, Int{127},
                                          number(int8)})),
              ElementsAre(0, 127, -128, 127));
}

TEST(Quantize, Int32BoundIsNoFloat32) {
  EXPECT_THAT(values_of(result(quantize, {tensor(float32, {1}, {3e9}), 1.0, Int{0}, Int{-2147483648}, Int{2147483647},
                                          number(int32)})),
              ElementsAre(-2147483648.0));
}

TEST(Quantize, MultipliesByTheInverse) {  // 29.25 / 0.3 is just below a half
  EXPECT_THAT(
      values_of(result(quantize, {tensor(float32, {1}, {29.25}), 0.3, Int{0}, Int{-128}, Int{127}, number(int8)})),
      ElementsAre(98));
}

TEST(Quantize, Refusals) {
  EXPECT_EQ(refusal(quantize, {tensor(float64, {1}, {1}), 1.0, Int{0}, Int{-128}, Int{127}, number(int8)}),
            "quantized_decomposed::quantize_per_tensor.R1");
  EXPECT_EQ(refusal(quantize, {tensor(float32, {1}, {1}), 1.0, Int{0}, Int{-129}, Int{127}, number(int8)}),
            "quantized_decomposed::quantize_per_tensor.R3");
  EXPECT_EQ(refusal(quantize, {tensor(float32, {1}, {1}), 1.0, Int{1000}, Int{-128}, Int{127}, number(int8)}), "");
}

TEST(Dequantize, CodesOfInt32LoseBits) {
  EXPECT_THAT(values_of(result("quantized_decomposed::dequantize_per_tensor.out",
                               {tensor(int32, {1}, {16777217}), 1.0, Int{1}, Int{0}, Int{1}, number(int32), none})),
              ElementsAre(16777215));
}

TEST(Dequantize, DifferencesOfAnIntegerDtypeWrap) {
  const auto dequantized = [](DType codes, Real x, DType dtype) {
    return values_of(result("quantized_decomposed::dequantize_per_tensor.out",
                            {tensor(codes, {1}, {x}), 0.5, Int{2}, Int{0}, Int{1}, number(codes), number(dtype)}));
  };
  EXPECT_THAT(dequantized(int8, 1, uint8), ElementsAre(127.5));
  EXPECT_THAT(dequantized(int32, 16777219, uint8), ElementsAre(0.5));
  EXPECT_EQ(refusal("quantized_decomposed::dequantize_per_tensor.out",
                    {tensor(int8, {1}, {1}), 0.5, Int{2}, Int{0}, Int{1}, number(int8), number(boolean)}),
            "quantized_decomposed::dequantize_per_tensor.R3");
}

TEST(Dequantize, NegativeNumbersWrapInUint64) {
  const Tensor out = result(
      "quantized_decomposed::dequantize_per_channel.out",
      {tensor(int8, {1}, {-3}), tensor(float32, {1}, {1}), none, Int{0}, Int{0}, Int{1}, number(int8), number(uint64)});
  EXPECT_THAT(values_of<Bits>(out), ElementsAre(~Bits{2}));
}

TEST(ChooseQparams, ZeroIsInTheRange) {
  struct Row {
    std::vector<Real> input;
    Real scale;
    Int zero_point;
  };
  for (const Row& row : {Row{{1, 3}, 3 / 255.0, -128}, Row{{-1, 1}, 2 / 255.0, -1}, Row{{0, 0}, 1e-5, -128}}) {
    const auto out = results("quantized_decomposed::choose_qparams.Tensor_out",
                             {tensor(float32, {2}, row.input), Int{-128}, Int{127}, 1e-5, number(int8)});
    EXPECT_FLOAT_EQ(static_cast<float>(values_of(out[0])[0]), static_cast<float>(row.scale));
    EXPECT_THAT(values_of<Int>(out[1]), ElementsAre(row.zero_point));
  }
}

TEST(ChooseQparamsPerToken, RowOfZeros) {
  const auto out = results("quantized_decomposed::choose_qparams_per_token_asymmetric.out",
                           {tensor(float32, {1, 2}, {0, 0}), number(int8)});
  EXPECT_THAT(values_of(out[0]), ElementsAre(0x1p-23));
  EXPECT_THAT(values_of<Int>(out[1]), ElementsAre(127));
}

// -- quantized operators ----------------------------------------------------------------------------------------------

TEST(QuantizedEmbedding, CodesInAByte) {
  const auto embedded = [](std::string_view name, Int low, Int high) {
    return values_of(result(
        name, {tensor(uint8, {1, 1}, {0xB4}), tensor(float32, {1}, {1}), none, low, high, tensor(int64, {1}, {0})}));
  };
  EXPECT_THAT(embedded("quantized_decomposed::embedding_4bit.out", -8, 7),
              ElementsAre(3, -4));  // the high half comes first
  EXPECT_THAT(embedded("quantized_decomposed::embedding_2bit.out", -2, 1),
              ElementsAre(-2, -1, 1, 0));  // the lowest pair of bits comes first
}

TEST(QuantizedEmbedding, GroupsOfColumns) {
  const Tensor weight = tensor(int8, {1, 4}, {1, 2, 3, 4}), scales = tensor(float32, {1, 2}, {1, 10});
  EXPECT_THAT(values_of(result("quantized_decomposed::embedding_byte.out",
                               {weight, scales, none, Int{-128}, Int{127}, tensor(int64, {1}, {0})})),
              ElementsAre(1, 2, 30, 40));
  EXPECT_EQ(refusal("quantized_decomposed::embedding_byte.out",
                    {weight, scales, none, Int{-128}, Int{127}, tensor(int64, {1}, {-1})}),
            "quantized_decomposed::embedding_byte.D1");
}

// -- random numbers ---------------------------------------------------------------------------------------------------

TEST(Dropout, WithoutTrainingAllIsKept) {
  const Tensor input = tensor(float32, {3}, {1, inf, nan});
  const auto kept = results("aten::native_dropout.out", {input, 0.5, false});
  EXPECT_THAT(values_of(kept[0]), ElementsAre(1, inf, testing::IsNan()));
  EXPECT_THAT(values_of<Int>(kept[1]), ElementsAre(1, 1, 1));
}

TEST(Dropout, NoneTrainsAndInfinityTimesZeroIsNan) {
  const auto dropped = results("aten::native_dropout.out", {tensor(float32, {2}, {1, inf}), 1.0, none});
  EXPECT_THAT(values_of(dropped[0]), ElementsAre(0, testing::IsNan()));
  EXPECT_THAT(values_of<Int>(dropped[1]), ElementsAre(0, 0));
}

// -- training ---------------------------------------------------------------------------------------------------------

TEST(BatchNorm, OneValuePerChannel) {
  const auto out = results("aten::_native_batch_norm_legit.no_stats_out",
                           {tensor(float32, {1, 1, 1}, {3}), none, none, true, 0.1, 1e-5});
  EXPECT_THAT(values_of(out[0]), ElementsAre(0));
  EXPECT_THAT(values_of(out[2]), ElementsAre(testing::DoubleNear(316.2278, 1e-3)));
}

TEST(BatchNorm, NothingToDivideBy) {
  const auto out = results("aten::_native_batch_norm_legit.no_stats_out",
                           {tensor(float32, {1, 1, 2}, {3, 3}), none, none, true, 0.1, 0.0});
  EXPECT_THAT(values_of(out[0]), ElementsAre(0, 0));
  EXPECT_THAT(values_of(out[2]), ElementsAre(0));
}

struct BatchNorm {
  Tensor input;
  bool training = true;
  Tensor running_mean = tensor(float32, {1}, {10}), running_var = tensor(float32, {1}, {20});
  std::vector<Tensor> results() const {
    return assay::results("aten::_native_batch_norm_legit.out",
                          {input, none, none, running_mean, running_var, training, 0.5, 0.0});
  }
};

TEST(BatchNorm, RunningVarianceIsThatOfASample) {
  const auto out = BatchNorm{tensor(float32, {2, 1}, {1, 3})}.results();
  EXPECT_THAT(values_of(out[0]), ElementsAre(-1, 1));
  EXPECT_THAT(values_of(out[3]), ElementsAre(6));
  EXPECT_THAT(values_of(out[4]), ElementsAre(11));
  EXPECT_THAT(values_of(BatchNorm{tensor(float32, {1, 1}, {1})}.results()[4]), ElementsAre(testing::IsNan()));
}

TEST(BatchNorm, WithoutTrainingNothingIsSaved) {
  const auto out = BatchNorm{.input = tensor(float32, {0, 1}, {}), .training = false}.results();
  EXPECT_EQ(out[1].sizes, Dims{0});
  EXPECT_THAT(values_of(out[4]), ElementsAre(20));
  EXPECT_EQ(
      refusal("aten::_native_batch_norm_legit.out", {tensor(float32, {0, 1}, {}), none, none, tensor(float32, {1}, {0}),
                                                     tensor(float32, {1}, {1}), true, 0.5, 0.0}),
      "_native_batch_norm_legit.R3");
}

TEST(BatchNorm, StatisticsOfAHalfTypeMayBeFloat32) {
  EXPECT_EQ(BatchNorm{tensor(float16, {2, 1}, {1, 3})}.results()[1].dtype, float32);
}

TEST(ConvolutionBackward, AnUnaskedGradientIsEmpty) {
  const Tensor one = tensor(float32, {1, 1, 1}, {2});
  const auto out = results("aten::convolution_backward.out", {one, one, one, none, Ints{1}, Ints{0}, Ints{1}, false,
                                                              Ints{0}, Int{1}, Bools{false, true, true}});
  EXPECT_EQ(out[0].sizes, Dims{0});
  EXPECT_THAT(values_of(out[1]), ElementsAre(4));
  EXPECT_THAT(values_of(out[2]), ElementsAre(2));
}

TEST(ConvolutionBackward, DilatedOnesHaveInt64) {
  const Tensor one = tensor(int64, {1, 1, 1}, {3}), two = tensor(int64, {1, 1, 2}, {4, 5}),
               three = tensor(int64, {1, 1, 3}, {1, 2, 6});
  const auto arguments = [&](Ints dilation, const Tensor& input, Int output_padding) {
    return std::vector<Value>{one,
                              input,
                              two,
                              none,
                              Ints{1},
                              Ints{0},
                              dilation,
                              false,
                              Ints{output_padding},
                              Int{1},
                              Bools{true, true, true}};
  };
  const auto out = results("aten::convolution_backward.out", arguments({2}, three, 0));
  EXPECT_THAT(values_of(out[0]), ElementsAre(12, 0, 15));
  EXPECT_THAT(values_of(out[1]), ElementsAre(3, 18));
  EXPECT_EQ(refusal("aten::convolution_backward.out", arguments({1}, two, 0)), "convolution_backward.R23");
  EXPECT_EQ(refusal("aten::convolution_backward.out", arguments({2}, three, 1)), "convolution_backward.R14");
}

TEST(ConvolutionBackward, ChannelsComeLastWhereThoseOfInputOrWeightDo) {
  const auto orders = [](const Dims& input, const Dims& weight) {
    const Tensor x = make(float32, {1, 2, 3, 3}, input), w = make(float32, {2, 2, 2, 2}, weight);
    const auto out =
        results("aten::convolution_backward.out", {make(float32, {1, 2, 2, 2}), x, w, none, Ints{1}, Ints{0}, Ints{1},
                                                   false, Ints{0}, Int{1}, Bools{true, true, true}});
    return std::vector<Dims>{out[0].dim_order, out[1].dim_order};
  };
  const Dims first{0, 1, 2, 3}, last{0, 2, 3, 1};
  EXPECT_THAT(orders(first, first), ElementsAre(first, first));
  EXPECT_THAT(orders(last, first), ElementsAre(last, last));
  EXPECT_THAT(orders(first, last), ElementsAre(last, last));
}

TEST(EmbeddingDenseBackward, FrequencyAndPadding) {
  const auto gradient = [](DType dtype, Int padding_idx, bool scale_grad_by_freq) {
    return values_of(result(
        "aten::embedding_dense_backward.out",
        {tensor(dtype, {3, 1}, {4, 4, 4}), tensor(int64, {3}, {1, 1, 0}), Int{3}, padding_idx, scale_grad_by_freq}));
  };
  EXPECT_THAT(gradient(float32, -1, false), ElementsAre(4, 8, 0));
  EXPECT_THAT(gradient(float32, 0, true), ElementsAre(0, 4, 0));
  EXPECT_THAT(gradient(int32, -1, true), ElementsAre(4, 0, 0));  // half of an integer is 0
}

TEST(EmbeddingDenseBackward, WideUnsignedIsRefusedWhereARowIsNamed) {
  const auto refused = [](Int index) {
    return refusal(
        "aten::embedding_dense_backward.out",
        {tensor(uint16, {1, 1}, {4}), tensor(int64, {1}, {static_cast<Real>(index)}), Int{3}, Int{1}, false});
  };
  EXPECT_EQ(refused(0), "embedding_dense_backward.R5");
  for (const Int index : {-1, 1, 3}) EXPECT_EQ(refused(index), "");
}

}  // namespace traps_dense_test
}  // namespace assay
