#include "operators/attention.gen.h"

#include <bit>
#include <cmath>
#include <limits>

#include "reference/numerics/bounds.h"

namespace assay {
namespace {

// Arrays of sizes (batch, positions, heads, size of a head).
using Heads = Array<Real>;
using Mask = std::optional<Array<Real>>;

Int row(const Dims& sizes, Int batch, Int position, Int head) {
  return ((batch * sizes[1] + position) * sizes[2] + head) * sizes[3];
}

// Copies the cache and puts the rows of value into it, from position `start` on.
template <class T>
void put_in_cache(Array<T>& out, const Array<T>& value, const Array<T>& cache, Int start) {
  out = cache;
  const Int length = value.count() / value.sizes[0], batch = cache.count() / cache.sizes[0],
            position = batch / cache.sizes[1];
  for (Int i = 0; i < value.count(); ++i) out[i / length * batch + start * position + i % length] = value[i];
}

// The operands that give the weight of each key for a row of the query.
struct Attention {
  const Heads &query, &key, &value;
  const Mask& mask;
  Int start;
  bool is_causal;
  Real scale;

  Int keys(Int position) const { return mask ? key.sizes[1] : start + (is_causal ? position + 1 : query.sizes[1]); }
  // The number of keys that some position sees.
  std::size_t visible() const { return static_cast<std::size_t>(mask ? key.sizes[1] : start + query.sizes[1]); }
  // query . key, or |query| . |key|
  Real product(const Dims& i, Int j, bool magnitude) const {
    const Int q = row(query.sizes, i[0], i[1], i[2]), k = row(key.sizes, i[0], j, head(i));
    Sum<Real> sum = 0;
    for (Int d = 0; d < query.sizes[3]; ++d)
      sum += magnitude ? std::fabs(query[q + d] * key[k + d]) : query[q + d] * key[k + d];
    return sum;
  }
  // The score of key j, or the same sum of |query|, |key| and |mask|.
  Real score(const Dims& i, Int j, bool magnitude) const {
    const Real addend = mask ? (*mask)[i[1] * key.sizes[1] + j] : 0;
    return magnitude ? std::fabs(scale) * product(i, j, true) + std::fabs(addend)
                     : scale * product(i, j, false) + addend;
  }
  // Whether key j makes the row NaN in any order of its terms: an input is infinite or NaN and makes the score NaN or
  // infinity, from which the softmax subtracts infinity.
  bool is_lost(const Dims& i, Int j, Real score) const {
    return (std::isnan(score) || score == std::numeric_limits<Real>::infinity()) && !reads_finite(i, j);
  }
  Int head(const Dims& i) const { return i[2] * key.sizes[2] / query.sizes[2]; }
  Real element(const Dims& i, Int j, Int d) const { return value[row(value.sizes, i[0], j, head(i)) + d]; }

 private:
  bool reads_finite(const Dims& i, Int j) const {
    const Int q = row(query.sizes, i[0], i[1], i[2]), k = row(key.sizes, i[0], j, head(i));
    bool finite = !mask || std::isfinite((*mask)[i[1] * key.sizes[1] + j]);
    for (Int d = 0; d < query.sizes[3]; ++d) finite &= std::isfinite(query[q + d]) && std::isfinite(key[k + d]);
    return finite;
  }
};

Attention attention(const Heads& query, const Heads& key, const Heads& value, Int start, const Mask& mask,
                    bool is_causal, std::optional<double> scale) {
  const Real usual = 1 / std::sqrt(static_cast<Real>(query.sizes[3]));
  return {query, key, value, mask, start, is_causal, scale ? static_cast<Real>(*scale) : usual};
}

// The softmax of the scores of one row; NaN where all are -infinity.
struct Weights {
  Weights(const Attention& a, const Dims& i) {
    for (Int j = 0; j < a.keys(i[1]); ++j) scores.push_back(a.score(i, j, false));
    for (Real s : scores) top = std::fmax(top, s);
    Sum<Real> exponentials = 0;
    for (Real s : scores) weights.push_back(std::exp(s - top)), exponentials += weights.back();
    sum = exponentials;
    for (Real& w : weights) w /= sum;
  }

