#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "optimized/kernels/row_product.h"
#include "tests/support/backwards.h"
#include "tests/support/dot_ways.h"
#include "tests/support/fenced_kernels.h"
#include "tests/support/steps.h"

// Products of quantized rows, of every instruction set with and without VNNI, equal the formula of
// kernels/row_product.h bit for bit. The memory is between guard pages.
namespace assay::kernels {
namespace kernels_rows_test {

class RowProducts : public testing::TestWithParam<DotWay> {};
INSTANTIATE_TEST_SUITE_P(EachWay, RowProducts, testing::ValuesIn(dot_ways()), name_of_way);

std::mt19937 generator(11);
float any(float low, float high) { return std::uniform_real_distribution(low, high)(generator); }

struct Data {
  std::vector<float> x, scales, bias;
  std::vector<std::int8_t> codes;  // a row for each output
};

// The results of a row.
std::vector<float> want(const RowProduct& p, const Data& data, const float* x) {
  const RowOfSteps row = steps_of({x, p.inputs});
  std::vector<float> results(p.outputs, nan);
  if (row.has_nan) return results;
  const std::size_t size = p.inputs / p.groups();
  for (std::size_t o = 0; o < p.outputs; ++o) {
    double total = 0;
    for (std::size_t g = 0; g < p.groups(); ++g) {
      std::int64_t sum = 0;
      for (std::size_t i = g * size; i < (g + 1) * size; ++i) sum += row.steps[i] * data.codes[o * p.inputs + i];
      total += static_cast<double>(sum) * (p.group > 0 ? double{data.scales[o * p.groups() + g]} : 1.0);
    }
    const float y = rounded(double{rounded(total)} * rounded(1.0 / row.k));
    if (p.group > 0)
      results[o] = p.has_bias ? rounded(double{y} + data.bias[o]) : y;
    else
      results[o] = rounded(double{y} * data.scales[o] + (p.has_bias ? double{data.bias[o]} : -0.0));
  }
  return results;
}

// Packs codes that are stored row by row or column by column. Scales have at most so many bits that sums are exact.
void check(const DotWay& way, RowProduct p, std::vector<float> x, bool is_transposed = false, int scale_bits = 8) {
  p.set = way.set, p.uses_vnni = way.uses_vnni;
  const std::size_t rows = x.size() / p.inputs;
  Data data{std::move(x), {}, {}, {}};
  const int most = p.group > 0 ? 7 : 127;
  for (std::size_t i = 0; i < p.inputs * p.outputs; ++i)
    data.codes.push_back(static_cast<std::int8_t>(std::uniform_int_distribution(-most - 1, most)(generator)));
  for (std::size_t i = 0; i < p.outputs * p.groups(); ++i) {
    const float fraction = std::nearbyint(std::ldexp(any(0.5f, 0.99f), scale_bits));
    data.scales.push_back(std::ldexp(fraction, std::uniform_int_distribution(-20, -12)(generator) - scale_bits));
  }
  for (std::size_t i = 0; i < p.outputs; ++i) data.bias.push_back(any(-2, 2));
  std::vector<std::int8_t> stored = data.codes;
  if (is_transposed)
    for (std::size_t o = 0; o < p.outputs; ++o)
      for (std::size_t i = 0; i < p.inputs; ++i) stored[i * p.outputs + o] = data.codes[o * p.inputs + i];
  p.has_short_scales = p.group > 0 && scale_bits <= 8;
  EXPECT_EQ(are_short(data.scales.data(), data.scales.size()), scale_bits <= 8);
  const FencedArray<std::int8_t> codes(stored);
  const FencedArray<float> scales(data.scales), bias(data.bias), in(data.x);
  const Fenced packed(packed_floats(p), 64);
  pack(p,
       {codes.data(), is_transposed ? 1 : p.inputs, is_transposed ? p.outputs : 1, scales.data(), p.groups(),
        p.has_bias ? bias.data() : nullptr},
       packed.data());
  ASSERT_TRUE(can_multiply(p));
  const auto results = [&](const Threads& threads) {
    const FencedArray<float> out(std::vector<float>(rows * p.outputs, 17.0f));
    const Fenced scratch((scratch_bytes(p, rows) + 3) / 4, 64);
    multiply(p, in.data(), rows, packed.data(), out.data(), scratch.data(), threads);
    return out.values();
  };
  const std::vector<float> got = results({});
  for (std::size_t r = 0; r < rows; ++r) {
    const std::vector<float> all = want(p, data, data.x.data() + r * p.inputs);
    for (std::size_t o = 0; o < p.outputs; ++o) {
      const float y = got[r * p.outputs + o];
      ASSERT_TRUE(std::isnan(all[o]) ? std::isnan(y) : y == all[o])
          << y << " for " << all[o] << ": output " << o << " of row " << r;
    }
  }
  for (std::size_t count = 2; count <= 3; ++count) {
    const std::vector<float> others = results(backwards(count));
    EXPECT_EQ(std::memcmp(others.data(), got.data(), got.size() * sizeof(float)), 0) << count << " threads";
  }
}

std::vector<float> random_rows(std::size_t rows, std::size_t inputs) {
  std::vector<float> x(rows * inputs);
  for (std::size_t r = 0; r < rows; ++r) {
    const float low = any(-3, 1), high = low + any(0.1f, 5);
    for (std::size_t i = 0; i < inputs; ++i) x[r * inputs + i] = any(low, high);
  }
  return x;
}

TEST_P(RowProducts, MultiplyBytes) {
  const std::size_t lanes = traits(GetParam().set).lanes;
  for (const std::size_t rows : {1u, 3u, 4u, 9u})
    for (const std::size_t inputs : {1u, 3u, 4u, 70u, 129u})
      for (const std::size_t outputs : {std::size_t{1}, lanes, 2 * lanes, 2 * lanes + 1, 5 * lanes + 3})
        for (const bool has_bias : {false, true})
          check(GetParam(), {.inputs = inputs, .outputs = outputs, .has_bias = has_bias}, random_rows(rows, inputs),
                has_bias);
}

TEST_P(RowProducts, MultiplyHalvesOfBytes) {
  for (const std::size_t rows : {1u, 4u, 6u})
    for (const std::size_t group : {8u, 32u, 64u})
      for (const std::size_t groups : {1u, 3u})
        for (const std::size_t outputs : {1u, 8u, 33u, 70u})
          for (const bool has_bias : {false, true})
            check(GetParam(), {.inputs = group * groups, .outputs = outputs, .group = group, .has_bias = has_bias},
                  random_rows(rows, group * groups), has_bias, has_bias ? 16 : 8);
}

// Rows without a range, of one sign, with elements that are no numbers, and with ranges that are infinite or so small
// that the factor is.
TEST_P(RowProducts, QuantizeUnusualRows) {
  const std::vector<float> rows[] = {
      {0, 0, 0, 0, 0, 0, 0, 0},
      {1, 2, 3, 4, 5, 6, 7, 8},
      {-1, -2, -3, -4, -5, -6, -7, -8},
      {nan, 1, 2, 3, 4, 5, 6, 7},
      {1, 2, 3, 4, 5, 6, 7, infinity},
      {-infinity, -2, -3, -4, -5, -6, -7, -8},
      {3e38f, -3e38f, 1, 2, 3, 4, 5, 6},
      {1e-40f, 1e-40f, 1e-40f, 1e-40f, 1e-40f, 1e-40f, 1e-40f, 1e-40f},
      {1e-40f, 0, 0, 0, 0, 0, 0, -1e-40f},
      {0.5f, 1.5f, 2.5f, 3.5f, 4.5f, 127, -128, 0},
  };
  std::vector<float> all;
  for (const auto& row : rows) all.insert(all.end(), row.begin(), row.end());
  for (const std::size_t group : {0u, 8u})
    for (const std::vector<float>& x : {rows[3], rows[5], all})
      check(GetParam(), {.inputs = 8, .outputs = 5, .group = group, .has_bias = true}, x);
}

// The largest sums of both signs.
TEST_P(RowProducts, SumExtremeSteps) {
  for (const float x : {1.0f, -1.0f}) check(GetParam(), {.inputs = 65793, .outputs = 2}, std::vector<float>(65793, x));
}

}  // namespace kernels_rows_test
}  // namespace assay::kernels
