#include "operators/scan.gen.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

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

}  // namespace assay
