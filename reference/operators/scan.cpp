#include "operators/scan.gen.h"
#include "operators/unary.gen.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

#include "reference/numerics/product.h"

namespace assay {
namespace {

constexpr bool comes_first(Int a, Int b, bool largest) { return largest ? a > b : a < b; }
bool comes_first(Real a, Real b, bool largest) {
  if (std::isnan(a) || std::isnan(b)) return !std::isnan(largest ? b : a);
  return largest ? a > b : a < b;
}

template <class T>
void in_order(std::span<const T> x, std::span<T> values, std::span<Int> indices, bool largest) {
  Buffer<std::size_t> order(x.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
    return comes_first(x[a], x[b], largest) || (!comes_first(x[b], x[a], largest) && a < b);
  });
  for (std::size_t k = 0; k < values.size(); ++k) values[k] = x[order[k]], indices[k] = static_cast<Int>(order[k]);
}

// uint64 is compared by its bits as an unsigned integer.
Int ordered(Int x, bool unsigned_bits) { return unsigned_bits ? wrapping_add(x, std::numeric_limits<Int>::min()) : x; }

// ln(e^a + e^b), of real or complex numbers.
Real log_of_sum(Real a, Real b) {
  if (std::isnan(a) || std::isnan(b)) return a + b;
  const Real large = std::max(a, b);
  return std::isinf(large) || std::isinf(a + b) ? large : large + std::log1p(std::exp(std::min(a, b) - large));
}

constexpr Real roundings_of_functions = 4;  // of the difference, the exponential and the logarithm

// The smaller and the larger of two numbers by their real parts, the first of equals larger.
std::pair<Complex, Complex> by_real_part(Complex a, Complex b) {
  return a.real() < b.real() ? std::pair(a, b) : std::pair(b, a);
}

// Two real parts that are both -inf or inf have no difference.
Complex log_of_sum(Complex a, Complex b) {
  if (operators::isnan(a) || operators::isnan(b))
    return {std::numeric_limits<Real>::quiet_NaN(), std::numeric_limits<Real>::quiet_NaN()};
  const auto [small, large] = by_real_part(a, b);
  if (std::isinf(large.real()) && small.real() == large.real())
    return large.real() < 0 ? small : operators::log(operators::exp(small) + operators::exp(large));
  return operators::log1p(operators::exp(small - large)) + large;
}

// The roundings of log_of_sum(a, b) = sum, in unit roundoffs: of the result, of the larger number, and of the ratio of
// the exponentials, whose relative error grows with their difference and where they cancel.
Real roundings(Complex a, Complex b, Complex sum) {
  const auto [small, large] = by_real_part(a, b);
  const Real ratio = std::abs(operators::exp(small - large)), whole = std::abs(operators::exp(sum - large));
  const Real of_ratio = ratio > 0 ? ratio * (std::abs(small - large) + roundings_of_functions) : 0;
  return std::abs(sum) + std::abs(large) + roundings_of_functions + (1 + of_ratio) / whole;
}

// Each x that no earlier one comes before, and its index. After a NaN, only another NaN.
template <class T, class Before>
void running_extreme(std::span<const T> x, std::span<T> values, std::span<Int> indices, Before before) {
  std::size_t extreme = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (x[i] != x[i] || (x[extreme] == x[extreme] && !before(x[extreme], x[i]))) extreme = i;
    values[i] = x[extreme], indices[i] = static_cast<Int>(extreme);
  }
}

// Where x belongs among n numbers that ascend, the k-th of which is at(k).
template <class T, class At>
Int position(T x, Int n, At at, bool right) {
  Int first = 0;
  for (Int last = n; first < last;) {
    const Int middle = first + (last - first) / 2;
    const bool before = right ? !(at(middle) > x) : !(at(middle) >= x);
    (before ? first : last) = before ? middle + 1 : middle;
  }
  return first;
}

