#include "optimized/kernels/attention.h"

#include <gmock/gmock-matchers.h>

#include <cmath>
#include <limits>
#include <memory>
#include <random>
#include <vector>

// Attention with sizes beyond its blocks of queries and keys, compared to the formula in doubles.
namespace assay::kernels {
namespace kernels_attention_test {

constexpr float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
constexpr double unit = 0x1p-24;

// Rows with gaps of a few floats, which are NaN.
struct Matrix {
  std::size_t rows, columns, stride;
  std::vector<float> floats;

  Matrix(std::size_t r, std::size_t c, std::mt19937& random, float size = 1)
      : rows(r), columns(c), stride(c + 3), floats(r * stride, nan) {
    std::normal_distribution<float> normal(0, size);
    for (std::size_t i = 0; i < r; ++i)
      for (std::size_t j = 0; j < c; ++j) at(i, j) = normal(random);
  }
  float& at(std::size_t i, std::size_t j) { return floats[i * stride + j]; }
  double operator()(std::size_t i, std::size_t j) const { return static_cast<double>(floats[i * stride + j]); }
  Strided strided() const { return {floats.data(), static_cast<std::ptrdiff_t>(stride), 1}; }
};

enum class Mask { none, whole, of_rows };

struct Case {
  std::size_t queries, keys, depth, width;
  Mask mask = Mask::none;
  bool safe = false, transposed = false;  // `transposed`: columns of keys are not contiguous
};

struct Operands {
  Case c;
  Matrix q, k, v, mask;
  Attention attention;

