#include <gmock/gmock-more-matchers.h>

#include <limits>

#include "tests/support/calls.h"

// Common errors in reimplementations of movement, creation and indexing. Each expected value is the answer of eager
// PyTorch.
namespace assay {
namespace traps_movement_test {

using enum DType;
using testing::ElementsAre;
using testing::ElementsAreArray;

constexpr Real inf = std::numeric_limits<Real>::infinity(), nan = std::numeric_limits<Real>::quiet_NaN();
constexpr Int least = std::numeric_limits<Int>::min(), most = std::numeric_limits<Int>::max();
const Value none;
Value integer(Int n) { return n; }
Value ints(Ints list) { return list; }

Tensor row(DType dtype, const std::vector<Real>& values) {
  return tensor(dtype, {static_cast<Int>(values.size())}, values);
}
Tensor scalar(DType dtype, Real value) { return tensor(dtype, {}, {value}); }
Tensor zeros(DType dtype, const Dims& sizes) { return make(dtype, sizes); }
Tensor ramp(const Dims& sizes) {
  std::vector<Real> values(static_cast<std::size_t>(count(sizes)));
  std::iota(values.begin(), values.end(), Real{0});
  return tensor(float32, sizes, values);
}

std::vector<Tensor> pieces(std::string_view name, std::vector<Value> arguments) {
  const Operator* op = find_operator(name);
  arguments.resize(op->arguments.size());
  if (const Answer answer = call(*op, arguments); answer.outcome != Outcome::ok)
    throw std::runtime_error(answer.message);
  std::vector<Tensor> list;
  for (auto& t : std::get<Tensors>(arguments.back())) list.push_back(*t);
  return list;
}

// -- movement ---------------------------------------------------------------------------------------------------------

Tensor slice(const Value& start, const Value& end, Int step) {
  return result("aten::slice_copy.Tensor_out", {row(float32, {0, 1, 2}), integer(0), start, end, step});
}

TEST(Slice, BoundsAreClamped) {
  EXPECT_THAT(values_of(slice(integer(-100), integer(most), 2)), ElementsAre(0, 2));
  EXPECT_THAT(values_of(slice(integer(least), integer(most), Int{1} << 62)), ElementsAre(0));
  EXPECT_EQ(slice(integer(2), integer(1), 1).sizes, Dims{0});
  EXPECT_EQ(slice(integer(most), integer(most), 1).sizes, Dims{0});
}

TEST(Slice, StepIsPositive) {
  EXPECT_EQ(refusal("aten::slice_copy.Tensor_out", {ramp({3}), integer(0), none, none, integer(0)}),
            "slice_copy.Tensor.R3");
  EXPECT_EQ(refusal("aten::slice_copy.Tensor_out", {ramp({}), integer(0), none, none, integer(1)}),
            "slice_copy.Tensor.R1");
}

TEST(Slice, ScatterCastsTheWrittenElements) {
  EXPECT_THAT(values_of(result("aten::slice_scatter.out", {zeros(int32, {3}), row(float32, {1.7, nan}), integer(0),
                                                           integer(0), integer(2), integer(1)})),
              ElementsAre(1, -2147483648.0, 0));
  EXPECT_EQ(refusal("aten::slice_scatter.out",
                    {zeros(int32, {3}), row(int32, {1}), integer(0), integer(0), integer(2), integer(1)}),
            "slice_scatter.R4");
}

TEST(Cat, SkipsTensorsOfSizeZeroOfAnyRankMix) {
  EXPECT_EQ(result("aten::cat.out", {Tensors{zeros(float64, {0}), ramp({2, 3})}, integer(-2)}).sizes, (Dims{2, 3}));
  EXPECT_EQ(result("aten::cat.out", {Tensors{zeros(float64, {0}), ramp({2, 3})}, integer(1)}).dtype, float64);
  EXPECT_EQ(result("aten::cat.out", {Tensors{zeros(float32, {0})}, integer(7)}).sizes, Dims{0});
  EXPECT_EQ(refusal("aten::cat.out", {Tensors{zeros(float32, {0, 2}), ramp({2, 3})}, integer(0)}), "cat.R3");
  EXPECT_EQ(refusal("aten::cat.out", {Tensors{scalar(float32, 1)}, integer(0)}), "cat.R2");
}

TEST(Cat, Promotes) {
  const auto dtype_of = [](DType a, DType b) {
    return result("aten::cat.out", {Tensors{row(a, {1}), row(b, {1})}, integer(0)}).dtype;
  };
  EXPECT_EQ(dtype_of(uint8, int8), int16);
  EXPECT_EQ(dtype_of(float16, bfloat16), float32);
  EXPECT_EQ(dtype_of(uint16, float16), float16);
  EXPECT_EQ(refusal("aten::cat.out", {Tensors{row(uint16, {1}), row(boolean, {1})}, integer(0)}), "cat.dtype");
}

TEST(Cat, ChannelsLastStaysOnlyWhereAllAre) {
  const Tensor last = tensor(float32, {1, 2, 1, 2}, Dims{0, 2, 3, 1}, {1, 2, 3, 4}), first = ramp({1, 2, 1, 2});
  EXPECT_EQ(result("aten::cat.out", {Tensors{last, last}, integer(0)}).dim_order, (Dims{0, 2, 3, 1}));
  EXPECT_EQ(result("aten::cat.out", {Tensors{last, first}, integer(0)}).dim_order, (Dims{0, 1, 2, 3}));
}

TEST(Split, OfNothingIsOneEmptyPiece) {
  EXPECT_EQ(pieces("aten::split_copy.Tensor_out", {zeros(float32, {0}), integer(0), integer(0)}).size(), 1u);
  EXPECT_EQ(pieces("aten::split_copy.Tensor_out", {ramp({5}), integer(most), integer(0)}).size(), 1u);
  EXPECT_EQ(pieces("aten::unbind_copy.int_out", {zeros(float32, {0, 2}), integer(0)}).size(), 0u);
  EXPECT_EQ(refusal("aten::split_copy.Tensor_out", {ramp({4}), integer(0), integer(0)}), "split_copy.Tensor.R4");
}

TEST(Split, SizesSumExactly) {
  const auto refused = [](Ints sizes) {
    return refusal("aten::split_with_sizes_copy.out", {ramp({5}), ints(sizes), integer(0)});
  };
  EXPECT_EQ(refused({2, 3}), "");
  EXPECT_EQ(refused({2, 2}), "split_with_sizes_copy.R4");
  EXPECT_EQ(refused({most, most, 7}), "split_with_sizes_copy.R4");
  EXPECT_EQ(refused({6, -1}), "split_with_sizes_copy.R3");
}

TEST(View, OneSizeIsInferred) {
  const auto view = [](const Dims& sizes, Ints size) {
    return refusal("aten::view_copy.out", {ramp(sizes), ints(size)});
  };
  EXPECT_EQ(view({2, 3}, {-1, 2}), "");
  EXPECT_EQ(view({2, 0}, {3, -1}), "");
  EXPECT_EQ(view({2, 0}, {0, -1}), "view_copy.R1");
  EXPECT_EQ(view({2, 3}, {-1, -1}), "view_copy.R1");
  EXPECT_EQ(view({2, 3}, {4, -1}), "view_copy.R1");
  EXPECT_EQ(view({2, 3}, {-2, -3}), "view_copy.R1");
  const Tensor transposed = tensor(float32, {3, 2}, Dims{1, 0}, {0, 3, 1, 4, 2, 5});
  EXPECT_THAT(values_of(result("aten::view_copy.out", {transposed, ints({6})})), ElementsAre(0, 3, 1, 4, 2, 5));
}

TEST(Expand, MinusOneKeepsAnExistingSizeAlone) {
  EXPECT_EQ(result("aten::expand_copy.out", {ramp({2, 1}), ints({3, -1, 4}), false}).sizes, (Dims{3, 2, 4}));
  EXPECT_EQ(refusal("aten::expand_copy.out", {ramp({2, 1}), ints({-1, 2, 3}), false}), "expand_copy.R1");
}

TEST(Squeeze, OfADimensionThatIsNotOneDoesNothing) {
  EXPECT_EQ(result("aten::squeeze_copy.dim_out", {ramp({1, 2}), integer(1)}).sizes, (Dims{1, 2}));
  EXPECT_EQ(result("aten::squeeze_copy.dims_out", {ramp({1, 2, 1}), ints({0, 1})}).sizes, (Dims{2, 1}));
  EXPECT_EQ(result("aten::squeeze_copy.dims_out", {ramp({1, 2}), ints({})}).sizes, (Dims{1, 2}));
  EXPECT_EQ(refusal("aten::squeeze_copy.dims_out", {ramp({1, 2}), ints({0, -2})}), "squeeze_copy.dims.R1");
}

TEST(Roll, WithoutDimsRollsTheFlattenedTensor) {
  EXPECT_THAT(values_of(result("aten::roll.out", {ramp({2, 2}), ints({1}), ints({})})), ElementsAre(3, 0, 1, 2));
  EXPECT_THAT(values_of(result("aten::roll.out", {ramp({2, 2}), ints({1, 2}), ints({0, 0})})), ElementsAre(2, 3, 0, 1));
  EXPECT_THAT(values_of(result("aten::roll.out", {ramp({4}), ints({Int{1} << 62}), ints({0})})),
              ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(refusal("aten::roll.out", {zeros(float32, {2, 0}), ints({1}), ints({5})}), "");
}

TEST(Repeat, TakesAtLeastTheRank) {
  EXPECT_EQ(result("aten::repeat.out", {ramp({2}), ints({3, 0, 1})}).sizes, (Dims{3, 0, 2}));
  EXPECT_EQ(refusal("aten::repeat.out", {ramp({2, 2}), ints({2})}), "repeat.R1");
}

TEST(Flip, DimensionsAreNamedOnce) {
  EXPECT_EQ(refusal("aten::flip.out", {ramp({2, 3}), ints({0, -2})}), "flip.R1");
  EXPECT_EQ(refusal("aten::flip.out", {zeros(uint16, {2, 3}), ints({1})}), "flip.R2");
  EXPECT_EQ(refusal("aten::flip.out", {zeros(uint16, {2, 3}), ints({0})}), "");
}

TEST(Tril, WritesZeroOverNaN) {
  EXPECT_THAT(values_of(result("aten::tril.out", {tensor(float32, {2, 2}, {1, nan, 2, 3}), integer(0)})),
              ElementsAre(1, 0, 2, 3));
  EXPECT_THAT(values_of(result("aten::tril.out", {tensor(float32, {2, 2}, {1, nan, 2, 3}), integer(least)})),
              ElementsAre(0, 0, 0, 0));
  EXPECT_EQ(refusal("aten::tril.out", {ramp({2}), integer(0)}), "tril.R2");
}

TEST(ConstantPad, NegativePadsCrop) {
  EXPECT_THAT(values_of(result("aten::constant_pad_nd.out", {row(int64, {1, 2, 3}), ints({-1, 2}), 2.7})),
              ElementsAre(2, 3, 2, 2));
  EXPECT_EQ(refusal("aten::constant_pad_nd.out", {ramp({2}), ints({3, -3}), integer(0)}), "constant_pad_nd.R2");
  EXPECT_EQ(refusal("aten::constant_pad_nd.out", {ramp({2}), ints({1}), integer(0)}), "constant_pad_nd.R1");
}

TEST(ConstantPad, ValueIsLookedAtOnlyWhereItIsUsed) {
  EXPECT_EQ(refusal("aten::constant_pad_nd.out", {row(uint8, {1, 2}), ints({0, 1}), integer(300)}),
            "constant_pad_nd.R3");
  EXPECT_EQ(refusal("aten::constant_pad_nd.out", {row(uint8, {1, 2}), ints({0, -1}), integer(300)}), "");
}

TEST(PixelShuffle, ChannelsAreRowThenColumn) {
  EXPECT_THAT(values_of(result("aten::pixel_shuffle.out", {ramp({4, 1, 2}), integer(2)})),
              ElementsAre(0, 2, 1, 3, 4, 6, 5, 7));
}

// -- casts ------------------------------------------------------------------------------------------------------------

std::vector<Int> copied(DType dtype, const std::vector<Real>& values) {
  return values_of<Int>(
      result("aten::copy.out", {zeros(dtype, {static_cast<Int>(values.size())}), row(float64, values), false}));
}

TEST(Cast, FloatsTruncateThroughAWiderSignedType) {
  EXPECT_THAT(copied(int32, {1.7, nan, inf, 3e9}), ElementsAre(1, -2147483648, -2147483648, -2147483648));
  EXPECT_THAT(copied(int64, {-1.7, nan, -inf}), ElementsAre(-1, least, least));
  EXPECT_THAT(copied(uint8, {300, -1, -300, 3000000001.0, 4294967301.0, nan, inf}),
              ElementsAre(44, 255, 212, 1, 5, 0, 0));
  EXPECT_THAT(copied(int8, {300, -129.5, nan}), ElementsAre(44, 127, 0));
  EXPECT_THAT(copied(uint16, {70000, nan, 3e9}), ElementsAre(4464, 0, 0));
  EXPECT_THAT(copied(boolean, {nan, -0.0, 5e-324}), ElementsAre(1, 0, 1));
  EXPECT_THAT(
      values_of<Bits>(result("aten::copy.out", {zeros(uint64, {4}), row(float64, {nan, inf, -1, 1e19}), false})),
      ElementsAre(Bits{1} << 63, 0u, ~Bits{0}, 10000000000000000000u));
}

TEST(Cast, Float64GoesToHalfThroughFloat32) {
  const Real twice = 1 + 0x1p-11 + 0x1p-30;
  EXPECT_THAT(values_of(result("aten::copy.out", {zeros(float16, {1}), row(float64, {twice}), false})), ElementsAre(1));
  EXPECT_THAT(values_of(result("aten::full_like.out", {zeros(float16, {2}), twice, none})), ElementsAre(1, 1));
  EXPECT_THAT(values_of(result("aten::scatter.value_out", {zeros(float16, {1}), integer(0), row(int64, {0}), twice})),
              ElementsAre(1));
}

// -- creation ---------------------------------------------------------------------------------------------------------

TEST(Fill, ScalarIsCheckedAgainstTheRange) {
  const auto full = [](DType dtype, const Value& value) {
    return refusal("aten::full_like.out", {zeros(dtype, {2}), value, none});
  };
  for (const auto& [dtype, value] : std::vector<std::pair<DType, Value>>{{uint8, Int{300}},
                                                                         {uint8, Int{-256}},
                                                                         {uint8, -1.0},
                                                                         {int8, 127.5},
                                                                         {int32, nan},
                                                                         {float16, Int{65520}},
                                                                         {float32, 1e39},
                                                                         {int64, inf},
                                                                         {uint16, Int{70000}}})
    EXPECT_EQ(full(dtype, value), "full_like.R1") << info(dtype).name;
  for (const auto& [dtype, value] : std::vector<std::pair<DType, Value>>{{uint8, Int{-255}},
                                                                         {boolean, Int{300}},
                                                                         {boolean, nan},
                                                                         {float16, inf},
                                                                         {float32, nan},
                                                                         {int64, -0x1p63},
                                                                         {int64, 0x1p63},
                                                                         {float64, 1e39}})
    EXPECT_EQ(full(dtype, value), "") << info(dtype).name;
}

TEST(Fill, OneElementOfAHalfTypeIsNotChecked) {
  EXPECT_THAT(values_of(result("aten::full_like.out", {zeros(float16, {1, 1}), 70000.0, none})), ElementsAre(inf));
  EXPECT_EQ(refusal("aten::full_like.out", {zeros(float16, {2}), 70000.0, none}), "full_like.R1");
}

TEST(Fill, FractionsAreTruncatedAndNegativesWrap) {
  EXPECT_THAT(values_of(result("aten::full_like.out", {zeros(int64, {1}), 2.7, none})), ElementsAre(2));
  EXPECT_THAT(values_of(result("aten::full_like.out", {zeros(uint8, {1}), Int{-1}, none})), ElementsAre(255));
  EXPECT_THAT(values_of(result("aten::full_like.out", {zeros(boolean, {1}), 0.5, none})), ElementsAre(1));
  EXPECT_THAT(values_of(result("aten::fill.Tensor_out", {zeros(int32, {1}), scalar(float32, nan)})),
              ElementsAre(-2147483648.0));
  EXPECT_EQ(refusal("aten::fill.Tensor_out", {zeros(int32, {1}), row(float32, {1})}), "fill.Tensor.R1");
}

TEST(Creation, DTypeComesFromTheNumber) {
  EXPECT_EQ(result("aten::full.out", {ints({2}), Int{1}}).dtype, int64);
  EXPECT_EQ(result("aten::full.out", {ints({2}), true}).dtype, boolean);
  EXPECT_EQ(result("aten::full.out", {ints({2}), 1.0}).dtype, float32);
  EXPECT_EQ(result("aten::scalar_tensor.out", {Int{1}}).dtype, float32);
  EXPECT_EQ(result("aten::zeros.out", {ints({2})}).dtype, float32);
  EXPECT_EQ(result("aten::arange.out", {Int{5}}).dtype, int64);
  EXPECT_EQ(result("aten::arange.out", {true}).dtype, int64);
  EXPECT_EQ(result("aten::arange.out", {5.0}).dtype, float32);
}

Tensor arange(const Value& start, const Value& end, const Value& step, const Value& out = none) {
  return result("aten::arange.start_out", {start, end, step, out});
}

TEST(Arange, LengthIsComputedInDouble) {
  EXPECT_EQ(arange(Int{0}, Int{1}, 0.1).sizes, Dims{10});
  EXPECT_EQ(arange(Int{1}, 1.3, 0.1).sizes, Dims{4});
  EXPECT_EQ(arange(Int{0}, Int{5}, inf).sizes, Dims{0});
}

TEST(Arange, IntegersTruncateTheirArguments) {
  EXPECT_THAT(values_of(arange(Int{0}, 5.5, 2.5, zeros(int64, {0}))), ElementsAre(0, 2, 4));
  EXPECT_THAT(values_of(arange(0.5, Int{3}, 0.5, zeros(int32, {0}))), ElementsAre(0, 0, 0, 0, 0));
  EXPECT_THAT(values_of(arange(Int{300}, Int{600}, Int{100}, zeros(int8, {0}))), ElementsAre(44, -112, -12));
  EXPECT_EQ(refusal("aten::arange.start_out", {0.5, 5.5, 0.5, zeros(int64, {0})}), "arange.start.R2");
}

TEST(Arange, StepLeadsToTheEnd) {
  EXPECT_EQ(refusal("aten::arange.start_out", {Int{0}, Int{5}, Int{-1}}), "arange.start.R5");
  EXPECT_EQ(refusal("aten::arange.start_out", {Int{0}, Int{5}, nan}), "arange.start.R2");
  EXPECT_EQ(refusal("aten::arange.out", {inf}), "arange.shape");
  EXPECT_EQ(arange(Int{0}, Int{0}, Int{-1}).sizes, Dims{0});
}

TEST(MemoryFormat, PreservesOrArranges) {
  const Tensor transposed = tensor(float32, {2, 2}, Dims{1, 0}, {1, 2, 3, 4});
  EXPECT_EQ(result("aten::clone.out", {transposed, none}).dim_order, (Dims{1, 0}));
  EXPECT_EQ(result("aten::clone.out", {transposed, integer(0)}).dim_order, (Dims{0, 1}));
  EXPECT_EQ(result("aten::clone.out", {ramp({1, 2, 2, 2}), integer(2)}).dim_order, (Dims{0, 2, 3, 1}));
  EXPECT_EQ(refusal("aten::clone.out", {ramp({2}), integer(2)}), "clone.R1");
  EXPECT_EQ(refusal("aten::empty.out", {ints({2}), integer(1)}), "empty.R2");
  EXPECT_EQ(result("dim_order_ops::_clone_dim_order.out", {transposed, false, ints({0, 1})}).dim_order, (Dims{0, 1}));
  EXPECT_EQ(refusal("dim_order_ops::_clone_dim_order.out", {transposed, false, ints({1, 0})}),
            "dim_order_ops::_clone_dim_order.R1");
}

// -- pieces, windows and padding -------------------------------------------------------------------------------------

TEST(Narrow, NothingMayStartAtTheEnd) {
  const auto narrow = [](Int start, Int length) {
    return refusal("aten::narrow_copy.out", {ramp({4}), integer(0), integer(start), integer(length)});
  };
  EXPECT_EQ(narrow(4, 0), "");
  EXPECT_EQ(narrow(-1, 1), "");
  EXPECT_EQ(narrow(5, 0), "narrow_copy.R3");
  EXPECT_EQ(narrow(3, 2), "narrow_copy.R4");
  EXPECT_EQ(narrow(-1, most), "narrow_copy.R4");
}

TEST(Diagonal, BeyondTheMatrixIsEmpty) {
  const auto diagonal = [](Int offset) {
    return result("aten::diagonal_copy.out", {ramp({2, 3}), integer(offset), integer(0), integer(1)});
  };
  EXPECT_THAT(values_of(diagonal(1)), ElementsAre(1, 5));
  EXPECT_THAT(values_of(diagonal(-1)), ElementsAre(3));
  for (const Int offset : {Int{3}, Int{-2}, most, least}) EXPECT_EQ(diagonal(offset).sizes, Dims{0});
  EXPECT_EQ(refusal("aten::diagonal_copy.out", {ramp({2, 3}), integer(0), integer(1), integer(-1)}),
            "diagonal_copy.R3");
}

TEST(Unfold, WindowsMayBeEmpty) {
  const auto unfold = [](const Dims& sizes, Int size, Int step) {
    return result("aten::unfold_copy.out", {ramp(sizes), integer(0), integer(size), integer(step)}).sizes;
  };
  EXPECT_EQ(unfold({10}, 3, 4), (Dims{2, 3}));
  EXPECT_EQ(unfold({10}, 0, 3), (Dims{4, 0}));
  EXPECT_EQ(unfold({}, 1, 1), Dims{1});
  EXPECT_EQ(refusal("aten::unfold_copy.out", {ramp({3}), integer(0), integer(4), integer(1)}), "unfold_copy.R2");
}

TEST(AsStrided, WalksTheMemory) {
  const auto strided = [](const Tensor& self, Ints size, Ints stride, const Value& offset) {
    return values_of(result("aten::as_strided_copy.out", {self, ints(size), ints(stride), offset}));
  };
  EXPECT_THAT(strided(ramp({2, 3}), {2, 2}, {1, 2}, integer(1)), ElementsAre(1, 3, 2, 4));
  EXPECT_THAT(strided(tensor(float32, {2, 2}, Dims{1, 0}, {1, 2, 3, 4}), {4}, {1}, none), ElementsAre(1, 3, 2, 4));
  const auto refused = [](Ints size, Ints stride, const Value& offset) {
    return refusal("aten::as_strided_copy.out", {ramp({2, 3}), ints(size), ints(stride), offset});
  };
  EXPECT_EQ(refused({2, 4}, {3, 1}, none), "as_strided_copy.R4");
  EXPECT_EQ(refused({2, 2}, {most, 1}, integer(2)), "as_strided_copy.R4");
  EXPECT_EQ(refused({0}, {1}, integer(100)), "");
  EXPECT_EQ(refused({1}, {-1}, none), "as_strided_copy.R2");
  EXPECT_EQ(refused({1}, {1}, integer(-1)), "as_strided_copy.R3");
}

TEST(Padding, ReflectionIsShorterThanTheSizeAndReplicationIsNot) {
  const auto padded = [](std::string_view name, Ints pad) {
    return values_of(result(name, {ramp({1, 4}), ints(pad)}));
  };
  EXPECT_THAT(padded("aten::reflection_pad1d.out", {2, 1}), ElementsAre(2, 1, 0, 1, 2, 3, 2));
  EXPECT_THAT(padded("aten::reflection_pad1d.out", {-2, 3}), ElementsAre(2, 3, 2, 1, 0));
  EXPECT_THAT(padded("aten::replication_pad1d.out", {-2, 5}), ElementsAre(2, 3, 3, 3, 3, 3, 3));
  EXPECT_THAT(padded("aten::replication_pad1d.out", {-5, 3}), ElementsAre(3, 3));  // crops values that it adds
  EXPECT_THAT(padded("aten::reflection_pad1d.out", {-5, 3}), ElementsAre(1, 0));
  EXPECT_EQ(refusal("aten::reflection_pad1d.out", {ramp({1, 4}), ints({4, 0})}), "reflection_pad1d.R4");
  EXPECT_EQ(refusal("aten::replication_pad1d.out", {ramp({1, 4}), ints({-2, -2})}), "replication_pad1d.R4");
  EXPECT_EQ(refusal("aten::replication_pad1d.out", {ramp({4}), ints({1, 1})}), "replication_pad1d.R2");
}

// -- indexing ---------------------------------------------------------------------------------------------------------

Dims indexed_sizes(const Dims& self, Tensors indices) {
  return result("aten::index.Tensor_out", {ramp(self), indices}).sizes;
}

TEST(Index, AdjoiningIndicesStayInPlaceSeparatedIndicesComeFirst) {
  const Tensor one = row(int64, {0}), two = row(int64, {0, 1});
  EXPECT_EQ(indexed_sizes({2, 3, 4}, {std::nullopt, two, two}), (Dims{2, 2}));
  EXPECT_EQ(indexed_sizes({2, 3, 4}, {two, std::nullopt, two}), (Dims{2, 3}));
  EXPECT_EQ(indexed_sizes({2, 3, 4}, {std::nullopt, tensor(int64, {1, 1}, {0})}), (Dims{2, 1, 1, 4}));
  EXPECT_EQ(indexed_sizes({2, 3, 4}, {scalar(int64, 1)}), (Dims{3, 4}));
  EXPECT_EQ(indexed_sizes({2, 3}, {one, two}), Dims{2});
}

TEST(Index, AMaskHasTheSizesOfTheDimensionsThatItMarks) {
  EXPECT_THAT(
      values_of(result("aten::index.Tensor_out", {ramp({2, 2}), Tensors{tensor(boolean, {2, 2}, {1, 0, 0, 1})}})),
      ElementsAre(0, 3));
  EXPECT_EQ(indexed_sizes({3, 4}, {row(uint8, {1, 0, 1})}), (Dims{2, 4}));
  EXPECT_EQ(refusal("aten::index.Tensor_out", {ramp({3, 4}), Tensors{row(boolean, {1, 0})}}), "index.Tensor.R5");
  EXPECT_EQ(refusal("aten::index.Tensor_out", {ramp({3}), Tensors{scalar(boolean, 1)}}), "index.Tensor.R3");
  EXPECT_EQ(indexed_sizes({0, 3}, {scalar(boolean, 1)}), (Dims{0, 3}));
}

TEST(Index, NegativeCountsFromTheEndButNotForAll) {
  const Tensor self = ramp({3}), back = row(int64, {-1});
  EXPECT_THAT(values_of(result("aten::index.Tensor_out", {self, Tensors{back}})), ElementsAre(2));
  EXPECT_THAT(values_of(result("aten::select_copy.int_out", {self, integer(0), integer(-1)})), ElementsAre(2));
  EXPECT_EQ(refusal("aten::index.Tensor_out", {self, Tensors{row(int64, {-4})}}), "index.Tensor.D1");
  EXPECT_EQ(refusal("aten::gather.out", {self, integer(0), back, false}), "gather.D1");
  EXPECT_EQ(refusal("aten::scatter.value_out", {self, integer(0), back, integer(1)}), "scatter.value.D1");
  EXPECT_EQ(refusal("aten::index_select.out", {self, integer(0), back}), "index_select.D1");
  EXPECT_EQ(refusal("aten::embedding.out", {ramp({3, 2}), back, integer(-1), false, false}), "embedding.D1");
}

TEST(Index, IndicesAreInt32OrInt64) {
  for (const DType dtype : {int8, int16, float32, uint16}) {
    const Tensor index = row(dtype, {0});
    EXPECT_EQ(refusal("aten::index.Tensor_out", {ramp({3}), Tensors{index}}), "index.Tensor.R2");
    EXPECT_EQ(refusal("aten::gather.out", {ramp({3}), integer(0), index, false}), "gather.R3");
    EXPECT_EQ(refusal("aten::embedding.out", {ramp({3, 2}), index, integer(-1), false, false}), "embedding.R2");
  }
  EXPECT_EQ(refusal("aten::gather.out", {ramp({3}), integer(0), row(int32, {0}), false}), "");
}

TEST(Index, OutOfRangeDoesNotCountWhereNothingIsTaken) {
  EXPECT_EQ(indexed_sizes({3, 0}, {row(int64, {5})}), (Dims{1, 0}));
  EXPECT_EQ(refusal("aten::index.Tensor_out", {ramp({3, 0}), Tensors{std::nullopt, row(int64, {5})}}),
            "index.Tensor.D1");
  EXPECT_EQ(refusal("aten::index.Tensor_out", {ramp({0, 4}), Tensors{row(int64, {0})}}), "index.Tensor.D1");
  EXPECT_EQ(refusal("aten::gather.out", {ramp({3, 4}), integer(0), zeros(float32, {0, 9, 9}), false}), "");
}

Tensor put(const Tensor& self, Tensors indices, const Tensor& values, bool accumulate) {
  return result("aten::index_put.out", {self, indices, values, accumulate});
}

TEST(IndexPut, LastOfEqualIndicesStaysOrAllAreAdded) {
  const Tensor twice = row(int64, {1, 1, 1});
  EXPECT_THAT(values_of(put(zeros(float32, {2}), {twice}, row(float32, {1, 2, 3}), false)), ElementsAre(0, 3));
  EXPECT_THAT(values_of(put(zeros(float32, {2}), {twice}, row(float32, {1, 2, 3}), true)), ElementsAre(0, 6));
  EXPECT_THAT(values_of(put(zeros(uint8, {2}), {twice}, row(uint8, {200, 50, 10}), true)), ElementsAre(0, 4));
  EXPECT_THAT(values_of(put(zeros(boolean, {2}), {twice}, row(boolean, {1, 1, 0}), true)), ElementsAre(0, 1));
}

TEST(IndexPut, DTypesAreEqualUnlessOneValueFillsAMask) {
  EXPECT_EQ(refusal("aten::index_put.out", {ramp({2}), Tensors{row(int64, {0})}, row(float64, {1}), false}),
            "index_put.R8");
  EXPECT_THAT(values_of(put(ramp({2}), {row(boolean, {1, 0})}, tensor(float64, {1, 1, 1}, {7}), false)),
              ElementsAre(7, 1));
  EXPECT_EQ(refusal("aten::index_put.out", {ramp({2}), Tensors{row(boolean, {1, 0})}, row(float64, {7}), true}),
            "index_put.R8");
  EXPECT_EQ(refusal("aten::index_put.out", {ramp({3, 4}), Tensors{row(int64, {0, 1})}, ramp({1, 2, 4}), false}),
            "index_put.R9");
}

TEST(Scatter, LastOfEqualIndicesStays) {
  EXPECT_THAT(values_of(result("aten::scatter.src_out",
                               {zeros(float32, {2}), integer(0), row(int64, {1, 1, 1}), row(float32, {1, 2, 3})})),
              ElementsAre(0, 3));
  EXPECT_EQ(refusal("aten::scatter.src_out", {zeros(float32, {2}), integer(0), row(int64, {1}), row(float64, {1})}),
            "scatter.src.R2");
}

TEST(Scatter, ScalarsCountAsRankOne) {
  EXPECT_THAT(values_of(result("aten::scatter.src_out",
                               {zeros(float32, {3}), integer(0), scalar(int64, 2), row(float32, {5, 6})})),
              ElementsAre(0, 0, 5));
  EXPECT_THAT(values_of(result("aten::scatter_add.out",
                               {scalar(float32, 1), integer(0), row(int64, {0, 0}), row(float32, {2, 3})})),
              ElementsAre(6));
  EXPECT_EQ(result("aten::gather.out", {scalar(float32, 1), integer(0), row(int64, {0, 0}), false}).sizes, Dims{2});
  EXPECT_EQ(result("aten::gather.out", {ramp({3}), integer(0), scalar(int64, 1), false}).sizes, Dims{});
}

TEST(ScatterAdd, HalfTypesAreSummedWide) {
  const auto ones = [](DType dtype) { return row(dtype, std::vector<Real>(5000, 1)); };
  const Tensor index = zeros(int64, {5000});
  EXPECT_THAT(values_of(result("aten::scatter_add.out", {zeros(float16, {1}), integer(0), index, ones(float16)})),
              ElementsAre(5000));
  EXPECT_THAT(values_of(result("aten::scatter_add.out", {zeros(bfloat16, {1}), integer(0), index, ones(bfloat16)})),
              ElementsAre(4992));
}

TEST(ScatterReduce, MeanOfIntegersIsRoundedDown) {
  const auto reduced = [](std::string_view reduce, bool include_self) {
    return values_of(result("aten::scatter_reduce.two_out", {row(int32, {-1, 2}), integer(0), row(int64, {0, 0}),
                                                             row(int32, {-4, -2}), std::string(reduce), include_self}));
  };
  EXPECT_THAT(reduced("mean", true), ElementsAre(-3, 2));
  EXPECT_THAT(reduced("mean", false), ElementsAre(-3, 2));
  EXPECT_THAT(reduced("amax", false), ElementsAre(-2, 2));
  EXPECT_THAT(reduced("prod", true), ElementsAre(-8, 2));
}

TEST(Masked, WideUnsignedIsRefusedWhereSomethingIsSelected) {
  const auto refused = [](const std::vector<Real>& mask) {
    return refusal("aten::masked_select.out", {row(uint16, {1, 2}), row(boolean, mask)});
  };
  EXPECT_EQ(refused({0, 0}), "");
  EXPECT_EQ(refused({0, 1}), "masked_select.R2");
}

TEST(Masked, SourceIsConsumedRowMajor) {
  const Tensor mask = tensor(boolean, {2, 1}, {1, 0});
  EXPECT_THAT(values_of(result("aten::masked_scatter.out", {zeros(float32, {2}), mask, row(float32, {5, 6, 7})})),
              ElementsAre(5, 6, 0, 0));
  EXPECT_EQ(refusal("aten::masked_scatter.out", {zeros(float32, {2}), mask, row(float32, {5})}), "masked_scatter.D1");
  EXPECT_EQ(refusal("aten::masked_scatter.out", {zeros(float32, {2}), mask, row(int32, {5, 6})}), "masked_scatter.R1");
  EXPECT_THAT(values_of(result("aten::masked_select.out", {ramp({2}), mask})), ElementsAre(0, 1));
}

TEST(Sort, NaNIsLargestAndUint64HasNoSign) {
  const auto sorted = [](const Tensor& x, bool descending) {
    return results("aten::sort.values", {x, integer(0), descending});
  };
  EXPECT_THAT(values_of(sorted(row(float32, {nan, 1, inf}), false)[1]), ElementsAre(1, 2, 0));
  EXPECT_THAT(values_of(sorted(row(float32, {1, nan, inf}), true)[1]), ElementsAre(1, 2, 0));
  EXPECT_THAT(values_of(sorted(tensor<Bits>(uint64, {2}, {Bits{1} << 63, 1}), false)[1]), ElementsAre(1, 0));
}

TEST(RepeatInterleave, CountsAreNotNegative) {
  const auto refused = [](const Tensor& repeats, const Value& size) {
    return refusal("aten::repeat_interleave.Tensor_out", {repeats, size});
  };
  EXPECT_THAT(values_of(result("aten::repeat_interleave.Tensor_out", {row(int64, {1, 0, 2}), none})),
              ElementsAre(0, 2, 2));
  EXPECT_EQ(refused(row(int64, {1, -1}), none), "repeat_interleave.Tensor.D1");
  EXPECT_EQ(refused(row(int64, {1, 2}), integer(4)), "repeat_interleave.Tensor.D2");
  EXPECT_EQ(refused(row(int64, {}), integer(4)), "");  // not read
}

TEST(Nonzero, IsRowMajorAndNaNIsNotZero) {
  EXPECT_THAT(values_of(result("aten::nonzero.out", {row(float32, {nan, -0.0, 1})})), ElementsAre(0, 2));
  EXPECT_THAT(values_of(result("aten::nonzero.out", {tensor(int8, {2, 2}, {0, 1, 1, 0})})), ElementsAre(0, 1, 1, 0));
  EXPECT_EQ(result("aten::nonzero.out", {scalar(float32, 1)}).sizes, (Dims{1, 0}));
  EXPECT_EQ(result("aten::nonzero.out", {scalar(float32, 0)}).sizes, (Dims{0, 0}));
}

TEST(Embedding, PaddingIndexHasNoEffectForward) {
  EXPECT_THAT(values_of(result("aten::embedding.out", {ramp({2, 2}), row(int32, {1, 0}), integer(0), true, true})),
              ElementsAre(2, 3, 0, 1));
}

// -- bags of embeddings -----------------------------------------------------------------------------------------------

struct Bags {
  Tensor weight = tensor(float32, {4, 1}, {1, 5, 5, -2});
  std::vector<Real> indices{0, 3, 1, 2}, offsets{0, 2, 2};
  Int mode = 0, padding_idx = -1;
  Value weights = none;
  bool include_last_offset = false;
  std::vector<Value> arguments() const {
    return {weight,  row(int64, indices), row(int64, offsets), false, mode, false,
            weights, include_last_offset, padding_idx};
  }
};
constexpr std::string_view embedding_bag = "aten::_embedding_bag.out";

TEST(EmbeddingBag, NothingIsZeroAndTheFirstOfEqualsIsLargest) {
  const auto largest = results(embedding_bag, Bags{.mode = 2}.arguments());
  EXPECT_THAT(values_of(largest[0]), ElementsAre(1, 0, 5));
  EXPECT_THAT(values_of<Int>(largest[1]), ElementsAre(0, 0, 2, 2));
  EXPECT_THAT(values_of<Int>(largest[2]), ElementsAre(2, 0, 2));
  EXPECT_THAT(values_of<Int>(largest[3]), ElementsAre(0, 0, 1));
}

TEST(EmbeddingBag, AMillionOffsetsAreNotAllPrinted) {
  const Operator& op = *find_operator(embedding_bag);
  std::vector<Value> arguments = Bags{.offsets = std::vector<Real>(1'000'000, 1)}.arguments();
  arguments.resize(op.arguments.size());
  const std::string sentence = call(op, arguments).message;
  EXPECT_THAT(sentence, testing::HasSubstr("1, 1, ...)"));
  EXPECT_LT(sentence.size(), 1000u);
}

TEST(EmbeddingBag, PaddingDoesNotCountInAMean) {
  const auto mean = results(embedding_bag, Bags{.mode = 1, .padding_idx = 3}.arguments());
  EXPECT_THAT(values_of(mean[0]), ElementsAre(1, 0, 5));
  EXPECT_THAT(values_of<Int>(mean[1]), ElementsAre(0, 0, 2, 2));
  EXPECT_THAT(values_of<Int>(mean[3]), ElementsAre(1, 0, 2));
}

TEST(EmbeddingBag, OfSumsTheSizesAreZeroAndMaybeNoBags) {
  const auto bags = [](const Bags& b) { return results(embedding_bag, b.arguments()); };
  EXPECT_THAT(values_of<Int>(bags({})[2]), ElementsAre(0, 0, 0));
  EXPECT_THAT(values_of<Int>(bags({})[1]), testing::IsEmpty());
  EXPECT_THAT(values_of<Int>(bags({.padding_idx = 3})[1]), ElementsAre(0, 0, 2, 2));
  EXPECT_THAT(values_of<Int>(bags({.weight = tensor(float64, {4, 1}, {1, 5, 5, -2})})[1]), ElementsAre(0, 0, 2, 2));
}

TEST(EmbeddingBag, Refusals) {
  const Tensor weights = tensor(float32, {4}, {1, 2, 3, 4});
  const auto refused = [](const Bags& b) { return refusal(embedding_bag, b.arguments()); };
  EXPECT_THAT(values_of(results(embedding_bag, Bags{.weights = weights}.arguments())[0]), ElementsAre(-3, 0, 35));
  EXPECT_EQ(refused({.mode = 1, .weights = weights}), "_embedding_bag.R8");
  EXPECT_EQ(refused({.indices = {0, -1}, .offsets = {0}}), "_embedding_bag.D1");
  EXPECT_EQ(refused({.offsets = {1}}), "_embedding_bag.D2");
  EXPECT_EQ(refused({.offsets = {0, 3, 2}}), "_embedding_bag.D2");
  EXPECT_EQ(refused({.offsets = {0, 3}, .include_last_offset = true}), "_embedding_bag.D2");
  EXPECT_EQ(refused({.offsets = {0, 4}, .include_last_offset = true}), "");
}

}  // namespace traps_movement_test
}  // namespace assay