// The elements of out are the positions of those of x, whose rows belong to rows of `sorted`, or all to one row.
template <class T>
void positions(Array<Int>& out, std::span<const T> x, const Array<T>& sorted, const Int* sorter, bool right) {
  const Int n = sorted.sizes[sorted.sizes.size() - 1],
            row = sorted.sizes.size() > 1 ? out.sizes[out.sizes.size() - 1] : 0;
  for (Int i = 0; i < out.count(); ++i) {
    const Int begin = row > 0 ? i / row * n : 0;
    out[i] = position(
        x[static_cast<std::size_t>(i)], n, [&](Int k) { return sorted[begin + (sorter ? sorter[begin + k] : k)]; },
        right);
  }
}

template <class T>
void positions(Array<Int>& out, std::span<const T> x, const Array<T>& sorted, bool right,
               std::optional<std::string_view> side, const std::optional<Array<Int>>& sorter) {
  positions(out, x, sorted, sorter ? sorter->data.data() : nullptr, right || side == "right");
}

template <class T>
std::span<const T> elements(const Array<T>& x) {
  return x.data;
}
template <class T>
std::span<const T> element(const T& x) {
  return {&x, 1};
}

}  // namespace

void operators::cumsum(std::span<const Real> x, std::span<Real> y) { std::partial_sum(x.begin(), x.end(), y.begin()); }
void operators::cumsum(std::span<const Complex> x, std::span<Complex> y) {
  std::partial_sum(x.begin(), x.end(), y.begin());
}
void operators::cumsum(std::span<const Int> x, std::span<Int> y) {
  std::partial_sum(x.begin(), x.end(), y.begin(), wrapping_add);
}

void operators::cumprod(std::span<const Real> x, std::span<Real> y) {
  Product product;
  for (std::size_t i = 0; i < x.size(); ++i) product.multiply(x[i]), y[i] = product.value();
}
void operators::cumprod(std::span<const Complex> x, std::span<Complex> y) {
  Complex product = 1;
  for (std::size_t i = 0; i < x.size(); ++i) y[i] = product = product * x[i];
}
void operators::cumprod(std::span<const Int> x, std::span<Int> y) {
  std::partial_sum(x.begin(), x.end(), y.begin(), wrapping_multiply);
}
void operators::cumprod_magnitude(std::span<const Real> x, std::span<Real> y, const Arithmetic& a) {
  Product product;
  for (std::size_t i = 0; i < x.size(); ++i) product.multiply(x[i]), y[i] = product.magnitude(a);
}

void operators::cumprod_magnitude(std::span<const Complex> x, std::span<Complex> y, const Arithmetic& a) {
  Product product;
  for (std::size_t i = 0; i < x.size(); ++i) {
    product.multiply(std::isfinite(std::abs(x[i])) ? std::abs(x[i]) : non_finite_term);
    y[i] = product.magnitude(a);
  }
}

void operators::logcumsumexp(std::span<const Real> x, std::span<Real> y) {
  std::partial_sum(x.begin(), x.end(), y.begin(), [](Real sum, Real next) { return log_of_sum(next, sum); });
}
// Each step rounds four times beside the result itself, and passes on the error of the step before by its share.
void operators::logcumsumexp_magnitude(std::span<const Real> x, std::span<Real> y) {
  logcumsumexp(x, y);
  Real error = 0, before = -std::numeric_limits<Real>::infinity();
  for (Real& v : y) {
    const Real result = v, share = std::isfinite(before) ? std::exp(before - result) : 0;
    v = error = std::isfinite(result) ? std::max(error * share, std::fabs(result) + roundings_of_functions) : 0;
    before = result;
  }
}

void operators::logcumsumexp(std::span<const Complex> x, std::span<Complex> y) {
  Complex sum = -std::numeric_limits<Real>::infinity();
  for (std::size_t i = 0; i < x.size(); ++i) y[i] = sum = log_of_sum(x[i], sum);
}
void operators::logcumsumexp_magnitude(std::span<const Complex> x, std::span<Complex> y) {
  logcumsumexp(x, y);
  Real error = 0;
  Complex before = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const Complex sum = y[i];
    const Real own = i == 0 ? std::abs(sum) : roundings(x[i], before, sum);
    const Real passed = error > 0 ? error * std::abs(operators::exp(before - sum)) : 0;
    error = std::isfinite(std::abs(sum)) ? std::max(own, passed) : 0;
    y[i] = std::isfinite(error) ? error : unbounded;
    before = sum;
  }
}