  Operands(const Case& of, InstructionSet set, std::mt19937& random)
      : c(of),
        q(c.queries, c.depth, random, 2),
        k(c.transposed ? c.depth : c.keys, c.transposed ? c.keys : c.depth, random),
        v(c.keys, c.width, random),
        mask(c.queries, c.keys, random) {
    attention = {set, c.queries, c.keys, c.depth, c.width, 0.3f, c.safe, !c.transposed};
  }
  double key(std::size_t j, std::size_t d) const { return c.transposed ? k(d, j) : k(j, d); }
  double masked_by(std::size_t i, std::size_t j) const {
    return c.mask == Mask::none ? 0 : mask(i, c.mask == Mask::of_rows ? 0 : j);
  }
  AttentionHead head(float* out, std::ptrdiff_t row) const {
    AttentionHead h{q.strided(), k.strided(), v.strided(), mask.strided(), out, row};
    if (c.transposed) std::swap(h.k.row, h.k.column);
    if (c.mask == Mask::none) h.mask = {};
    if (c.mask == Mask::of_rows) h.mask.column = 0;
    return h;
  }
};

// Computes queries in parts, with a red zone behind each row and behind scratch.
std::vector<float> attended(const Operands& o, std::size_t parts) {
  const std::size_t row = o.c.width + 2, scratch = attention_scratch(o.attention);
  std::vector<float> out(o.c.queries * row, 7);
  std::vector<float> memory(scratch + 32, nan);
  void* begin = memory.data();
  std::size_t space = memory.size() * sizeof(float);
  auto* aligned = static_cast<float*>(std::align(64, scratch * sizeof(float), begin, space));
  std::fill(aligned + scratch, memory.data() + memory.size(), 9.0f);
  for (std::size_t i = 0; i < parts; ++i)
    attend(o.attention, o.head(out.data(), static_cast<std::ptrdiff_t>(row)), part(o.c.queries, i, parts), aligned);
  for (const float* p = aligned + scratch; p < memory.data() + memory.size(); ++p) EXPECT_EQ(*p, 9);
  std::vector<float> results;
  for (std::size_t i = 0; i < o.c.queries; ++i) {
    results.insert(results.end(), out.begin() + static_cast<std::ptrdiff_t>(i * row),
                   out.begin() + static_cast<std::ptrdiff_t>(i * row + o.c.width));
    EXPECT_EQ(out[i * row + o.c.width], 7);
  }
  return results;
}

struct Scores {
  std::vector<double> p, off;  // `off`: the bound of each error, relative to p
};

// Row i. The error of a score is its product's bound and two roundings. The error of the softmax is that and its own.
Scores scores_of(const Operands& o, std::size_t i) {
  const auto n = o.c.keys;
  Scores s{std::vector<double>(n), std::vector<double>(n)};
  double top = -std::numeric_limits<double>::infinity(), sum = 0, mean = 0;
  for (std::size_t j = 0; j < n; ++j) {
    double score = 0, size = 0;
    for (std::size_t d = 0; d < o.c.depth; ++d) {
      const double term = o.q(i, d) * o.key(j, d) * static_cast<double>(o.attention.scale);
      score += term, size += std::fabs(term);
    }
    s.p[j] = score + o.masked_by(i, j), top = std::max(top, s.p[j]);
    s.off[j] = unit * (size * (4 * std::sqrt(static_cast<double>(o.c.depth)) + 1) + std::fabs(s.p[j]));
  }
  const bool none = top == -std::numeric_limits<double>::infinity();
  for (std::size_t j = 0; j < n; ++j) {
    s.off[j] = std::isinf(s.p[j]) ? 0 : s.off[j] + unit * (4 + top - s.p[j]);
    s.p[j] = std::exp(s.p[j] - (none ? 0 : top)), sum += s.p[j];
  }
  for (double& p : s.p) p /= none && o.c.safe ? 1 : sum;
  for (std::size_t j = 0; j < n; ++j) mean += s.p[j] == 0 ? 0 : s.p[j] * s.off[j];
  for (double& off : s.off) off += mean + 4 * std::sqrt(static_cast<double>(n)) * unit;
  return s;
}

void expect_attention(const Operands& o, const std::vector<float>& got) {
  for (std::size_t i = 0; i < o.c.queries; ++i) {
    const Scores s = scores_of(o, i);
    for (std::size_t e = 0; e < o.c.width; ++e) {
      double want = 0, bound = 0;
      for (std::size_t j = 0; j < o.c.keys; ++j)
        want += s.p[j] * o.v(j, e), bound += s.p[j] == 0 ? 0 : std::fabs(s.p[j] * o.v(j, e)) * s.off[j];
      const auto y = static_cast<double>(got[i * o.c.width + e]);
      const auto where = testing::Message() << "query " << i << ", column " << e << ": " << y << " instead of " << want;
      if (std::isfinite(want)) {
        ASSERT_LE(std::fabs(y - want), bound + 0x1p-140) << where;
      } else {
        ASSERT_TRUE(std::isnan(want) ? std::isnan(y) : y == want) << where;
      }
    }
  }
}

std::vector<InstructionSet> sets() {
  std::vector<InstructionSet> all;
  for (std::size_t i = 0; i < std::size(instruction_sets); ++i)
    if (is_supported(static_cast<InstructionSet>(i))) all.push_back(static_cast<InstructionSet>(i));
  return all;
}

const Case cases[] = {
    {1, 1, 1, 1},
    {1, 300, 48, 48, Mask::whole},
    {3, 17, 5, 9, Mask::whole, true},
    {8, 600, 20, 70, Mask::of_rows},
    {8, 5, 16, 16, Mask::none, false, true},
    {9, 256, 8, 33, Mask::none, true},
    {50, 257, 33, 8, Mask::whole, true},
    {100, 700, 12, 20, Mask::whole, false, true},
    {97, 48, 64, 64, Mask::of_rows, true},
};

class KernelsAttention : public testing::TestWithParam<InstructionSet> {};

TEST_P(KernelsAttention, ComputesTheFormula) {
  std::mt19937 random(1);
  for (const Case& c : cases) {
    SCOPED_TRACE(testing::Message() << c.queries << " queries, " << c.keys << " keys");
    const Operands o(c, GetParam(), random);
    expect_attention(o, attended(o, 1));
  }
}

TEST_P(KernelsAttention, DoesNotDependOnTheDivisionOfQueries) {
  std::mt19937 random(2);
  for (const Case& c : cases) {
    const Operands o(c, GetParam(), random);
    const auto whole = attended(o, 1);
    for (const std::size_t parts : {2u, 3u, 7u}) {
      if (parts > c.queries) break;
      EXPECT_THAT(attended(o, parts), testing::ContainerEq(whole));
    }
  }
}

// Masked keys, rows and blocks; infinities and NaN where the formula has them.
TEST_P(KernelsAttention, KeepsMasksInfinitiesAndNaN) {
  std::mt19937 random(3);
  for (const Case& c : cases)
    for (const bool safe : {false, true}) {
      if (c.mask != Mask::whole || c.keys < 10 || c.queries < 3) continue;
      SCOPED_TRACE(testing::Message() << c.queries << " queries, " << c.keys << " keys" << (safe ? ", safe" : ""));
      Case of = c;
      of.safe = safe;
      Operands o(of, GetParam(), random);
      for (std::size_t j = 0; j < c.keys; ++j) o.mask.at(0, j) = -infinity;  // all keys are masked
      for (std::size_t j = 0; j < c.keys; ++j) o.mask.at(1, j) = j + 1 < c.keys ? -infinity : 0.5f;  // all but the last
      for (std::size_t j = 1; j < c.keys; ++j) o.mask.at(2, j) = -infinity;  // all but the first
      expect_attention(o, attended(o, 1));
      o.mask.at(2, c.keys / 2) = infinity;
      o.mask.at(1, 3) = nan;
      expect_attention(o, attended(o, 1));
      o.v.at(c.keys - 1, 0) = infinity, o.v.at(0, 1) = nan;
      expect_attention(o, attended(o, 1));
    }
}

INSTANTIATE_TEST_SUITE_P(Sets, KernelsAttention, testing::ValuesIn(sets()),
                         [](const auto& tested) { return std::string(traits(tested.param).name); });

}  // namespace kernels_attention_test
}  // namespace assay::kernels
