#include "reference/numerics/moments.h"

#include <algorithm>
#include <cmath>

#include "reference/numerics/bounds.h"
#include "reference/numerics/steps.h"

namespace assay {
namespace {

constexpr int headroom = 64;  // a row has less than 2^64 elements

template <class F>
Real sum_of(std::span<const Real> x, F term) {
  Sum<Real> sum = 0;
  for (Real v : x) sum += term(v);
  return sum;
}

Real scaled_total(std::span<const Real> x) {
  return sum_of(x, [](Real v) { return std::ldexp(v, -headroom); });
}

}  // namespace

Real total(std::span<const Real> x) {
  const Real sum = sum_of(x, [](Real v) { return v; });
  return std::isfinite(sum) ? sum : std::ldexp(scaled_total(x), headroom);
}

Real mean_of(std::span<const Real> x) {
  const Real sum = total(x), n = static_cast<Real>(x.size());
  return std::isfinite(sum) ? sum / n : std::ldexp(scaled_total(x) / n, headroom);
}

Real finite_magnitude(std::span<const Real> x) {
  return std::fmin(std::numeric_limits<Real>::max(),
                   sum_of(x, [](Real v) { return std::isfinite(v) ? std::fabs(v) : 0; }));
}

Moments::Moments(std::span<const Real> x) : x_(x), mean_(x.empty() ? 0 : mean_of(x)) {
  size_ = sum_of(x, [this](Real v) { return std::fabs(v) / count(); });
  squares_ = sum_of(x, [this](Real v) { return (v - mean_) * (v - mean_); });
  steps::moments(x, mean_, squares_);
}

Real Moments::variance(Real degrees) const {
  return x_.empty() ? std::numeric_limits<Real>::quiet_NaN() : squares_ / (degrees > 0 ? degrees : 0);
}
Real Moments::reciprocal_deviation(Real eps) const { return 1 / std::sqrt(variance(count()) + eps); }

// The rounding error of the sum of (x - mean)^2, in multiples of roundoffs(n) u. x - mean is wrong by roundoffs(n) u d
// with d = size + |x| / roundoffs(n): by the error of the mean, and by its own rounding. Its square is therefore wrong
// by roundoffs(n) u (2 |x - mean| d + roundoffs(n) u d^2).
Real Moments::rounding(Real unit) const {
  const Real all = roundoffs(count());
  return sum_of(x_, [&](Real v) {
    const Real d = std::fabs(v) / all + size_;
    return d * (2 * std::fabs(v - mean_) + all * unit * d);
  });
}

bool Moments::may_overflow(const Arithmetic& a) const {
  return !(sum_of(x_, [this](Real v) { return (std::fabs(v) + size_) * (std::fabs(v) + size_); }) < a.largest);
}

// A running mean may be NaN if an x is infinite.
Real Moments::mean_magnitude(const Arithmetic& a) const {
  if (std::isnan(size_)) return 0;
  if (!is_finite()) return overflowing(0);
  return 2 * size_ * count() < a.largest ? size_ : overflowing(size_);
}

// For an infinite x, the order of a running mean decides which infinity or NaN results. Division by 0 degrees gives
// infinity if squares remain after rounding. If the squares may vanish, or come only from a rounded mean, the result
// may be NaN or infinite.
Real Moments::variance_magnitude(Real degrees, const Arithmetic& a) const {
  if (std::isnan(size_) || x_.empty()) return 0;
  if (!is_finite()) return overflowing(0);
  if (!(degrees > 0)) {
    const bool are_equal = std::ranges::all_of(x_, [this](Real v) { return v == x_[0]; });
    const bool remains = !are_equal && squares_ > 4 * count() * a.least && !may_overflow(a);
    return remains || count() == 1 ? 0 : overflowing(0);
  }
  const Real squares = squares_ + rounding(a.unit);
  if (!may_overflow(a)) return squares / degrees;
  return overflowing((squares_ < a.largest ? squares : squares_) / degrees);
}

// The error of variance + eps. The sum of n squares is wrong by roundoffs(n) u of its magnitude. Squares vanish below
// the smallest normal number. For a single number, x - mean is 0.
Real Moments::variance_error(Real eps, const Arithmetic& a) const {
  const Real squares = count() > 1 ? squares_ + rounding(a.unit) : 0;
  const Real magnitude = squares / count() + std::fabs(eps) + 2 * a.least;
  return roundoffs(count()) * a.unit * magnitude;
}

// A variance is never negative, however it is rounded.
Real Moments::largest_reciprocal_deviation(Real eps, const Arithmetic& a) const {
  const Real least = std::fmax(variance(count()) - variance_error(eps, a), 0) + eps;
  return least > 0 ? 1 / std::sqrt(least) : std::numeric_limits<Real>::infinity();
}

// r = v^(-1/2) is wrong by two roundings and by the error e of v. If e is not small beside v, r may be anything up to
// its largest value, or 0 if a variance overflows. The magnitude puts this range within one standard deviation, since
// an error there does not concern quality. The statistics of a half type may have dtype float32.
Real Moments::reciprocal_deviation_magnitude(Real eps, const Arithmetic& a) const {
  const Real v = variance(count()) + eps, r = 1 / std::sqrt(v), largest = largest_reciprocal_deviation(eps, a),
             e = variance_error(eps, a);
  if (std::isnan(size_) || std::isnan(eps) || x_.empty() || v < -e) return 0;
  if (!is_finite() || !std::isfinite(largest)) return unbounded;
  constexpr Real float32_unit = 0x1p-24;
  const Real anywhere = largest / (std::sqrt(count()) * std::min(a.unit, float32_unit));
  if (may_overflow(a)) return overflowing(anywhere);
  const Real roundings = roundoffs(count());
  return e <= v / 2 ? 2 * r / roundings + (largest - r) / (roundings * a.unit) : r + anywhere;
}

}  // namespace assay
