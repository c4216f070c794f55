#include "optimized/kernels/attention.h"

#include "optimized/kernels/matmul.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "optimized/kernels/attention.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>
#include <limits>

#include "optimized/kernels/activation-inl.h"

#ifndef ASSAY_KERNELS_ATTENTION_BLOCKS
#define ASSAY_KERNELS_ATTENTION_BLOCKS
namespace assay::kernels {

constexpr std::size_t keys_of_block = 256, queries_of_block = 48;  // their scores stay in the second-level cache
// Packing keys and values takes as long as this many queries take without packing.
constexpr std::size_t few_queries = 8;
constexpr float lowest = -std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();

constexpr bool is_few(const Attention& a) { return a.queries <= few_queries && a.has_rows_of_keys; }

// Running values of a query: its largest score, and the sum of e^(score - largest).
struct Met {
  float top = lowest, sum = 0;
};

// The parts of scratch of a block.
struct AttentionMemory {
  float *scores = nullptr, *scales = nullptr, *keys = nullptr, *values = nullptr;
  float* row = nullptr;  // a scaled query, or rows of a block's addend
  Met* met = nullptr;    // indexed by query
  std::size_t floats = 0;

  AttentionMemory(const Attention& a, float* scratch) {
    const bool few = is_few(a);
    const std::size_t n = std::min(a.keys, keys_of_block), m = few ? 1 : std::min(a.queries, queries_of_block);
    const auto take = [&](std::size_t count) {
      float* at = scratch ? scratch + floats : nullptr;
      floats += (count + 15) / 16 * 16;
      return at;
    };
    scores = take(m * n), met = reinterpret_cast<Met*>(take(a.queries * sizeof(Met) / sizeof(float)));
    row = take(few ? a.depth : m * a.width);
    if (few) return;
    scales = take(n), keys = take(packed_floats(a.set, a.depth, n)), values = take(packed_floats(a.set, n, a.width));
  }
};

}  // namespace assay::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace assay::kernels::HWY_NAMESPACE {

// Adds the mask and returns the largest sum. NaN does not count as the largest; it makes the sum of exponentials NaN.
float masked(float* scores, std::size_t n, const float* mask, std::ptrdiff_t mask_column) {
  Vector tops = hn::Set(floats, lowest);
  each_vector(0, n, [&](std::size_t j, const auto& vector) HWY_ATTR {
    Vector s = vector.load(scores + j);
    if (mask) {
      s = hn::Add(s, mask_column == 0 ? hn::Set(floats, *mask) : vector.load(mask + j));
      vector.store(s, scores + j);
    }
    tops = hn::Max(tops, vector.kept(hn::IfThenElse(hn::IsNaN(s), tops, s), tops));
  });
  return hn::GetLane(hn::MaxOfLanes(floats, tops));
}

// Turns scores of the next keys into weights among all keys so far. Returns the factor for the weights of earlier keys.
float weigh(float* scores, std::size_t n, const float* mask, std::ptrdiff_t mask_column, Met& met) {
  const float top = std::max(met.top, masked(scores, n, mask, mask_column));
  const float base = top == lowest ? 0 : top;  // -infinity minus itself is NaN
  const Vector bases = hn::Set(floats, base);
  Vector sums = hn::Zero(floats);
  each_vector(0, n, [&](std::size_t j, const auto& vector) HWY_ATTR {
    const Vector e = vector.kept(exponential(hn::Sub(vector.load(scores + j), bases)));
    sums = hn::Add(sums, e);
    vector.store(e, scores + j);
  });
  HWY_ALIGN float before[lanes] = {};
  before[0] = met.top - base;
  hn::Store(exponential(hn::Load(floats, before)), floats, before);
  const float kept = met.sum == 0 ? 0 : met.sum * before[0];
  met = {top, kept + hn::GetLane(hn::SumOfLanes(floats, sums))};
  const float inverse = met.sum == 0 ? 1 : 1 / met.sum;  // all scores are -infinity
  each_vector(0, n, [&](std::size_t j, const auto& vector) HWY_ATTR {
    vector.store(hn::Mul(vector.load(scores + j), hn::Set(floats, inverse)), scores + j);
  });
  return kept * inverse;
}

