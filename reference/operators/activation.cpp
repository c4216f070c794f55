#include "operators/activation.gen.h"

#include <cmath>
#include <limits>
#include <numbers>

namespace assay {
namespace {

template <class T>
bool is_nan(T x) {
  return x != x;
}

template <class T>
T clamped(T x, std::optional<T> min, std::optional<T> max) {
  if (is_nan(x)) return x;
  if (min && (x < *min || is_nan(*min))) x = *min;
  if (max && (x > *max || is_nan(*max))) x = *max;
  return x;
}

}  // namespace

Real operators::relu(Real x) { return x < 0 ? 0 : x; }
Int operators::relu(Int x) { return x < 0 ? 0 : x; }

Real operators::leaky_relu(Real x, Real negative_slope) { return x > 0 ? x : negative_slope * x; }

Real operators::elu(Real x, Real alpha, Real scale, Real input_scale) {
  return x < 0 ? alpha * scale * std::expm1(input_scale * x) : scale * x;
}
// An error d of y is an error d e^y of e^y. Either factor may leave the range before they are multiplied.
Real operators::elu_magnitude(Real x, Real alpha, Real scale, Real input_scale, const Arithmetic& a) {
  const Real y = input_scale * x, factor = std::fabs(alpha * scale), slope = std::exp(y),
             power = std::fabs(std::expm1(y)) + (slope > 0 ? std::fabs(y) * slope : 0);
  if (!(x < 0)) return std::fabs(scale * x);
  return std::fmax(factor, power) >= a.largest ? overflowing(factor * power) : factor * power;
}

// eps and 1 - eps are rounded to the dtype.
Real operators::logit(Real x, std::optional<double> eps, const Rounding& round) {
  if (eps) x = clamped<Real>(x, round(Real{*eps}), round(1 - round(Real{*eps})));
  return std::log(x / (1 - x));
}
// Near a quotient of 1 only the error of the quotient itself counts. Where the limits cross, either may win.
Real operators::logit_magnitude(Real x, std::optional<double> eps, const Rounding& round) {
  return eps && !(round(Real{*eps}) <= 0.5) ? unbounded : 1 + std::fabs(logit(x, eps, round));
}

void operators::glu(std::span<const Real> x, std::span<Real> y) {
  for (std::size_t k = 0; k < y.size(); ++k) y[k] = x[k] / (1 + std::exp(-x[k + y.size()]));
}
// A sigmoid below the smallest normal number may be flushed to 0. It is multiplied by the first half, where an infinity
// then gives NaN.
void operators::glu_magnitude(std::span<const Real> x, std::span<Real> y, const Arithmetic& a) {
  glu(x, y);
  for (std::size_t k = 0; k < y.size(); ++k) {
    const bool lost = 1 / (1 + std::exp(-x[k + y.size()])) < a.least;
    y[k] = !lost ? std::fabs(y[k]) : std::isinf(x[k]) ? overflowing(0) : std::fabs(x[k]) * a.least / a.unit;
  }
}

// (1 + erf(t)) / 2 = erfc(-t) / 2 and (1 + tanh(t)) / 2 = 1 / (1 + e^-2t). The right sides have no cancellation.
Real operators::gelu(Real x, std::string_view approximate) {
  if (approximate == "none") return x / 2 * std::erfc(-x / std::numbers::sqrt2_v<Real>);
  const Real t = std::sqrt(2 / std::numbers::pi_v<Real>) * (x + Real{44715} / 1000000 * x * x * x);
  return x / (1 + std::exp(-2 * t));
}
Real operators::gelu_magnitude(Real x, std::string_view) {
  return std::isinf(x) ? std::fabs(x) : std::fmin(2 * std::fabs(x), std::numeric_limits<Real>::max());
}

Real operators::hardtanh(Real x, Real min_val, Real max_val) { return clamped<Real>(x, min_val, max_val); }
Int operators::hardtanh(Int x, Int min_val, Int max_val) { return clamped<Int>(x, min_val, max_val); }
Real operators::clamp(Real x, std::optional<Real> min, std::optional<Real> max) { return clamped(x, min, max); }
Int operators::clamp(Int x, std::optional<Int> min, std::optional<Int> max) { return clamped(x, min, max); }

}  // namespace assay
