#include "operators/arithmetic.gen.h"

#include <algorithm>
#include <cmath>

#include "operators/unary.gen.h"
#include "reference/array.h"
#include "reference/numerics/quotient.h"

namespace assay {
namespace {

// The remainder of a quotient. The processor's division would end the process for the least integer and -1.
Int rest(Int a, Int b) { return b == -1 ? 0 : a % b; }

bool crosses(Int remainder, Int divisor) { return remainder != 0 && (remainder < 0) != (divisor < 0); }
bool crosses(Real remainder, Real divisor) { return remainder != 0 && (remainder < 0) != (divisor < 0); }

// PyTorch adds the product with -alpha; the opposite of an integer 0 is 0, without a sign.
template <class T>
T opposite(Scalar alpha, const Rounding& round) {
  return round(number<T>(negated(alpha), round.dtype));
}

// Except in float16, PyTorch takes square roots here, which differ from IEEE's pow for -0 and -infinity.
Real power(Real self, Real exponent, DType dtype) {
  if (exponent == 0.5 && dtype != DType::float16) return std::sqrt(self);
  if (exponent == -0.5 && dtype != DType::float16) return 1 / std::sqrt(self);
  return std::pow(self, exponent);
}

}  // namespace

Real operators::add(Real self, Real other, Real alpha) { return std::fma(alpha, other, self); }
Complex operators::add(Complex self, Complex other, Complex alpha) { return self + alpha * other; }
Int operators::add(Int self, Int other, Int alpha) { return wrapping_add(self, wrapping_multiply(alpha, other)); }
Real operators::sub(Real self, Real other, Scalar alpha, const Rounding& round) {
  return add(self, other, opposite<Real>(alpha, round));
}
Int operators::sub(Int self, Int other, Scalar alpha, const Rounding& round) {
  return add(self, other, opposite<Int>(alpha, round));
}
Complex operators::sub(Complex self, Complex other, Scalar alpha, const Rounding& round) {
  return add(self, other, opposite<Complex>(alpha, round));
}
Real operators::rsub(Real self, Real other, Scalar alpha, const Rounding& round) {
  return sub(other, self, alpha, round);
}
Int operators::rsub(Int self, Int other, Scalar alpha, const Rounding& round) { return sub(other, self, alpha, round); }
Complex operators::rsub(Complex self, Complex other, Scalar alpha, const Rounding& round) {
  return sub(other, self, alpha, round);
}

// The result is rounded and, unless alpha is 1 or -1, the product, too. The product may overflow before it is added.
Real operators::add_magnitude(Real self, Real other, Real alpha, const Arithmetic& a) {
  const Real product = std::fabs(alpha) == 1 ? 0 : std::fabs(alpha * other);
  const Real size = std::fabs(add(self, other, alpha)) + product;
  return std::isfinite(product) && product >= a.largest ? overflowing(size) : size;
}
Real operators::sub_magnitude(Real self, Real other, Scalar alpha, const Rounding& round, const Arithmetic& a) {
  return add_magnitude(self, other, opposite<Real>(alpha, round), a);
}
Complex operators::sub_magnitude(Complex self, Complex other, Scalar alpha, const Rounding& round) {
  return std::abs(self) + std::abs(opposite<Complex>(alpha, round)) * std::abs(other);
}
Complex operators::rsub_magnitude(Complex self, Complex other, Scalar alpha, const Rounding& round) {
  return sub_magnitude(other, self, alpha, round);
}
Real operators::rsub_magnitude(Real self, Real other, Scalar alpha, const Rounding& round, const Arithmetic& a) {
  return sub_magnitude(other, self, alpha, round, a);
}

Real operators::mul(Real self, Real other) { return self * other; }
Complex operators::mul(Complex self, Complex other) { return self * other; }
Int operators::mul(Int self, Int other) { return wrapping_multiply(self, other); }

Real operators::div(Real self, Real other) { return self / other; }
Complex operators::div(Complex self, Complex other) { return self / other; }
Real operators::div(Real self, Real other, std::optional<std::string_view> rounding_mode, const Rounding& round) {
  if (rounding_mode == "floor") return floor_divide(self, other);
  return rounding_mode ? std::trunc(round(self / other)) : self / other;
}
Int operators::div(Int self, Int other, std::optional<std::string_view> rounding_mode, const Rounding&) {
  return rounding_mode == "floor" ? floor_divide(self, other) : quotient(self, other);
}

Complex operators::div(Complex self, Complex other, std::optional<std::string_view>, const Rounding&) {
  return self / other;
}

// Of the three roundings of floor the quotient alone has one, and in half types slightly more than one.
Real operators::div_magnitude(Real self, Real other, std::optional<std::string_view> rounding_mode, const Rounding&) {
  return quotient_magnitude(self, other) * (rounding_mode == "floor" ? 1 : 0.26);
}
// The sums in the numerator and in the denominator may overflow: then the quotient may also be 0.
Complex operators::div_magnitude(Complex self, Complex other, const Arithmetic& a) {
  const auto sum = [](Complex x) { return std::fabs(x.real()) + std::fabs(x.imag()); };
  const Real size = std::abs(self) / std::abs(other), largest = std::fmax(sum(self), sum(other));
  return std::isfinite(largest) && largest >= a.largest ? unbounded : size;
}
Complex operators::div_magnitude(Complex self, Complex other, std::optional<std::string_view>, const Rounding&,
                                 const Arithmetic& a) {
  return div_magnitude(self, other, a);
}
// A division by 0 has no rounding.
Real operators::quotient_magnitude(Real self, Real other) { return other == 0 ? 0 : std::fabs(self / other); }

// The exact quotient of self minus its remainder is an integer. A division by 0 or of infinities gives the quotient
// itself. A zero has the sign of the quotient.
Real operators::floor_divide(Real self, Real other) {
  if (other == 0) return self / other;
  const Real left = std::fmod(self, other);
  Real whole = (self - left) / other;
  if (crosses(left, other)) whole -= 1;
  return whole == 0 ? std::copysign(Real{0}, self / other) : std::round(whole);
}
Int operators::floor_divide(Int self, Int other) {
  return wrapping_subtract(quotient(self, other), crosses(rest(self, other), other));
}

Real operators::fmod(Real self, Real other) { return std::fmod(self, other); }
Int operators::fmod(Int self, Int other) { return rest(self, other); }
Real operators::remainder(Real self, Real other) {
  const Real left = std::fmod(self, other);
  return crosses(left, other) ? left + other : left;
}
Int operators::remainder(Int self, Int other) {
  const Int left = rest(self, other);
  return crosses(left, other) ? wrapping_add(left, other) : left;
}

Real operators::pow(Real self, Real exponent) { return std::pow(self, exponent); }
// The product recovers infinities from NaN, as C's product does; C's pow differs with fused multiplication.
Complex operators::pow(Complex self, Complex exponent) {
  const std::complex<Real> logarithm = operators::log(self), times = exponent;
  return operators::exp(times * logarithm);
}
// e^(exponent ln self): a relative error of the product changes the power by that error times the product.
Complex operators::pow_magnitude(Complex self, Complex exponent, const Arithmetic& a) {
  const Real power = std::abs(pow(self, exponent)), product = std::abs(exponent * operators::log(self));
  return product < a.largest ? power * (1 + product) : unbounded;
}

// Multiplies the repeated squares of self for which the exponent has a bit.
Int operators::pow(Int self, Int exponent) {
  if (exponent < 0) return self == 1 ? 1 : self == -1 ? (exponent % 2 == 0 ? 1 : -1) : 0;
  Int power = 1;
  for (; exponent > 0; exponent /= 2) {
    if (exponent % 2 == 1) power = wrapping_multiply(power, self);
    self = wrapping_multiply(self, self);
  }
  return power;
}

Real operators::pow_scalar(Real self, Scalar exponent, const Rounding& round) {
  return power(self, is_half(round.dtype) ? round(real(exponent)) : real(exponent), round.dtype);
}
Int operators::pow_scalar(Int self, Scalar exponent, const Rounding& round) {
  return pow(self, number<Int>(exponent, round.dtype));
}
// PyTorch fills with 1 for exponent 0, copies for 1, multiplies for 2, 3 and -2, and takes square roots for 0.5 and
// -0.5.
Complex operators::pow_scalar(Complex self, Scalar exponent, const Rounding& round) {
  const Real n = real(exponent);
  if (n == 0 || n == 1) return n == 0 ? Complex(1) : self;
  if (n == 2 || n == -2) return n == 2 ? self * self : Complex(1) / (self * self);
  if (n == 3) return self * self * self;
  if (n == 0.5 || n == -0.5) return n == 0.5 ? std::sqrt(self) : Complex(1) / Complex(std::sqrt(self));
  return pow(self, number<Complex>(exponent, round.dtype));
}
// The square in 1 / self^2 may overflow.
Complex operators::pow_scalar_magnitude(Complex self, Scalar exponent, const Rounding& round, const Arithmetic& a) {
  const Complex size = pow_magnitude(self, number<Complex>(exponent, round.dtype), a);
  return real(exponent) == -2 && std::norm(self) >= a.largest ? overflowing(size.real()) : size;
}

// The power, and its change by the rounding of the exponent, in double unit roundoffs. The square in 1 / self^2 may be
// subnormal, with the error of the least normal number; this square and the one in self^3 are rounded to bfloat16.
Real operators::pow_scalar_magnitude(Real self, Scalar exponent, const Rounding& round, const Arithmetic& arithmetic) {
  const Real kept = pow_scalar(self, exponent, round), rounded = power(self, round(real(exponent)), round.dtype);
  if (std::isnan(kept)) return std::isnan(rounded) ? 0 : unbounded;
  const Real change = kept == rounded || std::isnan(rounded) ? 0 : std::fabs(kept - rounded) / (2 * arithmetic.unit);
  if (!std::isfinite(change)) return unbounded;
  const Real square = real(exponent) == -2 ? 1 + arithmetic.least / (self * self) : 1;
  const Real roundings = is_half(round.dtype) && (real(exponent) == 3 || real(exponent) == -2) ? 2 : 1;
  const Real size = std::fmin(std::fabs(kept), arithmetic.largest) * square * roundings + change;
  return std::isnan(rounded) ? overflowing(size) : size;
}

Real operators::maximum(Real self, Real other) {
  return self != self ? self : other != other ? other : std::max(self, other);
}
Int operators::maximum(Int self, Int other) { return std::max(self, other); }
Real operators::minimum(Real self, Real other) {
  return self != self ? self : other != other ? other : std::min(self, other);
}
Int operators::minimum(Int self, Int other) { return std::min(self, other); }

Real operators::copysign(Real self, Real other) { return std::copysign(self, other); }

Real operators::atan2(Real self, Real other) { return std::atan2(self, other); }
Real operators::hypot(Real self, Real other) { return std::hypot(self, other); }

}  // namespace assay
