#include <gmock/gmock-matchers.h>

#include <cmath>
#include <limits>

#include "tests/support/calls.h"

// Common errors in reimplementations of attention over caches. Each expected value is the answer of ExecuTorch's own
// operators.
namespace assay {
namespace traps_attention_test {

using enum DType;
using testing::ElementsAre;
using testing::IsNan;

constexpr Real inf = std::numeric_limits<Real>::infinity(), nan = std::numeric_limits<Real>::quiet_NaN();
const Value none;

// One head of size 1 with a query of zeros. All visible keys have equal weight, so that the result is the mean of the
// visible values.
struct Attention {
  Int positions = 1;
  std::vector<Real> value{1, 2, 4, 8};
  Int start_pos = 0;
  Value attn_mask = none;
  bool is_causal = false;
  DType dtype = float32;

  std::vector<Value> arguments() const {
    const auto keys = static_cast<Int>(value.size());
    const Tensor query = tensor(dtype, {1, positions, 1, 1}, std::vector<Real>(static_cast<std::size_t>(positions)));
    return {query,
            tensor(dtype, {1, keys, 1, 1}, std::vector<Real>(value.size())),
            tensor(dtype, {1, keys, 1, 1}, value),
            start_pos,
            attn_mask,
            0.0,
            is_causal,
            none};
  }
  std::vector<Real> values() const { return values_of(result("llama::custom_sdpa.out", arguments())); }
  std::string refused() const { return refusal("llama::custom_sdpa.out", arguments()); }
};

// The same for any number of heads, without a mask.
std::vector<Value> plain(const Tensor& query, const Tensor& key, const Tensor& value, Int start_pos,
                         const Value& scale = none) {
  return {query, key, value, start_pos, none, 0.0, false, scale};
}

Tensor mask(Int positions, const std::vector<Real>& values) {
  return tensor(float32, {positions, static_cast<Int>(values.size()) / positions}, values);
}

// -- visible keys ----------------------------------------------------------------------------------------------------

TEST(Attention, KeysUpToTheEndOfTheQuery) {
  EXPECT_THAT((Attention{.start_pos = 0}.values()), ElementsAre(1));
  EXPECT_THAT((Attention{.start_pos = 1}.values()), ElementsAre(1.5));
  EXPECT_THAT((Attention{.positions = 2, .start_pos = 0}.values()), ElementsAre(1.5, 1.5));
}

TEST(Attention, CausalStopsAtTheQuery) {
  EXPECT_THAT((Attention{.positions = 2, .start_pos = 0, .is_causal = true}.values()), ElementsAre(1, 1.5));
  EXPECT_THAT((Attention{.positions = 2, .start_pos = 2, .is_causal = true}.values()),
              ElementsAre(testing::DoubleNear(7 / 3.0, 1e-6), 3.75));
}

TEST(Attention, MaskSeesAllKeysWhereverTheQueryStarts) {
  EXPECT_THAT((Attention{.start_pos = 0, .attn_mask = mask(1, {0, 0, 0, 0})}.values()), ElementsAre(3.75));
  EXPECT_THAT((Attention{.start_pos = 3, .attn_mask = mask(1, {0, -inf, 0, -inf})}.values()), ElementsAre(2.5));
}

TEST(Attention, StartIsWithinTheKeys) {
  EXPECT_EQ((Attention{.positions = 2, .start_pos = 2}.refused()), "");
  EXPECT_EQ((Attention{.positions = 2, .start_pos = 3}.refused()), "llama::custom_sdpa.R11");
  EXPECT_EQ((Attention{.start_pos = -1}.refused()), "llama::custom_sdpa.R11");
}

TEST(Attention, MaskIsFloat32OfAllKeysAndNotCausal) {
  EXPECT_EQ((Attention{.attn_mask = mask(1, {0, 0}), .dtype = float16}.refused()), "llama::custom_sdpa.R15");
  EXPECT_EQ((Attention{.attn_mask = tensor(float16, {1, 4}, {0, 0, 0, 0}), .dtype = float16}.refused()),
            "llama::custom_sdpa.R12");
  EXPECT_EQ((Attention{.attn_mask = mask(1, {0, 0, 0, 0}), .is_causal = true}.refused()), "llama::custom_sdpa.R16");
}

TEST(Attention, RowThatMasksEveryKeyIsNan) {
  EXPECT_THAT((Attention{.positions = 2, .attn_mask = mask(2, {-inf, -inf, -inf, -inf, 0, -inf, -inf, -inf})}.values()),
              ElementsAre(IsNan(), 1));
}

// -- results ---------------------------------------------------------------------------------------------------------

TEST(Attention, ScoresAreScaledByTheRootOfTheHeadsSize) {
  const auto attended = [](const Value& scale) {
    const Tensor key = tensor(float32, {1, 2, 1, 4}, {1, 0, 0, 0, 0, 0, 0, 0}),
                 value = tensor(float32, {1, 2, 1, 4}, {1, 1, 1, 1, 0, 0, 0, 0});
    return values_of(result("llama::custom_sdpa.out",
                            plain(tensor(float32, {1, 1, 1, 4}, {2, 0, 0, 0}), key, value, 1, scale)))
        .front();
  };
  EXPECT_NEAR(attended(none), 1 / (1 + std::exp(-1)), 1e-6);
  EXPECT_NEAR(attended(2.0), 1 / (1 + std::exp(-4)), 1e-6);
  EXPECT_EQ(attended(0.0), 0.5);
}

TEST(Attention, DropoutIsNotLookedAt) {
  std::vector<Value> arguments = Attention{.start_pos = 1}.arguments();
  arguments[5] = 1.0;
  EXPECT_THAT(values_of(result("llama::custom_sdpa.out", arguments)), ElementsAre(1.5));
}

TEST(Attention,
     HeadsOfAQueryShareThoseOfTheKeysInGroups) {  // queries 0 and 1 use the first head, queries 2 and 3 the second
  const Tensor query = tensor(float32, {1, 1, 4, 1}, {0, 0, 0, 0}), keys = tensor(float32, {1, 1, 2, 1}, {3, 5});
  EXPECT_THAT(values_of(result("llama::custom_sdpa.out", plain(query, keys, keys, 0))), ElementsAre(3, 3, 5, 5));
  EXPECT_EQ(refusal("llama::custom_sdpa.out", plain(tensor(float32, {1, 1, 3, 1}, {0, 0, 0}), keys, keys, 0)),
            "llama::custom_sdpa.R10");
  EXPECT_EQ(refusal("llama::custom_sdpa.out", plain(tensor(float32, {1, 1, 1, 1}, {0}), keys, keys, 0)),
            "llama::custom_sdpa.R10");
}

TEST(Attention, HalfTypesRoundOnce) {  // scores and their softmax have float32 precision
  for (const DType dtype : {float16, bfloat16}) {
    EXPECT_THAT((Attention{.value = {2, 2, 2, 2}, .start_pos = 2, .dtype = dtype}.values()), ElementsAre(2));
    EXPECT_THAT((Attention{.value = {0, 0, 1, 1}, .start_pos = 2, .dtype = dtype}.values()),
                ElementsAre(round_to(dtype, 1 / 3.0)));
  }
  const Tensor query = tensor(float16, {1, 1, 1, 2}, {256, 256}), key = tensor(float16, {1, 1, 1, 2}, {256, 256});
  EXPECT_THAT(values_of(result("llama::custom_sdpa.out", plain(query, key, key, 0))),
              ElementsAre(256, 256));  // a score of 2^17 / sqrt(2)
}

TEST(Attention, NanIsSeenWithItsKeyOnly) {
  EXPECT_THAT((Attention{.value = {1, 2, nan, 8}, .start_pos = 1}.values()), ElementsAre(1.5));
  EXPECT_THAT((Attention{.value = {1, 2, nan, 8}, .start_pos = 2}.values()), ElementsAre(IsNan()));
}

// -- caches ----------------------------------------------------------------------------------------------------------

TEST(UpdateCache, FromStartToTheLastPosition) {
  const Tensor value = tensor(float32, {1, 2, 1, 1}, {7, 8}), cache = tensor(float32, {1, 4, 1, 1}, {1, 2, 3, 4});
  EXPECT_THAT(values_of(results("llama::update_cache.out", {value, cache, Int{2}})[1]), ElementsAre(1, 2, 7, 8));
  EXPECT_THAT(values_of(results("llama::update_cache.out", {value, cache, Int{0}})[1]), ElementsAre(7, 8, 3, 4));
  EXPECT_EQ(refusal("llama::update_cache.out", {value, cache, Int{3}}), "llama::update_cache.R8");
  EXPECT_EQ(refusal("llama::update_cache.out", {value, cache, Int{-1}}), "llama::update_cache.R8");
}

TEST(UpdateCache, EachBatchHasItsOwn) {
  const Tensor value = tensor(int8, {2, 1, 1, 1}, {7, 8}), cache = tensor(int8, {2, 2, 1, 1}, {1, 2, 3, 4});
  EXPECT_THAT(values_of(results("llama::update_cache.out", {value, cache, Int{1}})[1]), ElementsAre(1, 7, 3, 8));
}

TEST(UpdateCache, CacheIsContiguous) {
  const std::vector<Real> numbers(8);
  const Tensor value = tensor(float32, {1, 1, 2, 2}, {1, 2, 3, 4}),
               cache = tensor(float32, {1, 2, 2, 2}, {0, 2, 1, 3}, numbers);
  EXPECT_EQ(refusal("llama::update_cache.out", {value, cache, Int{0}}), "llama::update_cache.R10");
}

TEST(UpdateCacheWithIndices, LastOfEqualIndicesStays) {
  const Tensor value = tensor(float32, {1, 3, 1, 1}, {7, 8, 9}), cache = tensor(float32, {1, 4, 1, 1}, {1, 2, 3, 4});
  const auto updated = [&](const std::vector<Int>& indices) {
    return std::vector<Value>{value, cache, Int{3}, tensor<Int>(int64, {1, 3}, indices)};
  };
  EXPECT_THAT(values_of(results("llama::update_cache_with_indices.out", updated({3, 0, 3}))[1]),
              ElementsAre(8, 2, 3, 9));
  EXPECT_EQ(refusal("llama::update_cache_with_indices.out", updated({3, 0, 4})), "llama::update_cache_with_indices.D1");
  EXPECT_EQ(refusal("llama::update_cache_with_indices.out", updated({3, 0, -1})),
            "llama::update_cache_with_indices.D1");
}

TEST(AttentionWithCache, KeysAndValuesAreCachedBeforeTheyAreSeen) {
  const Tensor query = tensor(float32, {1, 1, 1, 1}, {0}), value = tensor(float32, {1, 1, 1, 1}, {5}),
               cache = tensor(float32, {1, 3, 1, 1}, {1, 2, 3});
  const auto arguments = [&](Int start_pos) {
    return std::vector<Value>{query, value, value, cache, cache, start_pos, Int{1}, none, 0.0, false, none};
  };
  const auto out = results("llama::sdpa_with_kv_cache.out", arguments(1));
  EXPECT_THAT(values_of(out[0]), ElementsAre(3));
  EXPECT_THAT(values_of(out[1]), ElementsAre(1, 5, 3));
  EXPECT_THAT(values_of(out[2]), ElementsAre(1, 5, 3));
  EXPECT_EQ(refusal("llama::sdpa_with_kv_cache.out", arguments(3)), "llama::sdpa_with_kv_cache.R23");
}

// -- codes -----------------------------------------------------------------------------------------------------------

// Queries, keys and values of one batch with heads of size 1. Each row has its own scale and zero point.
struct QuantizedAttention {
  Dims query_sizes, key_sizes;
  std::vector<Real> codes, zero_points, scales;  // of the values; those of the query are zeros
  Int start_pos = 0;
  bool is_seq_at_dim_2 = false;

