#include <gmock/gmock.h>

#include <limits>

#include "tests/calls.h"

// Where a reimplementation of the dense operators goes wrong; each expectation is what eager PyTorch answers.
namespace assay {
namespace {

using enum DType;
using testing::ElementsAre;

constexpr Real inf = std::numeric_limits<Real>::infinity(), nan = std::numeric_limits<Real>::quiet_NaN();
const Value none;
Value number(DType dtype) { return static_cast<Int>(dtype); }

std::vector<Real> ones(Int n) { return std::vector<Real>(static_cast<std::size_t>(n), 1); }

// -- products ---------------------------------------------------------------------------------------------------------

TEST(Product, IntegersWrap) {
  EXPECT_THAT(values_of(result("aten::mm.out", {tensor(int8, {1, 2}, {100, 100}), tensor(int8, {2, 1}, {1, 1})})), ElementsAre(-56));
}

TEST(Product, BoolIsRefusedUnlessNothingIsMultiplied) {
  EXPECT_EQ(refusal("aten::mm.out", {tensor(boolean, {1, 1}, {1}), tensor(boolean, {1, 1}, {1})}), "mm.R6");
  EXPECT_THAT(values_of(result("aten::mm.out", {tensor(boolean, {1, 0}, {}), tensor(boolean, {0, 1}, {})})), ElementsAre(0));
}

TEST(Product, HalfTypesAccumulateWide) {
  EXPECT_THAT(values_of(result("aten::mm.out", {tensor(float16, {1, 5000}, ones(5000)), tensor(float16, {5000, 1}, ones(5000))})), ElementsAre(5000));
}

TEST(Product, BiasIsAddedBeforeTheOneRounding) {  // 2049 is no float16: rounded before the bias it would lose its last bit
  EXPECT_THAT(values_of(result("aten::addmm.out", {tensor(float16, {1}, {-2048}), tensor(float16, {1, 2}, {2048, 1}), tensor(float16, {2, 1}, {1, 1}), Int{1}, Int{1}})), ElementsAre(1));
}

TEST(Product, FractionOfAnIntegerFactorIsDropped) {
  EXPECT_THAT(values_of(result("aten::addmm.out", {tensor(int64, {1}, {1}), tensor(int64, {1, 1}, {3}), tensor(int64, {1, 1}, {1}), Int{1}, 1.5})), ElementsAre(4));
}

TEST(Product, FactorZeroLeavesNanOut) {
  EXPECT_THAT(values_of(result("aten::addmm.out", {tensor(float32, {1}, {nan}), tensor(float32, {1, 1}, {3}), tensor(float32, {1, 1}, {2}), Int{0}, Int{1}})), ElementsAre(6));
}

TEST(Product, FactorIsRoundedWhereNothingIsMultiplied) {  // 65535 is no float16
  EXPECT_THAT(values_of(result("aten::addmm.out", {tensor(float16, {1}, {0.5}), tensor(float16, {1, 0}, {}), tensor(float16, {0, 1}, {}), Int{65535}, Int{1}})), ElementsAre(inf));
  EXPECT_THAT(values_of(result("aten::addmm.out", {tensor(float16, {1}, {0.5}), tensor(float16, {1, 1}, {0}), tensor(float16, {1, 1}, {0}), Int{65535}, Int{1}})), ElementsAre(32768));
}

// -- convolution ------------------------------------------------------------------------------------------------------

struct Convolution {
  Tensor input, weight;
  Value bias = none;
  Ints stride{1}, padding{0}, dilation{1};
  bool transposed = false;
  Ints output_padding{0};
  Int groups = 1;
  std::vector<Value> arguments() const { return {input, weight, bias, stride, padding, dilation, transposed, output_padding, groups}; }
};
constexpr std::string_view convolution = "aten::convolution.out";

TEST(Convolution, KernelIsNotMirrored) {
  EXPECT_THAT(values_of(result(convolution, Convolution{tensor(int32, {1, 1, 3}, {1, 2, 3}), tensor(int32, {1, 1, 2}, {1, 10})}.arguments())), ElementsAre(21, 32));
}

TEST(Convolution, Transposed) {
  const Convolution c{.input = tensor(float32, {1, 1, 2}, {1, 2}), .weight = tensor(float32, {1, 1, 3}, {1, 10, 100}), .stride = {2}, .padding = {1}, .transposed = true, .output_padding = {1}};
  EXPECT_THAT(values_of(result(convolution, c.arguments())), ElementsAre(10, 102, 20, 200));
}

TEST(Convolution, OneEntryCountsForEveryDimension) {
  EXPECT_EQ(result(convolution, Convolution{.input = tensor(float32, {1, 1, 3, 3}, ones(9)), .weight = tensor(float32, {1, 1, 1, 1}, {1}), .stride = {2}}.arguments()).sizes, (Dims{1, 1, 2, 2}));
}

TEST(Convolution, PaddingIsMultiplied) {
  EXPECT_THAT(values_of(result(convolution, Convolution{.input = tensor(float32, {1, 1, 1}, {1}), .weight = tensor(float32, {1, 1, 3}, {0, 1, inf}), .padding = {1}}.arguments())), ElementsAre(testing::IsNan()));
}

TEST(Convolution, GroupsReadTheirOwnChannels) {
  EXPECT_THAT(values_of(result(convolution, Convolution{.input = tensor(float32, {1, 2, 1}, {3, 5}), .weight = tensor(float32, {2, 1, 1}, {10, 100}), .groups = 2}.arguments())), ElementsAre(30, 500));
}

TEST(Convolution, NothingInNothingOut) {
  EXPECT_EQ(result(convolution, Convolution{tensor(uint16, {0, 2, 5}, {}), tensor(uint16, {3, 2, 2}, std::vector<Real>(12))}.arguments()).sizes, (Dims{0, 3, 4}));
  EXPECT_EQ(result(convolution, Convolution{tensor(float32, {1, 0, 3}, {}), tensor(float32, {3, 0, 2}, {})}.arguments()).sizes, (Dims{1, 0, 2}));
}

TEST(Convolution, OnlyInt64IsDilatedOrTransposed) {
  const Tensor input = tensor(int32, {1, 1, 3}, {1, 2, 3}), weight = tensor(int32, {1, 1, 2}, {1, 10});
  EXPECT_EQ(refusal(convolution, Convolution{input, weight}.arguments()), "");
  EXPECT_EQ(refusal(convolution, Convolution{.input = input, .weight = weight, .dilation = {2}}.arguments()), "convolution.R26");
  EXPECT_EQ(refusal(convolution, Convolution{.input = input, .weight = weight, .transposed = true}.arguments()), "convolution.R26");
}

// -- pools ------------------------------------------------------------------------------------------------------------

constexpr std::string_view average = "aten::avg_pool2d.out", largest_of = "aten::max_pool2d_with_indices.out";

TEST(AveragePool, LastWindowMayNotStartInThePadding) {
  EXPECT_EQ(result(average, {tensor(float32, {1, 3, 3}, ones(9)), Ints{1}, Ints{3}, Ints{0}, true, true, none}).sizes, (Dims{1, 1, 1}));
}

TEST(AveragePool, CellsBehindThePaddingDoNotCount) {
  EXPECT_EQ(values_of(result(average, {tensor(float32, {1, 4, 4}, ones(16)), Ints{3}, Ints{2}, Ints{1}, true, true, none})).back(), 0.25);
}

TEST(AveragePool, DivisorMayBeNegativeButNotZero) {
  EXPECT_THAT(values_of(result(average, {tensor(float32, {1, 2, 2}, ones(4)), Ints{2}, Ints{}, Ints{0}, false, true, Int{-2}})), ElementsAre(-2));
  EXPECT_EQ(refusal(average, {tensor(float32, {1, 2, 2}, ones(4)), Ints{2}, Ints{}, Ints{0}, false, true, Int{0}}), "avg_pool2d.R12");
}

TEST(AveragePool, Int64IsTruncated) {
  EXPECT_THAT(values_of(result(average, {tensor(int64, {1, 2, 2}, {-1, -2, -2, -2}), Ints{2}, Ints{}, Ints{0}, false, true, none})), ElementsAre(-1));
  EXPECT_EQ(refusal(average, {tensor(int32, {1, 2, 2}, ones(4)), Ints{2}, Ints{}, Ints{0}, false, true, none}), "avg_pool2d.R1");
}

TEST(AdaptiveAveragePool, SharesOverlap) {
  EXPECT_THAT(values_of(result("aten::_adaptive_avg_pool2d.out", {tensor(float64, {1, 1, 5}, {1, 2, 3, 4, 5}), Ints{1, 7}})), ElementsAre(1, 1.5, 2.5, 3, 3.5, 4.5, 5));
}

TEST(MaxPool, LastNanOrFirstOfEqualsWins) {
  struct Row {
    std::vector<Real> cells;
    Int index;
  };
  for (const Row& row : {Row{{1, nan, 2, nan}, 3}, Row{{2, 1, 2, 2}, 0}, Row{{-inf, -inf, -inf, -inf}, 0}})
    EXPECT_THAT(values_of<Int>(results(largest_of, {tensor(float32, {1, 2, 2}, row.cells), Ints{2}, Ints{}, Ints{0}, Ints{1}, false})[1]), ElementsAre(row.index));
}

TEST(MaxPool, PaddingNeverWins) {
  EXPECT_THAT(values_of<Int>(results(largest_of, {tensor(uint8, {1, 2, 2}, {0, 0, 0, 0}), Ints{2}, Ints{}, Ints{1}, Ints{1}, false})[1]), ElementsAre(0, 1, 2, 3));
}

// -- resampling -------------------------------------------------------------------------------------------------------

TEST(Nearest, GivenScaleIsUsed) {
  const Tensor row = tensor(float32, {1, 1, 1, 4}, {0, 1, 2, 3});
  EXPECT_THAT(values_of(result("aten::upsample_nearest2d.vec_out", {row, none, Doubles{1, 1.7}})), ElementsAre(0, 0, 1, 1, 2, 2));
  EXPECT_THAT(values_of(result("aten::upsample_nearest2d.vec_out", {row, Ints{1, 6}, none})), ElementsAre(0, 0, 1, 2, 2, 3));
  EXPECT_EQ(refusal("aten::upsample_nearest2d.vec_out", {tensor(int64, {1, 1, 1, 1}, {1}), Ints{1, 6}, none}), "upsample_nearest2d.vec.R1");
}

TEST(Nearest, StepIsFloat32) {  // 41 * (4/82) is 2, but just below it with a float32 step
  const Tensor row = tensor(float64, {1, 1, 1, 4}, {0, 1, 2, 3});
  EXPECT_EQ(values_of(result("aten::upsample_nearest2d.vec_out", {row, Ints{1, 82}, none}))[41], 1);
}

TEST(Bilinear, AlignedCornersIgnoreTheScale) {
  const Tensor row = tensor(float64, {1, 1, 1, 3}, {0, 2, 4});
  EXPECT_THAT(values_of(result("aten::upsample_bilinear2d.vec_out", {row, none, true, Doubles{1, 1.7}})), ElementsAre(0, 1, 2, 3, 4));
}

TEST(Bilinear, Uint8RoundsHalvesUpInEachPass) {
  const Tensor row = tensor(uint8, {1, 1, 1, 5}, {0, 100, 255, 3, 77});
  EXPECT_THAT(values_of(result("aten::upsample_bilinear2d.vec_out", {row, Ints{1, 2}, false, none})), ElementsAre(75, 22));
}

// -- quantization -----------------------------------------------------------------------------------------------------

constexpr std::string_view quantize = "quantized_decomposed::quantize_per_tensor.out";

TEST(Quantize, WhatIsNoNumberOrTooLarge) {
  EXPECT_THAT(values_of(result(quantize, {tensor(float32, {4}, {nan, inf, -inf, 3e9}), 1.0, Int{3}, Int{-128}, Int{127}, number(int8)})), ElementsAre(0, 127, -128, 127));
}

TEST(Quantize, Int32BoundIsNoFloat32) {
  EXPECT_THAT(values_of(result(quantize, {tensor(float32, {1}, {3e9}), 1.0, Int{0}, Int{-2147483648}, Int{2147483647}, number(int32)})), ElementsAre(-2147483648.0));
}

TEST(Quantize, MultipliesByTheInverse) {  // 29.25 / 0.3 is just below a half
  EXPECT_THAT(values_of(result(quantize, {tensor(float32, {1}, {29.25}), 0.3, Int{0}, Int{-128}, Int{127}, number(int8)})), ElementsAre(98));
}

TEST(Quantize, Refusals) {
  EXPECT_EQ(refusal(quantize, {tensor(float64, {1}, {1}), 1.0, Int{0}, Int{-128}, Int{127}, number(int8)}), "quantized_decomposed::quantize_per_tensor.R1");
  EXPECT_EQ(refusal(quantize, {tensor(float32, {1}, {1}), 1.0, Int{0}, Int{-129}, Int{127}, number(int8)}), "quantized_decomposed::quantize_per_tensor.R3");
  EXPECT_EQ(refusal(quantize, {tensor(float32, {1}, {1}), 1.0, Int{1000}, Int{-128}, Int{127}, number(int8)}), "");
}

TEST(Dequantize, CodesOfInt32LoseBits) {
  EXPECT_THAT(values_of(result("quantized_decomposed::dequantize_per_tensor.out", {tensor(int32, {1}, {16777217}), 1.0, Int{1}, Int{0}, Int{1}, number(int32), none})), ElementsAre(16777215));
}

TEST(Dequantize, DifferencesOfAnIntegerDtypeWrap) {
  const auto dequantized = [](DType codes, Real x, DType dtype) { return values_of(result("quantized_decomposed::dequantize_per_tensor.out", {tensor(codes, {1}, {x}), 0.5, Int{2}, Int{0}, Int{1}, number(codes), number(dtype)})); };
  EXPECT_THAT(dequantized(int8, 1, uint8), ElementsAre(127.5));
  EXPECT_THAT(dequantized(int32, 16777219, uint8), ElementsAre(0.5));
  EXPECT_EQ(refusal("quantized_decomposed::dequantize_per_tensor.out", {tensor(int8, {1}, {1}), 0.5, Int{2}, Int{0}, Int{1}, number(int8), number(boolean)}), "quantized_decomposed::dequantize_per_tensor.R3");
}

TEST(Dequantize, NegativeNumbersWrapInUint64) {
  const Tensor out = result("quantized_decomposed::dequantize_per_channel.out", {tensor(int8, {1}, {-3}), tensor(float32, {1}, {1}), none, Int{0}, Int{0}, Int{1}, number(int8), number(uint64)});
  EXPECT_THAT(values_of<Bits>(out), ElementsAre(~Bits{2}));
}

TEST(ChooseQparams, ZeroIsInTheRange) {
  struct Row {
    std::vector<Real> input;
    Real scale;
    Int zero_point;
  };
  for (const Row& row : {Row{{1, 3}, 3 / 255.0, -128}, Row{{-1, 1}, 2 / 255.0, -1}, Row{{0, 0}, 1e-5, -128}}) {
    const auto out = results("quantized_decomposed::choose_qparams.Tensor_out", {tensor(float32, {2}, row.input), Int{-128}, Int{127}, 1e-5, number(int8)});
    EXPECT_FLOAT_EQ(static_cast<float>(values_of(out[0])[0]), static_cast<float>(row.scale));
    EXPECT_THAT(values_of<Int>(out[1]), ElementsAre(row.zero_point));
  }
}

TEST(ChooseQparams, NanIsItsOwnScale) {
  const auto out = results("quantized_decomposed::choose_qparams.Tensor_out", {tensor(float32, {2}, {nan, 1}), Int{-128}, Int{127}, 1e-5, number(int8)});
  EXPECT_THAT(values_of(out[0]), ElementsAre(testing::IsNan()));
  EXPECT_THAT(values_of<Int>(out[1]), ElementsAre(127));
}

TEST(ChooseQparamsPerToken, RowOfZeros) {
  const auto out = results("quantized_decomposed::choose_qparams_per_token_asymmetric.out", {tensor(float32, {1, 2}, {0, 0}), number(int8)});
  EXPECT_THAT(values_of(out[0]), ElementsAre(0x1p-23));
  EXPECT_THAT(values_of<Int>(out[1]), ElementsAre(127));
}

// -- quantized operators ----------------------------------------------------------------------------------------------

TEST(QuantizedEmbedding, CodesInAByte) {
  const auto embedded = [](std::string_view name, Int low, Int high) {
    return values_of(result(name, {tensor(uint8, {1, 1}, {0xB4}), tensor(float32, {1}, {1}), none, low, high, tensor(int64, {1}, {0})}));
  };
  EXPECT_THAT(embedded("quantized_decomposed::embedding_4bit.out", -8, 7), ElementsAre(3, -4));  // the high one first
  EXPECT_THAT(embedded("quantized_decomposed::embedding_2bit.out", -2, 1), ElementsAre(-2, -1, 1, 0));  // the lowest one first
}

TEST(QuantizedEmbedding, GroupsOfColumns) {
  const Tensor weight = tensor(int8, {1, 4}, {1, 2, 3, 4}), scales = tensor(float32, {1, 2}, {1, 10});
  EXPECT_THAT(values_of(result("quantized_decomposed::embedding_byte.out", {weight, scales, none, Int{-128}, Int{127}, tensor(int64, {1}, {0})})), ElementsAre(1, 2, 30, 40));
  EXPECT_EQ(refusal("quantized_decomposed::embedding_byte.out", {weight, scales, none, Int{-128}, Int{127}, tensor(int64, {1}, {-1})}), "quantized_decomposed::embedding_byte.D1");
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
  const auto out = results("aten::_native_batch_norm_legit.no_stats_out", {tensor(float32, {1, 1, 1}, {3}), none, none, true, 0.1, 1e-5});
  EXPECT_THAT(values_of(out[0]), ElementsAre(0));
  EXPECT_THAT(values_of(out[2]), ElementsAre(testing::DoubleNear(316.2278, 1e-3)));
}

TEST(BatchNorm, NothingToDivideBy) {
  const auto out = results("aten::_native_batch_norm_legit.no_stats_out", {tensor(float32, {1, 1, 2}, {3, 3}), none, none, true, 0.1, 0.0});
  EXPECT_THAT(values_of(out[0]), ElementsAre(0, 0));
  EXPECT_THAT(values_of(out[2]), ElementsAre(0));
}

TEST(ConvolutionBackward, WhatIsNotAskedForIsEmpty) {
  const Tensor one = tensor(float32, {1, 1, 1}, {2});
  const auto out = results("aten::convolution_backward.out", {one, one, one, none, Ints{1}, Ints{0}, Ints{1}, false, Ints{0}, Int{1}, Bools{false, true, true}});
  EXPECT_EQ(out[0].sizes, Dims{0});
  EXPECT_THAT(values_of(out[1]), ElementsAre(4));
  EXPECT_THAT(values_of(out[2]), ElementsAre(2));
}

TEST(ConvolutionBackward, DilatedOnesHaveInt64) {
  const Tensor one = tensor(int64, {1, 1, 1}, {3}), two = tensor(int64, {1, 1, 2}, {4, 5}), three = tensor(int64, {1, 1, 3}, {1, 2, 6});
  const auto arguments = [&](Ints dilation, const Tensor& input, Int output_padding) { return std::vector<Value>{one, input, two, none, Ints{1}, Ints{0}, dilation, false, Ints{output_padding}, Int{1}, Bools{true, true, true}}; };
  const auto out = results("aten::convolution_backward.out", arguments({2}, three, 0));
  EXPECT_THAT(values_of(out[0]), ElementsAre(12, 0, 15));
  EXPECT_THAT(values_of(out[1]), ElementsAre(3, 18));
  EXPECT_EQ(refusal("aten::convolution_backward.out", arguments({1}, two, 0)), "convolution_backward.R23");
  EXPECT_EQ(refusal("aten::convolution_backward.out", arguments({2}, three, 1)), "convolution_backward.R14");
}

TEST(ConvolutionBackward, ChannelsComeLastWhereThoseOfInputOrWeightDo) {
  const auto orders = [](const Dims& input, const Dims& weight) {
    const Tensor x = make(float32, {1, 2, 3, 3}, input), w = make(float32, {2, 2, 2, 2}, weight);
    const auto out = results("aten::convolution_backward.out", {make(float32, {1, 2, 2, 2}), x, w, none, Ints{1}, Ints{0}, Ints{1}, false, Ints{0}, Int{1}, Bools{true, true, true}});
    return std::vector<Dims>{out[0].dim_order, out[1].dim_order};
  };
  const Dims first{0, 1, 2, 3}, last{0, 2, 3, 1};
  EXPECT_THAT(orders(first, first), ElementsAre(first, first));
  EXPECT_THAT(orders(last, first), ElementsAre(last, last));
  EXPECT_THAT(orders(first, last), ElementsAre(last, last));
}

TEST(EmbeddingDenseBackward, FrequencyAndPadding) {
  const auto gradient = [](DType dtype, Int padding_idx, bool scale_grad_by_freq) {
    return values_of(result("aten::embedding_dense_backward.out", {tensor(dtype, {3, 1}, {4, 4, 4}), tensor(int64, {3}, {1, 1, 0}), Int{3}, padding_idx, scale_grad_by_freq}));
  };
  EXPECT_THAT(gradient(float32, -1, false), ElementsAre(4, 8, 0));
  EXPECT_THAT(gradient(float32, 0, true), ElementsAre(0, 4, 0));
  EXPECT_THAT(gradient(int32, -1, true), ElementsAre(4, 0, 0));  // half of an integer is 0
}

TEST(EmbeddingDenseBackward, WideUnsignedIsRefusedWhereARowIsNamed) {
  const auto refused = [](Int index) { return refusal("aten::embedding_dense_backward.out", {tensor(uint16, {1, 1}, {4}), tensor(int64, {1}, {static_cast<Real>(index)}), Int{3}, Int{1}, false}); };
  EXPECT_EQ(refused(0), "embedding_dense_backward.R5");
  for (const Int index : {-1, 1, 3}) EXPECT_EQ(refused(index), "");
}

}  // namespace
}  // namespace assay
