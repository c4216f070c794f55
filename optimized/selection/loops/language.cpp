#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "kernels.gen.h"
#include "optimized/selection/rows.h"
#include "optimized/selection/scalars.h"

// Operators of language models, by plain loops: caches of keys and values, attention over these caches, rotations. A
// tensor of heads has the sizes (batch, positions, heads, size of a head).
namespace assay::optimized {
namespace {

bool is_flag(const Value& v) { return v.kind == ValueKind::boolean; }

// Whether the rows of a tensor of heads can be put in a cache, and both lie in row-major order.
bool fits_cache(const Tensor& value, const Tensor& cache) {
  const auto same = [&](int d) { return value.size(d) == cache.size(d); };
  return value.rank == 4 && cache.rank == 4 && same(0) && same(2) && same(3) && value.count() > 0 &&
         value.is_contiguous() && cache.is_contiguous();
}
// Whether a number is the first of so many positions of a cache.
bool is_start(const Value& v, std::int64_t rows, std::int64_t positions) {
  return v.kind == ValueKind::integer && v.integer >= 0 && v.integer <= positions - rows;
}

// Copies position i of each batch of `value` to the position place(batch, i) of the cache.
template <class Place>
void put_in_cache(const Tensor& value, const Tensor& cache, Place place) {
  const std::int64_t length = value.size(2) * value.size(3), rows = value.size(1), positions = cache.size(1);
  for (std::int64_t b = 0; b < value.size(0); ++b)
    for (std::int64_t i = 0; i < rows; ++i)
      std::memcpy(cache.at((b * positions + place(b, i)) * length), value.at((b * rows + i) * length),
                  static_cast<std::size_t>(length) * value.element_bytes());
}

// Operands: value, cache, start_pos, maybe indices, out. The result has one element, which has no meaning.
template <bool has_indices>
bool accepts_update(const Call& call) {
  if (!call[0].is_tensor() || !call[1].is_tensor() || !call.arguments.back()->is_tensor()) return false;
  const DType dtype = call.tensor(0).dtype;
  return call.tensor(1).dtype == dtype && call.out().dtype == dtype &&
         (!has_indices || (call[3].is_tensor() && call.tensor(3).dtype == DType::int64));
}
bool clear_result(const Call& call) {
  constexpr std::int32_t one[] = {1};
  if (!resize(call.out(), one)) return false;
  clear(call.out());
  return true;
}
bool run_update(const Step& step, Execution&) {
  const Call& call = step.call;
  const Tensor &value = call.tensor(0), &cache = call.tensor(1);
  if (!fits_cache(value, cache) || !is_start(call[2], value.size(1), cache.size(1)) || !clear_result(call))
    return false;
  put_in_cache(value, cache, [&](std::int64_t, std::int64_t i) { return call[2].integer + i; });
  return true;
}
bool run_update_with_indices(const Step& step, Execution&) {
  const Call& call = step.call;
  const Tensor &value = call.tensor(0), &cache = call.tensor(1), &indices = call.tensor(3);
  if (!fits_cache(value, cache) || indices.rank != 2 || !indices.is_contiguous() || indices.size(0) != value.size(0) ||
      indices.size(1) != value.size(1))
    return false;
  const std::int64_t *named = indices.elements<std::int64_t>(), rows = value.size(1), positions = cache.size(1);
  if (!std::all_of(named, named + indices.count(), [&](std::int64_t i) { return i >= 0 && i < positions; }) ||
      !clear_result(call))
    return false;
  put_in_cache(value, cache, [&](std::int64_t b, std::int64_t i) { return named[b * rows + i]; });
  return true;
}

// The numbers of a tensor of heads. The tensor may have heads before positions, and may have codes: then each row has a
// scale and a zero point.
class Heads {
 public:
  Heads(const Tensor& t, bool heads_first, const Tensor* scales = nullptr, const Tensor* zero_points = nullptr)
      : numbers_(t, t.dtype),
        scales_(scales ? *scales : t, scales ? scales->dtype : t.dtype),
        zero_points_(zero_points ? *zero_points : t, zero_points ? zero_points->dtype : t.dtype),
        has_codes_(scales),
        strides_(in_order(t, heads_first)),
        of_scales_(in_order(scales ? *scales : t, heads_first)),
        of_zero_points_(in_order(zero_points ? *zero_points : t, heads_first)) {
    for (int d = 0; d < 4; ++d) sizes[d] = t.size(heads_first && (d == 1 || d == 2) ? 3 - d : d);
  }
  // The strides of batch, position, head and element.
  static Strides in_order(const Tensor& t, bool heads_first) {
    Strides strides = strides_of(t);
    if (heads_first) std::swap(strides.of[1], strides.of[2]);
    return strides;
  }
  double operator()(std::int64_t b, std::int64_t i, std::int64_t h, std::int64_t d) const {
    const auto row = [&](const Strides& s) { return b * s.of[0] + i * s.of[1] + h * s.of[2]; };
    const double x = numbers_[row(strides_) + d * strides_.of[3]];
    return has_codes_ ? (x - zero_points_[row(of_zero_points_)]) * scales_[row(of_scales_)] : x;
  }