  std::vector<Value> arguments() const {
    const std::vector<Real> zeros(static_cast<std::size_t>(count(query_sizes))), ones(zeros.size(), 1);
    const Tensor query = tensor(int8, query_sizes, zeros), value = tensor(int8, key_sizes, codes),
                 points = tensor(int8, key_sizes, zero_points), steps = tensor(float32, key_sizes, scales);
    return {query,  value, value,  start_pos, none,
            0.0,    true,  none,   query,     tensor(float32, query_sizes, ones),
            points, steps, points, steps,     is_seq_at_dim_2};
  }
  std::vector<Real> values() const { return values_of(result("llama::custom_quantized_sdpa.out", arguments())); }
};

TEST(QuantizedAttention, EachRowHasItsOwnScaleAndZeroPoint) {
  const QuantizedAttention a{{1, 1, 1, 1}, {1, 2, 1, 1}, {10, -128}, {2, -120}, {0.5, 0.25}, 1};
  EXPECT_THAT(a.values(), ElementsAre(1));  // the mean of 4 and -2
}

TEST(QuantizedAttention, PositionsMayBeDimension2) {
  const std::vector<Real> codes{1, 2, 3, 4}, zeros(4), ones(4, 1);
  EXPECT_THAT((QuantizedAttention{{1, 1, 2, 1}, {1, 2, 2, 1}, codes, zeros, ones, 1}.values()), ElementsAre(2, 3));
  EXPECT_THAT((QuantizedAttention{{1, 2, 1, 1}, {1, 2, 2, 1}, codes, zeros, ones, 1, true}.values()),
              ElementsAre(1.5, 3.5));
  EXPECT_THAT((QuantizedAttention{{1, 1, 2, 1}, {1, 1, 4, 1}, codes, zeros, ones, 2, true}.values()),
              ElementsAre(2, 2.5));
}

TEST(QuantizedAttention, ScalesAndZeroPointsAreNotOptional) {
  const QuantizedAttention a{{1, 1, 1, 1}, {1, 1, 1, 1}, {1}, {0}, {1}};
  for (const auto& [argument, rule] : {std::pair(8, "R14"), std::pair(11, "R15"), std::pair(13, "R16")}) {
    std::vector<Value> arguments = a.arguments();
    arguments[static_cast<std::size_t>(argument)] = none;
    EXPECT_EQ(refusal("llama::custom_quantized_sdpa.out", arguments),
              std::string("llama::custom_quantized_sdpa.") + rule);
  }
}

}  // namespace traps_attention_test
}  // namespace assay