  Real logarithm(std::size_t j) const { return scores[j] - top - std::log(sum); }  // the logarithm of a weight

  Buffer<Real> scores, weights;
  Real top = -std::numeric_limits<Real>::infinity(), sum = 0;
};

// f(index of a row of the query, its weights)
template <class F>
void each_row(const Attention& a, F f) {
  Dims rows = a.query.sizes;
  rows[3] = 1;
  for (const Dims& i : indices(rows)) f(i, Weights(a, i));
}

void attend(Heads& out, const Attention& a) {
  each_row(a, [&](const Dims& i, const Weights& w) {
    for (Int d = 0; d < out.sizes[3]; ++d) {
      Sum<Real> y = 0;
      for (std::size_t j = 0; j < w.weights.size(); ++j) y += w.weights[j] * a.element(i, static_cast<Int>(j), d);
      out[row(out.sizes, i[0], i[1], i[2]) + d] = y;
    }
  });
}

// Weights, exponents and sums are rounded. An error d of a score multiplies its weight by up to e^d, and the sum of all
// weights by up to the weighted mean of these factors. There is no bound where a score overflows. An infinite value
// whose weight may be zero in the dtype of the result makes the result NaN, or does not count where a kernel skips
// weights of zero.
void attend_magnitude(Heads& out, const Attention& a, const Arithmetic& arithmetic) {
  const Real terms = static_cast<Real>(a.query.sizes[3] + a.key.sizes[1]),
             rounding = roundoffs(terms) * arithmetic.unit;
  each_row(a, [&](const Dims& i, const Weights& w) {
    Buffer<Real> errors;  // the error of the logarithm of each weight
    const bool scales_hiding =
        !(a.scale > 0) && w.weights.size() < a.visible();  // ExecuTorch hides a key by -infinity before it scales
    Real largest = 0, growth = 0;                          // the largest error and the growth of the sum
    bool is_lost = false;
    for (std::size_t j = 0; j < w.weights.size(); ++j) {
      is_lost |= a.is_lost(i, static_cast<Int>(j), w.scores[j]);
      const Real score = a.score(i, static_cast<Int>(j), true);
      largest = std::max({largest, score, a.product(i, static_cast<Int>(j), true)});
      errors.push_back(std::isfinite(w.scores[j]) ? (score + w.top - w.scores[j]) * rounding : 0);
      growth += std::exp(w.logarithm(j) + errors.back());
    }
    const auto wrong = [&](std::size_t j) {
      const Real by = errors[j] + std::log(growth), weight = w.weights[j];
      return std::fmax(std::exp(std::fmin(w.logarithm(j) + by, 0)) - weight, -weight * std::expm1(-by)) / rounding;
    };
    for (Int d = 0; d < out.sizes[3]; ++d) {
      Real sum = 0;
      bool may_be_nan = false, may_be_finite = false;
      for (std::size_t j = 0; j < a.visible(); ++j) {
        const Real weight = j < w.weights.size() ? w.weights[j] : 0,
                   element = std::fabs(a.element(i, static_cast<Int>(j), d));
        if (std::isfinite(element))
          sum += j < w.weights.size()
                     ? element * (weight + wrong(j) + 2 * arithmetic.least +
                                  stored_number(weight + 2 * arithmetic.stored_least, terms, arithmetic))
                     : 0;
        else if (weight < arithmetic.stored_least)
          may_be_nan = true, may_be_finite |= j < w.weights.size() && weight == 0;
      }
      const bool bounded = largest < arithmetic.largest && !scales_hiding && !may_be_finite;
      out[row(out.sizes, i[0], i[1], i[2]) + d] = is_lost      ? 0
                                                  : !bounded   ? unbounded
                                                  : may_be_nan ? overflowing(sum)
                                                               : sum;
    }
  });
}

// The numbers that the codes encode; each row has its own scale and zero point.
Heads dequantized(const Heads& codes, const Mask& zero_points, const Mask& scales) {
  Heads numbers = codes;
  for (Int i = 0; i < codes.count(); ++i)
    numbers[i] = (codes[i] - (*zero_points)[i / codes.sizes[3]]) * (*scales)[i / codes.sizes[3]];
  return numbers;
}

// Swaps positions and heads, dimensions 1 and 2.
Heads exchanged(const Heads& x) {
  Heads result(Dims{x.sizes[0], x.sizes[2], x.sizes[1], x.sizes[3]});
  for (const Dims& i : indices(x.sizes)) result({i[0], i[2], i[1], i[3]}) = x(i);
  return result;
}

// f(out, query, key, value): all of them as (batch, positions, heads, size of a head)
template <class F>
void positions_first(bool exchange, Heads& out, Heads query, Heads key, Heads value, F f) {
  if (!exchange) return f(out, query, key, value);
  out = exchanged(out);
  f(out, exchanged(query), exchanged(key), exchanged(value));
  out = exchanged(out);
}

// The Hadamard matrix of 28 rows by Williamson's construction: four by four blocks with the signs of the products of
// quaternions. Block b = 0, 1, 2, 3 is the circulant with 1 at 0, at b and at -b.
bool positive_of_28(Int i, Int j) {
  constexpr bool negative[4][4] = {
      {false, false, false, false}, {true, false, true, false}, {true, false, false, true}, {true, true, false, false}};
  const Int block = (i / 7) ^ (j / 7), apart = (j - i + 28) % 7;
  const bool one = apart == 0 || apart == block || apart == 7 - block;
  return one != negative[i / 7][j / 7];
}

// f(output, input, whether its factor is positive, the scale) for every product.
template <class F>
void each_rotated(const Array<Real>& mat, F f) {
  const Int n = mat.sizes[mat.sizes.size() - 1];
  const bool power = n > 0 && std::has_single_bit(static_cast<Bits>(n));
  const Int block = power ? n : n / 28;
  const Real scale = 1 / std::sqrt(static_cast<Real>(block));
  for (Int i = 0; i < mat.count(); ++i)
    for (Int j = 0; j < n; ++j) {
      const Int row = i % n, common = (row % block) & (j % block);
      const bool even = std::popcount(static_cast<Bits>(common)) % 2 == 0;
      f(i, i - row + j, even == (power || positive_of_28(row / block, j / block)), scale);
    }
}

}  // namespace

void operators::fast_hadamard_transform(Array<Real>& out, const Array<Real>& mat) {
  each_rotated(mat,
               [&](Int i, Int j, bool positive, Real scale) { out[i] += positive ? scale * mat[j] : -scale * mat[j]; });
}
void operators::fast_hadamard_transform_magnitude(Array<Real>& out, const Array<Real>& mat, const Arithmetic& a) {
  each_rotated(mat, [&](Int i, Int j, bool, Real scale) {
    const Real size = std::fabs(out[i]) + (std::isfinite(mat[j]) ? scale * std::fabs(mat[j]) : 0);
    out[i] = size < scale * a.largest ? size : overflowing(size);
  });
}

void operators::update_cache(Array<Element>&, Array<Element>& cache_out, const Array<Element>& value,
                             const Array<Element>& cache, Int start_pos) {
  put_in_cache(cache_out, value, cache, start_pos);
}

void operators::update_cache_with_indices(Array<Element>&, Array<Element>& cache_out, const Array<Element>& value,
                                          const Array<Element>& cache, const Array<Int>& indices) {
  cache_out = cache;
  const Int length = value.sizes[2] * value.sizes[3];
  for (Int i = 0; i < value.count(); ++i) {
    const Int position = i / length, batch = position / value.sizes[1];
    cache_out[(batch * cache.sizes[1] + indices[position]) * length + i % length] = value[i];
  }
}

void operators::custom_sdpa(Heads& out, const Heads& query, const Heads& key, const Heads& value, Int start_pos,
                            const Mask& attn_mask, bool is_causal, std::optional<double> scale) {
  attend(out, attention(query, key, value, start_pos, attn_mask, is_causal, scale));
}
void operators::custom_sdpa_magnitude(Heads& out, const Heads& query, const Heads& key, const Heads& value,
                                      Int start_pos, const Mask& attn_mask, bool is_causal, std::optional<double> scale,
                                      const Arithmetic& a) {
  attend_magnitude(out, attention(query, key, value, start_pos, attn_mask, is_causal, scale), a);
}

void operators::sdpa_with_kv_cache(Heads& out, Heads& key_cache_out, Heads& value_cache_out, const Heads& query,
                                   const Heads& key, const Heads& value, const Heads& key_cache,
                                   const Heads& value_cache, Int start_pos, const Mask& attn_mask, bool is_causal,
                                   std::optional<double> scale) {
  put_in_cache(key_cache_out, key, key_cache, start_pos);
  put_in_cache(value_cache_out, value, value_cache, start_pos);
  attend(out, attention(query, key_cache_out, value_cache_out, start_pos, attn_mask, is_causal, scale));
}
void operators::sdpa_with_kv_cache_magnitude(Heads& out, Heads& key_cache_out, Heads& value_cache_out,
                                             const Heads& query, const Heads& key, const Heads& value,
                                             const Heads& key_cache, const Heads& value_cache, Int start_pos,
                                             const Mask& attn_mask, bool is_causal, std::optional<double> scale,
                                             const Arithmetic& a) {
  put_in_cache(key_cache_out, key, key_cache, start_pos);
  put_in_cache(value_cache_out, value, value_cache, start_pos);
  attend_magnitude(out, attention(query, key_cache_out, value_cache_out, start_pos, attn_mask, is_causal, scale), a);
}

void operators::custom_quantized_sdpa(Heads& out, const Heads& query, const Heads& key, const Heads& value,
                                      Int start_pos, const Mask& attn_mask, bool is_causal, std::optional<double> scale,
                                      const Mask& q_zero_points, const Mask& q_scales, const Mask& k_zero_points,
                                      const Mask& k_scales, const Mask& v_zero_points, const Mask& v_scales,
                                      bool is_seq_at_dim_2) {
  positions_first(is_seq_at_dim_2, out, dequantized(query, q_zero_points, q_scales),
                  dequantized(key, k_zero_points, k_scales), dequantized(value, v_zero_points, v_scales),
                  [&](Heads& y, const Heads& q, const Heads& k, const Heads& v) {
                    custom_sdpa(y, q, k, v, start_pos, attn_mask, is_causal, scale);
                  });
}
void operators::custom_quantized_sdpa_magnitude(Heads& out, const Heads& query, const Heads& key, const Heads& value,
                                                Int start_pos, const Mask& attn_mask, bool is_causal,
                                                std::optional<double> scale, const Mask& q_zero_points,
                                                const Mask& q_scales, const Mask& k_zero_points, const Mask& k_scales,
                                                const Mask& v_zero_points, const Mask& v_scales, bool is_seq_at_dim_2,
                                                const Arithmetic& a) {
  positions_first(is_seq_at_dim_2, out, dequantized(query, q_zero_points, q_scales),
                  dequantized(key, k_zero_points, k_scales), dequantized(value, v_zero_points, v_scales),
                  [&](Heads& y, const Heads& q, const Heads& k, const Heads& v) {
                    custom_sdpa_magnitude(y, q, k, v, start_pos, attn_mask, is_causal, scale, a);
                  });
}

}  // namespace assay
