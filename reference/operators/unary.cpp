#include "operators/unary.gen.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "reference/dtype.h"

namespace assay {
namespace {

// ln|z|, near 1 from |z|^2 - 1. C's function differs with fused multiplication.
Real log_modulus(Complex z) {
  const Real x = std::fabs(z.real()), y = std::fabs(z.imag()), large = std::fmax(x, y), small = std::fmin(x, y);
  if (std::isinf(large)) return large;
  if (std::isnan(x + y)) return std::numeric_limits<Real>::quiet_NaN();
  if (large == 0) return -std::numeric_limits<Real>::infinity();
  if (large > 0.5 && large < 2) return std::log1p((large - 1) * (large + 1) + small * small) / 2;
  return std::log(large) + std::log1p(small / large * (small / large)) / 2;
}

// Converts a natural logarithm to the base whose natural logarithm is `of_base`.
Complex in_base(Complex logarithm, Real of_base) { return {logarithm.real() / of_base, logarithm.imag() / of_base}; }

constexpr Real pi = std::numbers::pi_v<Real>;

// x minus the nearest integer. The sine or tangent of pi times this difference equals the sine or tangent of pi x, up
// to the sign.
Real beyond_integer(Real x) { return x - std::nearbyint(x); }

bool is_negative_integer(Real x) { return x < 0 && x == std::floor(x); }

}  // namespace

Real operators::abs(Real x) { return std::fabs(x); }
Real operators::abs(Complex x) { return std::abs(x); }
Real operators::exact_magnitude(Real) { return 0; }
Int operators::abs(Int x) { return x < 0 ? wrapping_negate(x) : x; }
Real operators::neg(Real x) { return -x; }
Complex operators::neg(Complex x) { return -x; }
Int operators::neg(Int x) { return wrapping_negate(x); }
Real operators::sign(Real x) { return (x > 0) - (x < 0); }
Int operators::sign(Int x) { return (x > 0) - (x < 0); }
Real operators::ceil(Real x) { return std::ceil(x); }
Int operators::ceil(Int x) { return x; }
Real operators::floor(Real x) { return std::floor(x); }
Int operators::floor(Int x) { return x; }
Real operators::round(Real x) { return std::nearbyint(x); }
Int operators::round(Int x) { return x; }
Real operators::trunc(Real x) { return std::trunc(x); }
Int operators::trunc(Int x) { return x; }

Real operators::exp(Real x) { return std::exp(x); }
// e^-inf is 0 for any angle. For an angle of NaN, C gives the 0 the sign of the NaN, which depends on the processor.
Complex operators::exp(Complex x) {
  if (x.real() == -std::numeric_limits<Real>::infinity() && std::isnan(x.imag())) return 0;
  return std::exp(x);
}
Real operators::expm1(Real x) { return std::expm1(x); }
// cos y - 1 is -2 sin^2(y / 2)
Complex operators::expm1(Complex x) {
  const Real half = std::sin(x.imag() / 2);
  return {std::expm1(x.real()) * std::cos(x.imag()) - 2 * half * half, std::exp(x.real()) * std::sin(x.imag())};
}
Real operators::log(Real x) { return std::log(x); }
Complex operators::log(Complex x) { return {log_modulus(x), std::atan2(x.imag(), x.real())}; }
Real operators::log1p(Real x) { return std::log1p(x); }
Complex operators::expm1_magnitude(Complex x, const Arithmetic& a) {
  return std::exp(x.real()) < a.largest ? 0 : overflowing(0);
}
// Near 0 computed from |1 + x|^2 - 1, since 1 + x would round it away.
Complex operators::log1p(Complex x) {
  if (isnan(x)) return {std::numeric_limits<Real>::quiet_NaN(), std::numeric_limits<Real>::quiet_NaN()};
  const Real angle = std::atan2(x.imag(), x.real() + 1);
  if (!(std::abs(x) < 0.5)) return {log_modulus({x.real() + 1, x.imag()}), angle};
  const Real beyond_one = x.real() * (2 + x.real()) + x.imag() * x.imag();
  return {std::log1p(beyond_one) / 2, angle};
}
Complex operators::log1p_magnitude(Complex x) { return std::isfinite(std::abs(x)) ? 0 : unbounded; }
Real operators::sin(Real x) { return std::sin(x); }
Complex operators::sin(Complex x) { return std::sin(x); }
Real operators::cos(Real x) { return std::cos(x); }
Complex operators::cos(Complex x) { return std::cos(x); }
Real operators::tan(Real x) { return std::tan(x); }
Complex operators::tan(Complex x) { return std::tan(x); }
Real operators::log2(Real x) { return std::log2(x); }
Complex operators::log2(Complex x) { return in_base(log(x), std::numbers::ln2_v<Real>); }
Complex operators::log2_magnitude(Complex x) {
  const Complex y = log(x);
  return std::isinf(y.real()) || std::isinf(y.imag()) ? overflowing(0) : 0;
}
Real operators::log10(Real x) { return std::log10(x); }
Complex operators::log10(Complex x) { return in_base(log(x), std::numbers::ln10_v<Real>); }
Real operators::acos(Real x) { return std::acos(x); }
Complex operators::acos(Complex x) { return std::acos(x); }
Real operators::asin(Real x) { return std::asin(x); }
Complex operators::asin(Complex x) { return std::asin(x); }
Real operators::atan(Real x) { return std::atan(x); }
Complex operators::atan(Complex x) { return std::atan(x); }
Real operators::acosh(Real x) { return std::acosh(x); }
Complex operators::acosh(Complex x) { return std::acosh(x); }
Real operators::asinh(Real x) { return std::asinh(x); }
Complex operators::asinh(Complex x) { return std::asinh(x); }
Real operators::atanh(Real x) { return std::atanh(x); }
Complex operators::atanh(Complex x) { return std::atanh(x); }
Real operators::hyperbolic_magnitude(Real x) { return std::exp(std::fabs(x)); }
Real operators::cosh(Real x) { return std::cosh(x); }
Complex operators::cosh(Complex x) { return std::cosh(x); }
Real operators::sinh(Real x) { return std::sinh(x); }
Complex operators::sinh(Complex x) { return std::sinh(x); }
Real operators::tanh(Real x) { return std::tanh(x); }
Complex operators::tanh(Complex x) { return std::tanh(x); }
Real operators::erf(Real x) { return std::erf(x); }
Real operators::erf_magnitude(Real x) { return x != x ? x : 1; }
Real operators::erfc(Real x) { return std::erfc(x); }

Real operators::lgamma(Real x) { return std::lgamma(x); }
Real operators::lgamma_magnitude(Real x) {
  const Real size = std::fabs(lgamma(x));
  if (x >= 0 || is_negative_integer(x)) return size;
  const Real reflection = std::log(pi / std::fabs(std::sin(pi * beyond_integer(x))));
  return size + std::fabs(reflection) + std::fabs(lgamma(1 - x));
}

// From 10 on by Stirling's series (Abramowitz and Stegun 6.3.18), whose next term is below 2^-53 there.
Real operators::digamma(Real x) {
  if (x == 0) return -std::copysign(std::numeric_limits<Real>::infinity(), x);
  if (is_negative_integer(x)) return std::numeric_limits<Real>::quiet_NaN();
  if (x < 0) return digamma(1 - x) - pi / std::tan(pi * beyond_integer(x));
  Real sum = 0;
  for (; x < 10; ++x) sum -= 1 / x;
  const Real z = 1 / (x * x);
  Real series = 0;
  for (Real term :
       {Real{1} / 12, Real{-691} / 32760, Real{1} / 132, Real{-1} / 240, Real{1} / 252, Real{-1} / 120, Real{1} / 12})
    series = z * (term + series);
  return sum + std::log(x) - Real{0.5} / x - series;
}

// The result, and the intermediate roundings: each sum; each x + 1, where one unit changes digamma by less than 2; the
// cotangent, and its angle, which is a double in any arithmetic.
Real operators::digamma_magnitude(Real x, const Arithmetic& a) {
  const Real result = std::fabs(digamma(x));
  if (!std::isfinite(result)) return result;
  Real roundings = 0, sum = 0;
  if (x < 0) {
    const Real angle = pi * std::fabs(std::fmod(x, 1)), slope = pi / std::pow(std::sin(pi * beyond_integer(x)), 2);
    const Real doubles = std::numeric_limits<Real>::epsilon() / (2 * a.unit);
    roundings = 2 + result + std::fabs(pi / std::tan(angle)) + 2 * angle * slope * doubles;
    x = 1 - x;
  }
  for (; x < 10; ++x) sum += 1 / x, roundings += sum + 2;
  return result + roundings + 3 * (sum + std::log(x));
}

Real operators::sqrt(Real x) { return std::sqrt(x); }
Complex operators::sqrt(Complex x) { return std::sqrt(x); }
Real operators::reciprocal(Real x) { return 1 / x; }
Complex operators::reciprocal(Complex x) { return Complex(1) / x; }
Real operators::rsqrt(Real x) { return 1 / std::sqrt(x); }
Complex operators::rsqrt(Complex x) { return reciprocal(sqrt(x)); }
Real operators::sigmoid(Real x) { return 1 / (1 + std::exp(-x)); }
Complex operators::sigmoid(Complex x) { return reciprocal(Complex(1) + exp(-x)); }
Complex operators::sigmoid_magnitude(Complex x) { return std::exp(-x.real()); }

Int operators::isinf(Real x) { return std::isinf(x); }
Int operators::isinf(Int) { return false; }
Int operators::isinf(Complex x) { return std::isinf(x.real()) || std::isinf(x.imag()); }
Int operators::isnan(Real x) { return std::isnan(x); }
Int operators::isnan(Int) { return false; }
Int operators::isnan(Complex x) { return std::isnan(x.real()) || std::isnan(x.imag()); }

}  // namespace assay
