#include "operators/reduction.gen.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "reference/numerics/bounds.h"
#include "reference/numerics/moments.h"
#include "reference/numerics/product.h"

namespace assay {
namespace {

constexpr Real nan = std::numeric_limits<Real>::quiet_NaN();

using std::isnan;
constexpr bool isnan(Int) { return false; }

// The position of the first minimum by `before`; NaN is before all numbers.
template <class T, class Before>
std::size_t first_of(std::span<const T> x, Before before) {
  std::size_t at = 0;
  for (std::size_t k = 1; k < x.size(); ++k)
    if (!isnan(x[at]) && (isnan(x[k]) || before(x[k], x[at]))) at = k;
  return at;
}
template <class T>
std::size_t largest_of(std::span<const T> x) {
  return first_of(x, std::greater<T>());
}
template <class T>
std::size_t smallest_of(std::span<const T> x) {
  return first_of(x, std::less<T>());
}

// The position of the median, the lower one of two; a NaN is the median where there is one.
template <class T>
std::size_t median_of(std::span<const T> x) {
  if (const std::size_t at = largest_of(x); isnan(x[at])) return at;
  Buffer<std::size_t> order(x.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto middle = order.begin() + (std::ssize(order) - 1) / 2;
  std::ranges::nth_element(order, middle, [&](std::size_t a, std::size_t b) { return x[a] < x[b]; });
  return *middle;
}

template <class T>
std::pair<T, Int> with_place(std::span<const T> x, std::size_t at) {
  return {x[at], static_cast<Int>(at)};
}

// The real (0) or the imaginary (1) parts.
Buffer<Real> parts(std::span<const Complex> x, int which) {
  Buffer<Real> found;
  found.reserve(x.size());
  for (const Complex& z : x) found.push_back(which == 0 ? z.real() : z.imag());
  return found;
}

Real degrees_of_freedom(std::span<const Real> x, const std::optional<Scalar>& correction) {
  return static_cast<Real>(x.size()) - (correction ? real(*correction) : 1);
}

// A negative magnitude marks a partial result that is not finite.
Real sum_of_magnitudes(Real a, Real b) {
  const Real sum = bounded(std::fabs(a) + std::fabs(b));
  return sum != unbounded && (a < 0 || b < 0) ? overflowing(sum) : sum;
}

// The unit roundoff is taken from the dtype of the result if it differs from the dtype of the numbers.
Real magnitude_of_variance(std::span<const Real> x, const std::optional<Scalar>& correction, Arithmetic a) {
  if (a.stored_unit > 0) a.unit *= a.stored_unit;
  return Moments(x).variance_magnitude(degrees_of_freedom(x, correction), a);
}

}  // namespace

Real operators::sum(std::span<const Real> x) { return total(x); }
Complex operators::sum(std::span<const Complex> x) { return {total(parts(x, 0)), total(parts(x, 1))}; }
Int operators::sum(std::span<const Int> x) {
  Int sum = 0;
  for (Int v : x) sum = wrapping_add(sum, v);
  return sum;
}

Real operators::mean(std::span<const Real> x) { return mean_of(x); }
Complex operators::mean(std::span<const Complex> x) { return sum(x) / Complex(static_cast<Real>(x.size())); }
Real operators::mean_magnitude(std::span<const Real> x, const Arithmetic& a) {
  const Real sum = finite_magnitude(x), mean = sum / static_cast<Real>(x.size());
  return sum < a.largest ? mean : overflowing(mean);
}

Real operators::prod(std::span<const Real> x) {
  Product product;
  for (Real v : x) product.multiply(v);
  return product.value();
}
Real operators::prod_magnitude(std::span<const Real> x, const Arithmetic& a) {
  Product product;
  for (Real v : x) product.multiply(v);
  return product.magnitude(a);
}
Complex operators::prod(std::span<const Complex> x) {
  return std::accumulate(x.begin(), x.end(), Complex(1), std::multiplies());
}
Complex operators::prod_magnitude(std::span<const Complex> x, const Arithmetic& a) {
  Product product;
  for (const Complex& z : x) product.multiply(std::isfinite(std::abs(z)) ? std::abs(z) : non_finite_term);
  return product.magnitude(a);
}
Int operators::prod(std::span<const Int> x) {
  Int product = 1;
  for (Int v : x) product = wrapping_multiply(product, v);
  return product;
}

Real operators::amax(std::span<const Real> x) { return x[largest_of(x)]; }
Int operators::amax(std::span<const Int> x) { return x[largest_of(x)]; }
Real operators::amin(std::span<const Real> x) { return x[smallest_of(x)]; }
Int operators::amin(std::span<const Int> x) { return x[smallest_of(x)]; }
std::pair<Real, Int> operators::max(std::span<const Real> x) { return with_place(x, largest_of(x)); }
std::pair<Int, Int> operators::max(std::span<const Int> x) { return with_place(x, largest_of(x)); }
std::pair<Real, Int> operators::min(std::span<const Real> x) { return with_place(x, smallest_of(x)); }
std::pair<Int, Int> operators::min(std::span<const Int> x) { return with_place(x, smallest_of(x)); }
Int operators::argmax(std::span<const Real> x) { return static_cast<Int>(largest_of(x)); }
Int operators::argmax(std::span<const Int> x) { return static_cast<Int>(largest_of(x)); }
Int operators::argmin(std::span<const Real> x) { return static_cast<Int>(smallest_of(x)); }
Int operators::argmin(std::span<const Int> x) { return static_cast<Int>(smallest_of(x)); }

Real operators::median_value(std::span<const Real> x, const Rounding&) { return x.empty() ? nan : x[median_of(x)]; }
Complex operators::median_value(std::span<const Complex>, const Rounding&) { return nan; }  // complex has no order
Int operators::median_value(std::span<const Int> x, const Rounding& round) {
  if (!x.empty()) return x[median_of(x)];
  // PyTorch casts a single number to uint32 differently from the elements of a tensor.
  return round.dtype == DType::uint32 ? 0 : truncated_to(round.dtype, nan);
}
std::pair<Real, Int> operators::median(std::span<const Real> x) { return with_place(x, median_of(x)); }
std::pair<Int, Int> operators::median(std::span<const Int> x) { return with_place(x, median_of(x)); }

Int operators::any(std::span<const Int> x) {
  return std::ranges::any_of(x, [](Int v) { return v != 0; });
}

Real operators::var(std::span<const Real> x, std::optional<Scalar> correction) {
  return Moments(x).variance(degrees_of_freedom(x, correction));
}
Real operators::var(std::span<const Real> x, bool unbiased) { return var(x, Scalar(Int{unbiased})); }
Real operators::var(std::span<const Complex> x, std::optional<Scalar> correction) {
  return var(parts(x, 0), correction) + var(parts(x, 1), correction);
}
Real operators::var(std::span<const Complex> x, bool unbiased) { return var(x, Scalar(Int{unbiased})); }
Real operators::var_magnitude(std::span<const Real> x, std::optional<Scalar> correction, const Arithmetic& a) {
  return stored_sum(magnitude_of_variance(x, correction, a), a);
}
Real operators::var_magnitude(std::span<const Real> x, bool unbiased, const Arithmetic& a) {
  return var_magnitude(x, Scalar(Int{unbiased}), a);
}
Real operators::var_magnitude(std::span<const Complex> x, std::optional<Scalar> correction, const Arithmetic& a) {
  return stored_sum(sum_of_magnitudes(magnitude_of_variance(parts(x, 0), correction, a),
                                      magnitude_of_variance(parts(x, 1), correction, a)),
                    a);
}
Real operators::var_magnitude(std::span<const Complex> x, bool unbiased, const Arithmetic& a) {
  return var_magnitude(x, Scalar(Int{unbiased}), a);
}

std::pair<Real, Real> operators::var_mean(std::span<const Real> x, std::optional<Scalar> correction) {
  return {var(x, correction), mean_of(x)};
}
std::pair<Real, Complex> operators::var_mean(std::span<const Complex> x, std::optional<Scalar> correction) {
  return {var(x, correction), {mean_of(parts(x, 0)), mean_of(parts(x, 1))}};
}
std::pair<Real, Complex> operators::var_mean_magnitude(std::span<const Complex> x, std::optional<Scalar> correction,
                                                       const Arithmetic& a) {
  const Real mean = sum_of_magnitudes(Moments(parts(x, 0)).mean_magnitude(a), Moments(parts(x, 1)).mean_magnitude(a));
  return {var_magnitude(x, correction, a), mean};
}
std::pair<Real, Real> operators::var_mean_magnitude(std::span<const Real> x, std::optional<Scalar> correction,
                                                    const Arithmetic& a) {
  return {var_magnitude(x, correction, a), Moments(x).mean_magnitude(a)};
}

}  // namespace assay