// out = before out + part. NaN and infinities are as in the formula.
void add_row(float* out, const float* part, float before, std::size_t n) {
  each_vector(0, n, [&](std::size_t e, const auto& vector) HWY_ATTR {
    vector.store(hn::MulAdd(vector.load(out + e), hn::Set(floats, before), vector.load(part + e)), out + e);
  });
}

void fill_row(float* out, float value, std::size_t n) {
  each_vector(0, n, [&](std::size_t e, const auto& vector) HWY_ATTR { vector.store(hn::Set(floats, value), out + e); });
}

// Products of one row with four rows of n floats.
HWY_INLINE void dot_four(const float* q, const float* k, std::ptrdiff_t k_row, std::size_t n, float* to) {
  Vector sums[4];
  unrolled<4>([&](auto r) HWY_ATTR { sums[r] = hn::Zero(floats); });
  each_vector(0, n, [&](std::size_t d, const auto& vector) HWY_ATTR {
    const Vector x = vector.load(q + d);
    unrolled<4>([&](auto r) HWY_ATTR {
      const float* row = k + static_cast<std::ptrdiff_t>(std::size_t{r}) * k_row;
      sums[r] = hn::MulAdd(x, vector.load(row + d), sums[r]);
    });
  });
  unrolled<4>([&](auto r) HWY_ATTR { to[r] = hn::GetLane(hn::SumOfLanes(floats, sums[r])); });
}

void dot_rows(const float* q, const float* k, std::ptrdiff_t k_row, std::size_t rows, std::size_t n, float* to) {
  std::size_t j = 0;
  for (; j + 4 <= rows; j += 4) dot_four(q, k + static_cast<std::ptrdiff_t>(j) * k_row, k_row, n, to + j);
  for (; j < rows; ++j) {
    Vector sum = hn::Zero(floats);
    each_vector(0, n, [&](std::size_t d, const auto& vector) HWY_ATTR {
      sum = hn::MulAdd(vector.load(q + d), vector.load(k + static_cast<std::ptrdiff_t>(j) * k_row + d), sum);
    });
    to[j] = hn::GetLane(hn::SumOfLanes(floats, sum));
  }
}

// out = before out + sum_j p[j] v[j], or that sum alone.
void add_values(const float* p, const Strided& v, std::size_t rows, float* out, const float* before, std::size_t n) {
  const auto columns = [&](std::size_t e, const auto& vector) HWY_ATTR {
    Vector sum = before ? hn::Mul(vector.load(out + e), hn::Set(floats, *before)) : hn::Zero(floats);
    for (std::size_t j = 0; j < rows; ++j)
      sum = hn::MulAdd(hn::Set(floats, p[j]), vector.load(v.data + static_cast<std::ptrdiff_t>(j) * v.row + e), sum);
    vector.store(sum, out + e);
  };
  std::size_t e = 0;
  for (; e + 4 * lanes <= n; e += 4 * lanes) {
    Vector sums[4];
    unrolled<4>([&](auto i) HWY_ATTR {
      sums[i] = before ? hn::Mul(hn::LoadU(floats, out + e + i * lanes), hn::Set(floats, *before)) : hn::Zero(floats);
    });
    for (std::size_t j = 0; j < rows; ++j) {
      const Vector weight = hn::Set(floats, p[j]);
      const float* row = v.data + static_cast<std::ptrdiff_t>(j) * v.row + e;
      unrolled<4>([&](auto i) HWY_ATTR { sums[i] = hn::MulAdd(weight, hn::LoadU(floats, row + i * lanes), sums[i]); });
    }
    unrolled<4>([&](auto i) HWY_ATTR { hn::StoreU(sums[i], floats, out + e + i * lanes); });
  }
  for (; e + lanes <= n; e += lanes) columns(e, WholeVector());
  if (e < n) columns(e, Part(n - e));
}