void operators::cummax(std::span<const Real> x, std::span<Real> values, std::span<Int> indices) {
  running_extreme(x, values, indices, std::greater<>());
}
void operators::cummax(std::span<const Int> x, std::span<Int> values, std::span<Int> indices) {
  running_extreme(x, values, indices, std::greater<>());
}
void operators::cummax(std::span<const Complex> x, std::span<Complex> values, std::span<Int>) {
  std::ranges::copy(x, values.begin());  // a scalar tensor: complex numbers have no order
}
void operators::cummin(std::span<const Real> x, std::span<Real> values, std::span<Int> indices) {
  running_extreme(x, values, indices, std::less<>());
}
void operators::cummin(std::span<const Int> x, std::span<Int> values, std::span<Int> indices) {
  running_extreme(x, values, indices, std::less<>());
}

void operators::cummin(std::span<const Complex> x, std::span<Complex> values, std::span<Int> indices) {
  cummax(x, values, indices);
}

void operators::topk(std::span<const Real> x, std::span<Real> values, std::span<Int> indices, bool largest) {
  in_order(x, values, indices, largest);
}
void operators::topk(std::span<const Int> x, std::span<Int> values, std::span<Int> indices, bool largest) {
  in_order(x, values, indices, largest);
}

void operators::sort(std::span<const Real> x, std::span<Real> values, std::span<Int> indices, bool descending,
                     const Rounding&) {
  in_order(x, values, indices, descending);
}
void operators::sort(std::span<const Int> x, std::span<Int> values, std::span<Int> indices, bool descending,
                     const Rounding& round) {
  const bool unsigned_bits = round.dtype == DType::uint64;
  Buffer<Int> keys(x.begin(), x.end());
  for (Int& key : keys) key = ordered(key, unsigned_bits);
  in_order(std::span<const Int>(keys), values, indices, descending);
  for (Int& value : values) value = ordered(value, unsigned_bits);
}

void operators::bucketize(Array<Int>& out, const Array<Real>& self, const Array<Real>& boundaries, bool right) {
  positions(out, elements(self), boundaries, nullptr, right);
}
void operators::bucketize(Array<Int>& out, const Array<Int>& self, const Array<Int>& boundaries, bool right) {
  positions(out, elements(self), boundaries, nullptr, right);
}
void operators::bucketize(Array<Int>& out, Real self, const Array<Real>& boundaries, bool right) {
  positions(out, element(self), boundaries, nullptr, right);
}
void operators::bucketize(Array<Int>& out, Int self, const Array<Int>& boundaries, bool right) {
  positions(out, element(self), boundaries, nullptr, right);
}

void operators::searchsorted(Array<Int>& out, const Array<Real>& sorted_sequence, const Array<Real>& self, bool right,
                             std::optional<std::string_view> side, const std::optional<Array<Int>>& sorter) {
  positions(out, elements(self), sorted_sequence, right, side, sorter);
}
void operators::searchsorted(Array<Int>& out, const Array<Int>& sorted_sequence, const Array<Int>& self, bool right,
                             std::optional<std::string_view> side, const std::optional<Array<Int>>& sorter) {
  positions(out, elements(self), sorted_sequence, right, side, sorter);
}
void operators::searchsorted(Array<Int>& out, const Array<Real>& sorted_sequence, Real self, bool right,
                             std::optional<std::string_view> side, const std::optional<Array<Int>>& sorter) {
  positions(out, element(self), sorted_sequence, right, side, sorter);
}
void operators::searchsorted(Array<Int>& out, const Array<Int>& sorted_sequence, Int self, bool right,
                             std::optional<std::string_view> side, const std::optional<Array<Int>>& sorter) {
  positions(out, element(self), sorted_sequence, right, side, sorter);
}

}  // namespace assay