  std::int64_t sizes[4];

 private:
  Reading<double> numbers_, scales_, zero_points_;
  bool has_codes_;
  Strides strides_, of_scales_, of_zero_points_;
};

// How a call names its operands: the indices of key, start_pos and attn_mask. value is behind key; is_causal and scale
// are two and three places behind attn_mask.
struct Form {
  std::size_t key, start, mask;
};
constexpr Form plain_form{1, 3, 4}, cached_form{3, 5, 7};

// Each row of the query sees the keys of the first positions.
struct Attention {
  Heads query, key, value;
  const Tensor* mask;
  std::int64_t start;
  bool is_causal;
  double scale;

  std::int64_t keys(std::int64_t position) const {
    return mask ? key.sizes[1] : start + (is_causal ? position + 1 : query.sizes[1]);
  }
};

Attention attention(const Call& call, const Form& form, Heads query, Heads key, Heads value) {
  const Value &mask = call[form.mask], &scale = call[form.mask + 3];
  const double usual = 1 / std::sqrt(static_cast<double>(query.sizes[3]));
  return {query,
          key,
          value,
          mask.is_tensor() ? mask.tensor : nullptr,
          call[form.start].integer,
          call[form.mask + 2].boolean,
          scale.kind == ValueKind::none ? usual : scale.real};
}
bool is_valid(const Call& call, const Form& form, const Heads& query, const Heads& key) {
  const std::int64_t positions = query.sizes[1];
  const Value &mask = call[form.mask], &scale = call[form.mask + 3];
  if (scale.kind != ValueKind::none && scale.kind != ValueKind::real) return false;
  if (mask.is_tensor() ? call[form.mask + 2].boolean || mask.tensor->rank != 2 || mask.tensor->size(0) != positions ||
                             mask.tensor->size(1) != key.sizes[1]
                       : mask.kind != ValueKind::none)
    return false;
  return query.sizes[0] == key.sizes[0] && query.sizes[3] == key.sizes[3] && key.sizes[2] > 0 &&
         query.sizes[2] % key.sizes[2] == 0 && is_start(call[form.start], positions, key.sizes[1]);
}

// The softmax of the scores of one row of the query, without its divisor, which is returned.
double weigh(const Attention& a, std::int64_t b, std::int64_t i, std::int64_t h, std::int64_t g, double* weights) {
  const std::int64_t n = a.keys(i);
  const Strides of_mask = a.mask ? strides_of(*a.mask) : Strides{};
  double top = -std::numeric_limits<double>::infinity(), sum = 0;
  for (std::int64_t j = 0; j < n; ++j) {
    double product = 0;
    for (std::int64_t d = 0; d < a.query.sizes[3]; ++d) product += a.query(b, i, h, d) * a.key(b, j, g, d);
    const auto addend = [&] { return a.mask->elements<float>()[i * of_mask.of[0] + j * of_mask.of[1]]; };
    weights[j] = a.scale * product + (a.mask ? static_cast<double>(addend()) : 0);
    top = std::fmax(top, weights[j]);
  }
  for (std::int64_t j = 0; j < n; ++j) sum += weights[j] = std::exp(weights[j] - top);
  return sum;
}
void attend(const Attention& a, const Tensor& out, bool heads_first, double* weights) {
  const Writing<double> y(out);
  const Strides to = Heads::in_order(out, heads_first);
  const std::int64_t group = a.query.sizes[2] / a.key.sizes[2];
  for (std::int64_t b = 0; b < a.query.sizes[0]; ++b)
    for (std::int64_t i = 0; i < a.query.sizes[1]; ++i)
      for (std::int64_t h = 0; h < a.query.sizes[2]; ++h) {
        const double divisor = weigh(a, b, i, h, h / group, weights);
        for (std::int64_t d = 0; d < a.query.sizes[3]; ++d) {
          double sum = 0;
          for (std::int64_t j = 0; j < a.keys(i); ++j) sum += weights[j] / divisor * a.value(b, j, h / group, d);
          y.set(b * to.of[0] + i * to.of[1] + h * to.of[2] + d * to.of[3], sum);
        }
      }
}

// Whether query, key, value, and the tensors between them and the start have the dtype.
bool accepts_attention(const Call& call, const Form& form, DType dtype, DType out) {
  for (std::size_t i = 0; i < form.start; ++i)
    if (!call[i].is_tensor() || call.tensor(i).dtype != dtype) return false;
  if (call.tensor(form.key).unbounded || !call.arguments.back()->is_tensor() || call.out().dtype != out) return false;
  return is_flag(call[form.mask + 2]) &&
         (!call[form.mask].is_tensor() || call.tensor(form.mask).dtype == DType::float32);
}
template <const Form& form>
bool accepts_floats(const Call& call) {
  const DType dtype = call[0].is_tensor() ? call.tensor(0).dtype : DType::float64;
  return is_floating(dtype) && dtype != DType::float64 && accepts_attention(call, form, dtype, dtype);
}
bool accepts_codes(const Call& call) {
  for (std::size_t i = 8; i < 14; ++i)
    if (!call[i].is_tensor() || call.tensor(i).dtype != (i % 2 == 0 ? DType::int8 : DType::float32)) return false;
  return accepts_attention(call, plain_form, DType::int8, DType::float32) && is_flag(call[14]);
}

// Scratch memory has a weight for each key.
template <const Form& form>
const void* prepare_attention(const Call& call, Stores& stores) {
  const Tensor& key = call.tensor(form.key);
  const std::int32_t most = key.rank == 4 ? std::max(key.declared[1], key.declared[2]) : 0;
  stores.scratch = std::max(stores.scratch, static_cast<std::uint64_t>(most) * sizeof(double));
  return nullptr;
}
double* weights_of(const Execution& execution) { return reinterpret_cast<double*>(execution.scratch.data()); }

bool are_heads(const Call& call, const Form& form) {
  const Tensor &query = call.tensor(0), &key = call.tensor(form.key), &value = call.tensor(form.key + 1);
  return query.rank == 4 && key.rank == 4 && query.count() > 0 && std::ranges::equal(key.shape(), value.shape());
}

bool run_attention(const Step& step, Execution& execution) {
  const Call& call = step.call;
  if (!are_heads(call, plain_form)) return false;
  const Attention a =
      attention(call, plain_form, {call.tensor(0), false}, {call.tensor(1), false}, {call.tensor(2), false});
  if (!is_valid(call, plain_form, a.query, a.key) || !resize(call.out(), call.tensor(0).shape())) return false;
  attend(a, call.out(), false, weights_of(execution));
  return true;
}

// Puts the keys and values in their caches first.
bool run_cached(const Step& step, Execution& execution) {
  const Call& call = step.call;
  const Tensor &query = call.tensor(0), &key = call.tensor(1), &value = call.tensor(2);
  if (!are_heads(call, cached_form) || !fits_cache(key, call.tensor(3)) || !fits_cache(value, call.tensor(4)) ||
      query.size(1) != key.size(1) || value.size(1) != key.size(1))
    return false;
  const Attention a = attention(call, cached_form, {query, false}, {call.tensor(3), false}, {call.tensor(4), false});
  if (!is_valid(call, cached_form, a.query, a.key) || !resize(call.out(), query.shape())) return false;
  const auto place = [&](std::int64_t, std::int64_t i) { return a.start + i; };
  put_in_cache(key, call.tensor(3), place), put_in_cache(value, call.tensor(4), place);
  attend(a, call.out(), false, weights_of(execution));
  return true;
}

// Operands behind scale: the zero points and scales of query, key and value, and whether heads come before positions.
bool run_quantized(const Step& step, Execution& execution) {
  const Call& call = step.call;
  if (!are_heads(call, plain_form)) return false;
  for (std::size_t i = 0; i < 6; ++i) {
    Shape rows = shape_of(call.tensor(i / 2));
    rows.sizes[3] = 1;
    if (!std::ranges::equal(call.tensor(8 + i).shape(), rows.span())) return false;
  }
  const bool heads_first = call[14].boolean;
  const auto heads = [&](std::size_t i) {
    return Heads(call.tensor(i), heads_first, &call.tensor(9 + 2 * i), &call.tensor(8 + 2 * i));
  };
  const Attention a = attention(call, plain_form, heads(0), heads(1), heads(2));
  if (!is_valid(call, plain_form, a.query, a.key) || !resize(call.out(), call.tensor(0).shape())) return false;
  attend(a, call.out(), heads_first, weights_of(execution));
  return true;
}

// Rotations by a Hadamard matrix of 2^k rows, or of 28 times as many: then each element of a matrix of 28 rows is a
// sign of a block of 2^k rows.

// The matrix of 28 rows by Williamson's construction. Its four by four blocks have the signs of the products of
// quaternions. Block 0, 1, 2 or 3 is a circulant of 7 rows with ones at 0 and at plus and minus its number.
bool is_positive_of_28(std::int64_t i, std::int64_t j) {
  constexpr std::uint8_t negative[] = {0b0000, 0b0101, 0b1001,
                                       0b0011};  // bit j is set for a negative block in column j
  const std::int64_t block = (i / 7) ^ (j / 7), apart = (j - i + 28) % 7;
  const bool is_one = apart == 0 || apart == block || apart == 7 - block;
  return is_one != bool(negative[i / 7] >> (j / 7) & 1);
}

bool accepts_rotation(const Call& call) {
  if (!call[0].is_tensor() || !call[1].is_tensor() || call.tensor(0).unbounded) return false;
  const DType dtype = call.tensor(0).dtype;
  return is_floating(dtype) && dtype != DType::bfloat16 && call.tensor(1).dtype == dtype;
}
const void* prepare_rotation(const Call& call, Stores& stores) {
  const Tensor& mat = call.tensor(0);
  const std::int32_t n = mat.rank > 0 ? mat.declared[mat.rank - 1] : 0;
  stores.scratch = std::max(stores.scratch, static_cast<std::uint64_t>(n) * sizeof(double));
  return nullptr;
}
// Replaces each block of n elements by its sums with signs: the element at bit b is added, or subtracted from its pair.
void rotate(double* x, std::int64_t n) {
  for (std::int64_t half = 1; half < n; half *= 2)
    for (std::int64_t i = 0; i < n; ++i) {
      if (i & half) continue;
      const double a = x[i], b = x[i + half];
      x[i] = a + b, x[i + half] = a - b;
    }
}
bool run_rotation(const Step& step, Execution& execution) {
  const Tensor& mat = step.call.tensor(0);
  Tensor& out = step.call.out();
  if (mat.rank == 0) return false;
  const std::int64_t n = mat.size(mat.rank - 1);
  const bool is_power = (n & (n - 1)) == 0;
  const std::int64_t block = is_power ? n : n / 28;
  if ((!is_power && (n % 28 != 0 || (block & (block - 1)) != 0)) || !resize(out, mat.shape())) return false;
  const double scale = 1 / std::sqrt(static_cast<double>(block));
  const Rows rows = rows_of(mat.rank - 1, {&mat, &out});
  const Reading<double> x(mat, mat.dtype);
  const Writing<double> y(out);
  auto* row = reinterpret_cast<double*>(execution.scratch.data());
  each_of(rows, [&](const std::ptrdiff_t* at) {
    for (std::int64_t i = 0; i < n; ++i) row[i] = x[at[0] + i * rows.step[0]];
    for (std::int64_t first = 0; first < n; first += block) rotate(row + first, block);
    for (std::int64_t i = 0; i < n; ++i) {
      double sum = 0;
      for (std::int64_t j = i % block; j < n; j += block)
        sum += is_power || is_positive_of_28(i / block, j / block) ? row[j] : -row[j];
      y.set(at[1] + i * rows.step[1], sum * scale);
    }
  });
  return true;
}

}  // namespace

constexpr Kernel update_cache{"update_cache", accepts_update<false>, nullptr, run_update};
constexpr Kernel update_cache_with_indices{"update_cache_with_indices", accepts_update<true>, nullptr,
                                           run_update_with_indices};
constexpr Kernel custom_sdpa{"custom_sdpa", accepts_floats<plain_form>, prepare_attention<plain_form>, run_attention};
constexpr Kernel sdpa_with_kv_cache{"sdpa_with_kv_cache", accepts_floats<cached_form>, prepare_attention<cached_form>,
                                    run_cached};
constexpr Kernel custom_quantized_sdpa{"custom_quantized_sdpa", accepts_codes, prepare_attention<plain_form>,
                                       run_quantized};
constexpr Kernel fast_hadamard_transform{"fast_hadamard_transform", accepts_rotation, prepare_rotation, run_rotation};

}  // namespace assay::optimized