// A few queries read keys and values in place, one query after another.
void attend_few(const Attention& a, const AttentionHead& head, Range queries, const AttentionMemory& memory) {
  for (std::size_t i = queries.begin; i < queries.end; ++i) {
    const auto at = static_cast<std::ptrdiff_t>(i);
    float* out = head.out + at * head.out_row;
    const Vector scale = hn::Set(floats, a.scale);
    each_vector(0, a.depth, [&](std::size_t d, const auto& vector) HWY_ATTR {
      vector.store(hn::Mul(vector.load(head.q.data + at * head.q.row + d), scale), memory.row + d);
    });
    Met met;
    for (std::size_t first = 0; first < a.keys; first += keys_of_block) {
      const std::size_t n = std::min(keys_of_block, a.keys - first);
      const auto skipped = static_cast<std::ptrdiff_t>(first);
      dot_rows(memory.row, head.k.data + skipped * head.k.row, head.k.row, n, a.depth, memory.scores);
      const float* mask = head.mask.data ? head.mask.data + at * head.mask.row + skipped * head.mask.column : nullptr;
      const float before = weigh(memory.scores, n, mask, head.mask.column, met);
      const Strided v{head.v.data + skipped * head.v.row, head.v.row, 1};
      add_values(memory.scores, v, n, out, first > 0 ? &before : nullptr, a.width);
    }
    if (met.top == lowest && !a.safe) fill_row(out, nan, a.width);
  }
}

// One block of packed keys and values, for all queries.
void attend_block(const Attention& a, const AttentionHead& head, Range queries, Range keys,
                  const AttentionMemory& memory) {
  const std::size_t n = keys.size();
  const auto skipped = static_cast<std::ptrdiff_t>(keys.begin);
  const Panels panels{a.set, a.depth, n};
  const float* k = head.k.data + skipped * head.k.row;
  std::fill_n(memory.scales, n, a.scale);
  pack_rows(
      panels, [&](std::size_t d) { return k + static_cast<std::ptrdiff_t>(d) * head.k.column; },
      static_cast<std::size_t>(head.k.row), memory.scales, memory.keys);
  const PackedMatrix values = pack(a.set, head.v.data + skipped * head.v.row, n, a.width,
                                   static_cast<std::size_t>(head.v.row), 1, memory.values);
  for (std::size_t begin = queries.begin; begin < queries.end; begin += queries_of_block) {
    const std::size_t m = std::min(queries_of_block, queries.end - begin);
    const auto at = static_cast<std::ptrdiff_t>(begin);
    matmul(head.q.data + at * head.q.row, static_cast<std::size_t>(head.q.row), m, {panels, memory.keys}, nullptr,
           memory.scores, n);
    float before[queries_of_block];
    for (std::size_t i = 0; i < m; ++i) {
      const auto row = at + static_cast<std::ptrdiff_t>(i);
      const float* mask = head.mask.data ? head.mask.data + row * head.mask.row + skipped * head.mask.column : nullptr;
      before[i] = weigh(memory.scores + i * n, n, mask, head.mask.column, memory.met[begin + i]);
    }
    float* out = head.out + at * head.out_row;
    if (keys.begin == 0) {
      matmul(memory.scores, n, m, values, nullptr, out, static_cast<std::size_t>(head.out_row));
      continue;
    }
    matmul(memory.scores, n, m, values, nullptr, memory.row, a.width);
    for (std::size_t i = 0; i < m; ++i)
      add_row(out + static_cast<std::ptrdiff_t>(i) * head.out_row, memory.row + i * a.width, before[i], a.width);
  }
}

void attend_queries(const Attention& a, const AttentionHead& head, Range queries, float* scratch) {
  const AttentionMemory memory(a, scratch);
  if (is_few(a)) return attend_few(a, head, queries, memory);
  std::fill(memory.met + queries.begin, memory.met + queries.end, Met());
  for (std::size_t first = 0; first < a.keys; first += keys_of_block)
    attend_block(a, head, queries, {first, std::min(first + keys_of_block, a.keys)}, memory);
  for (std::size_t i = queries.begin; i < queries.end && !a.safe; ++i)
    if (memory.met[i].top == lowest) fill_row(head.out + static_cast<std::ptrdiff_t>(i) * head.out_row, nan, a.width);
}

}  // namespace assay::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

void attend(const Attention& a, const AttentionHead& head, Range queries, float* scratch) {
  constexpr decltype(&HWY_STATIC_DISPATCH(attend_queries)) of_set[] = ASSAY_OF_EACH_SET(attend_queries);
  of_set[static_cast<std::size_t>(a.set)](a, head, queries, scratch);
}

std::size_t attention_scratch(const Attention& a) { return AttentionMemory(a, nullptr).floats; }

}  // namespace assay::kernels
#endif
