#include "reference/moments.h"

#include <cmath>

namespace assay {
namespace {

constexpr Real nan = std::numeric_limits<Real>::quiet_NaN();
constexpr int headroom = 64;  // a row has less than 2^64 elements

template <class F>
Real sum_of(std::span<const Real> x, F term) {
  Real sum = 0;
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
  return std::fmin(unbounded, sum_of(x, [](Real v) { return std::isfinite(v) ? std::fabs(v) : 0; }));
}

Moments::Moments(std::span<const Real> x) : x_(x), mean_(x.empty() ? 0 : mean_of(x)) {
  size_ = sum_of(x, [this](Real v) { return std::fabs(v) / count(); });
  squares_ = sum_of(x, [this](Real v) { return (v - mean_) * (v - mean_); });
}

Real Moments::variance(Real degrees) const { return x_.empty() ? nan : squares_ / (degrees > 0 ? degrees : 0); }
Real Moments::reciprocal_deviation(Real eps) const { return 1 / std::sqrt(variance(count()) + eps); }

// With d = |x| + size, of which x - mean is wrong by u d, (x - mean)^2 is wrong by u (2 |x - mean| d + u d^2).
Real Moments::rounding(Real unit) const {
  return sum_of(x_, [&](Real v) {
    const Real d = std::fabs(v) + size_;
    return d * (2 * std::fabs(v - mean_) + unit * d);
  });
}

// Which infinity or NaN comes of an infinite x depends on the order of a running mean.
bool Moments::may_overflow(const Arithmetic& a) const {
  return !(sum_of(x_, [this](Real v) { return (std::fabs(v) + size_) * (std::fabs(v) + size_); }) < a.largest);
}

Real Moments::mean_magnitude(const Arithmetic& a) const {
  if (std::isnan(size_)) return 0;
  return 2 * size_ * count() < a.largest ? std::fabs(mean_) + a.share * size_ : unbounded;
}

Real Moments::variance_magnitude(Real degrees, const Arithmetic& a) const {
  if (std::isnan(size_) || x_.empty()) return 0;
  if (!(degrees > 0) || may_overflow(a)) return unbounded;
  return (squares_ + a.share * rounding(a.unit)) / degrees;
}

// r = v^(-1/2) is wrong by r e / (2 v), as long as the error e of v is small beside v: here at most half of it, where
// the error of a sum of n squares is 4 sqrt(n) u of its magnitude, and squares vanish below the smallest normal number.
Real Moments::reciprocal_deviation_magnitude(Real eps, const Arithmetic& a) const {
  const Real v = variance(count()) + eps;
  if (std::isnan(size_) || std::isnan(eps) || x_.empty()) return 0;
  if (may_overflow(a)) return unbounded;
  const Real e = (squares_ + rounding(a.unit)) / count() + std::fabs(eps) + 2 * a.least;
  if (!(8 * std::sqrt(count()) * a.unit * e <= std::fabs(v))) return unbounded;
  return (1 + e / v) / std::sqrt(v);
}

}  // namespace assay
