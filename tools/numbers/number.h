#pragma once

#include <quadmath.h>

#include <cmath>
#include <complex>
#include <concepts>
#include <cstdint>
#include <limits>
#include <numbers>
#include <ostream>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "tools/numbers/manner.h"

// What stands in place of double where the reference is compiled once more: a number that is computed in 113 bits and
// rounded to the precision of a manner, so that +, -, *, / and roots are those of that precision.
namespace assay::numbers {

extern Manner manner;  // in which all are computed

class Number {
 public:
  using Wide = __float128;

  constexpr Number() = default;
  template <class T>
  requires std::is_arithmetic_v<T>
  constexpr Number(T value) : value_(value) {}  // exact: constants are not rounded
  template <class T>
  requires std::is_arithmetic_v<T>
  constexpr explicit operator T() const { return static_cast<T>(value_); }
  operator std::variant<bool, std::int64_t, double>() const { return static_cast<double>(*this); }  // a Scalar
  static constexpr Number exactly(Wide value) {
    Number x;
    x.value_ = value;
    return x;
  }
  static constexpr Number rounded(Wide value) {
    return exactly(std::is_constant_evaluated() ? value : to_precision(value));
  }
  // What a function of the C library gives for this value.
  static Number approximated(Wide value);

  constexpr Wide wide() const { return value_; }

  friend constexpr Number operator+(Number a, Number b) { return rounded(a.value_ + b.value_); }
  friend constexpr Number operator-(Number a, Number b) { return rounded(a.value_ - b.value_); }
  friend constexpr Number operator*(Number a, Number b) { return rounded(a.value_ * b.value_); }
  friend constexpr Number operator/(Number a, Number b) { return rounded(a.value_ / b.value_); }
  friend constexpr Number operator-(Number a) { return exactly(-a.value_); }
  constexpr Number& operator+=(Number b) { return *this = *this + b; }
  constexpr Number& operator-=(Number b) { return *this = *this - b; }
  constexpr Number& operator*=(Number b) { return *this = *this * b; }
  constexpr Number& operator/=(Number b) { return *this = *this / b; }
  constexpr Number& operator++() { return *this += 1; }

  friend constexpr bool operator==(Number a, Number b) { return a.value_ == b.value_; }
  friend constexpr bool operator!=(Number a, Number b) { return a.value_ != b.value_; }
  friend constexpr bool operator<(Number a, Number b) { return a.value_ < b.value_; }
  friend constexpr bool operator<=(Number a, Number b) { return a.value_ <= b.value_; }
  friend constexpr bool operator>(Number a, Number b) { return a.value_ > b.value_; }
  friend constexpr bool operator>=(Number a, Number b) { return a.value_ >= b.value_; }
  friend std::ostream& operator<<(std::ostream& out, Number x) { return out << static_cast<double>(x); }

 private:
  static Wide to_precision(Wide value);

  Wide value_ = 0;
};

// A sum whose addends are added in the order of the manner.
template <class T>
class Sum {
 public:
  Sum() : Sum(T{}) {}
  template <std::convertible_to<T> N>
  Sum(const N& first) : rising_(first) {
    if (manner.order != Order::rising) addends_.push_back(rising_);
  }

  Sum& operator+=(const T& addend) {
    if (manner.order == Order::rising)
      rising_ = rising_ + addend;
    else
      addends_.push_back(addend);
    return *this;
  }

  operator T() const {
    switch (manner.order) {
      case Order::falling:
        return one_after_another(addends_.rbegin(), addends_.rend());
      case Order::halves:
        return in_halves(0, addends_.size());
      case Order::four_lanes:
        return in_lanes(4);
      case Order::sixteen_lanes:
        return in_lanes(16);
      default:
        return rising_;
    }
  }

 private:
  template <class Iterator>
  static T one_after_another(Iterator first, Iterator last) {
    T sum = *first;
    while (++first != last) sum = sum + *first;
    return sum;
  }
  T in_halves(std::size_t first, std::size_t size) const {
    if (size == 1) return addends_[first];
    return in_halves(first, size / 2) + in_halves(first + size / 2, size - size / 2);
  }
  T in_lanes(std::size_t lanes) const {
    std::vector<T> sums(addends_.begin(), addends_.begin() + std::min(addends_.size(), lanes));
    for (std::size_t k = lanes; k < addends_.size(); ++k) sums[k % lanes] = sums[k % lanes] + addends_[k];
    return one_after_another(sums.begin(), sums.end());
  }

  T rising_;
  std::vector<T> addends_;
};

using ComplexNumber = std::complex<Number>;

inline __complex128 wide(const ComplexNumber& z) {
  __complex128 w;
  __real__ w = z.real().wide(), __imag__ w = z.imag().wide();
  return w;
}
inline ComplexNumber approximated(__complex128 w) {
  return {Number::approximated(__real__ w), Number::approximated(__imag__ w)};
}

}  // namespace assay::numbers

template <>
class std::numeric_limits<assay::numbers::Number> {
  using Number = assay::numbers::Number;

 public:
  static constexpr bool is_specialized = true;
  static constexpr Number infinity() { return Number::exactly(__builtin_huge_valq()); }
  static constexpr Number quiet_NaN() { return Number::exactly(__builtin_nanq("")); }
  static constexpr Number max() { return Number::exactly(FLT128_MAX); }
  static constexpr Number denorm_min() { return Number::exactly(FLT128_DENORM_MIN); }
  static constexpr Number epsilon() { return Number::exactly(FLT128_EPSILON); }
};

namespace std::numbers {
template <>
inline constexpr assay::numbers::Number pi_v<assay::numbers::Number> = assay::numbers::Number::exactly(M_PIq);
template <>
inline constexpr assay::numbers::Number ln2_v<assay::numbers::Number> = assay::numbers::Number::exactly(M_LN2q);
template <>
inline constexpr assay::numbers::Number ln10_v<assay::numbers::Number> = assay::numbers::Number::exactly(M_LN10q);
template <>
inline constexpr assay::numbers::Number sqrt2_v<assay::numbers::Number> = assay::numbers::Number::exactly(M_SQRT2q);
}  // namespace std::numbers

// The functions that the reference calls, each as if the C library had it for this type.
namespace std {

inline bool isnan(assay::numbers::Number x) { return isnanq(x.wide()) != 0; }
inline bool isinf(assay::numbers::Number x) { return isinfq(x.wide()) != 0; }
inline bool isfinite(assay::numbers::Number x) { return finiteq(x.wide()) != 0; }
inline bool signbit(assay::numbers::Number x) { return signbitq(x.wide()) != 0; }
inline int ilogb(assay::numbers::Number x) { return ilogbq(x.wide()); }

// Exact, or rounded to nearest.
inline assay::numbers::Number fabs(assay::numbers::Number x) {
  return assay::numbers::Number::exactly(fabsq(x.wide()));
}
inline assay::numbers::Number floor(assay::numbers::Number x) {
  return assay::numbers::Number::exactly(floorq(x.wide()));
}
inline assay::numbers::Number ceil(assay::numbers::Number x) {
  return assay::numbers::Number::exactly(ceilq(x.wide()));
}
inline assay::numbers::Number trunc(assay::numbers::Number x) {
  return assay::numbers::Number::exactly(truncq(x.wide()));
}
inline assay::numbers::Number round(assay::numbers::Number x) {
  return assay::numbers::Number::exactly(roundq(x.wide()));
}
inline assay::numbers::Number nearbyint(assay::numbers::Number x) {
  return assay::numbers::Number::exactly(nearbyintq(x.wide()));
}
inline assay::numbers::Number abs(assay::numbers::Number x) { return fabs(x); }
inline assay::numbers::Number fmax(assay::numbers::Number x, assay::numbers::Number y) {
  return assay::numbers::Number::exactly(fmaxq(x.wide(), y.wide()));
}
inline assay::numbers::Number fmin(assay::numbers::Number x, assay::numbers::Number y) {
  return assay::numbers::Number::exactly(fminq(x.wide(), y.wide()));
}
inline assay::numbers::Number copysign(assay::numbers::Number x, assay::numbers::Number y) {
  return assay::numbers::Number::exactly(copysignq(x.wide(), y.wide()));
}
inline assay::numbers::Number sqrt(assay::numbers::Number x) {
  return assay::numbers::Number::rounded(sqrtq(x.wide()));
}
inline assay::numbers::Number fmod(assay::numbers::Number x, assay::numbers::Number y) {
  return assay::numbers::Number::rounded(fmodq(x.wide(), y.wide()));
}
inline assay::numbers::Number fma(assay::numbers::Number x, assay::numbers::Number y, assay::numbers::Number z) {
  return x * y + z;
}  // kernels may fuse or not: this errs more
inline assay::numbers::Number ldexp(assay::numbers::Number x, int n) {
  return assay::numbers::Number::rounded(ldexpq(x.wide(), n));
}
inline assay::numbers::Number scalbln(assay::numbers::Number x, long n) {
  return assay::numbers::Number::rounded(scalblnq(x.wide(), n));
}
inline assay::numbers::Number frexp(assay::numbers::Number x, int* exponent) {
  return assay::numbers::Number::exactly(frexpq(x.wide(), exponent));
}
// Approximated.
inline assay::numbers::Number exp(assay::numbers::Number x) {
  return assay::numbers::Number::approximated(expq(x.wide()));
}
inline assay::numbers::Number expm1(assay::numbers::Number x) {
  return assay::numbers::Number::approximated(expm1q(x.wide()));
}
inline assay::numbers::Number log(assay::numbers::Number x) {
  return assay::numbers::Number::approximated(logq(x.wide()));
}
inline assay::numbers::Number log2(assay::numbers::Number x) {
  return assay::numbers::Number::approximated(log2q(x.wide()));
}
inline assay::numbers::Number log10(assay::numbers::Number x) {
  return assay::numbers::Number::approximated(log10q(x.wide()));
}
inline assay::numbers::Number log1p(assay::numbers::Number x) {
  return assay::numbers::Number::approximated(log1pq(x.wide()));
}
inline assay::numbers::Number sin(assay::numbers::Number x) {
  return assay::numbers::Number::approximated(sinq(x.wide()));
}
inline assay::numbers::Number cos(assay::numbers::Number x) {
  return assay::numbers::Number::approximated(cosq(x.wide()));
}
inline assay::numbers::Number tan(assay::numbers::Number x) {
  return assay::numbers::Number::approximated(tanq(x.wide()));
}
inline assay::numbers::Number asin(assay::numbers::Number x) {
  return assay::numbers::Number::approximated(asinq(x.wide()));
}
inline assay::numbers::Number acos(assay::numbers::Number x) {
  return assay::numbers::Number::approximated(acosq(x.wide()));
}
inline assay::numbers::Number atan(assay::numbers::Number x) {
  return assay::numbers::Number::approximated(atanq(x.wide()));
}
inline assay::numbers::Number sinh(assay::numbers::Number x) {
  return assay::numbers::Number::approximated(sinhq(x.wide()));
}
inline assay::numbers::Number cosh(assay::numbers::Number x) {
  return assay::numbers::Number::approximated(coshq(x.wide()));
}
inline assay::numbers::Number tanh(assay::numbers::Number x) {
  return assay::numbers::Number::approximated(tanhq(x.wide()));
}
inline assay::numbers::Number asinh(assay::numbers::Number x) {
  return assay::numbers::Number::approximated(asinhq(x.wide()));
}
inline assay::numbers::Number acosh(assay::numbers::Number x) {
  return assay::numbers::Number::approximated(acoshq(x.wide()));
}
inline assay::numbers::Number atanh(assay::numbers::Number x) {
  return assay::numbers::Number::approximated(atanhq(x.wide()));
}
inline assay::numbers::Number erf(assay::numbers::Number x) {
  return assay::numbers::Number::approximated(erfq(x.wide()));
}
inline assay::numbers::Number erfc(assay::numbers::Number x) {
  return assay::numbers::Number::approximated(erfcq(x.wide()));
}
inline assay::numbers::Number lgamma(assay::numbers::Number x) {
  return assay::numbers::Number::approximated(lgammaq(x.wide()));
}
inline assay::numbers::Number pow(assay::numbers::Number x, assay::numbers::Number y) {
  return assay::numbers::Number::approximated(powq(x.wide(), y.wide()));
}
inline assay::numbers::Number atan2(assay::numbers::Number x, assay::numbers::Number y) {
  return assay::numbers::Number::approximated(atan2q(x.wide(), y.wide()));
}
inline assay::numbers::Number hypot(assay::numbers::Number x, assay::numbers::Number y) {
  return assay::numbers::Number::approximated(hypotq(x.wide(), y.wide()));
}
// Of complex numbers, part by part.
inline assay::numbers::Number abs(const assay::numbers::ComplexNumber& z) { return hypot(z.real(), z.imag()); }
inline assay::numbers::ComplexNumber exp(const assay::numbers::ComplexNumber& z) {
  return assay::numbers::approximated(cexpq(assay::numbers::wide(z)));
}
inline assay::numbers::ComplexNumber sqrt(const assay::numbers::ComplexNumber& z) {
  return assay::numbers::approximated(csqrtq(assay::numbers::wide(z)));
}
inline assay::numbers::ComplexNumber sin(const assay::numbers::ComplexNumber& z) {
  return assay::numbers::approximated(csinq(assay::numbers::wide(z)));
}
inline assay::numbers::ComplexNumber cos(const assay::numbers::ComplexNumber& z) {
  return assay::numbers::approximated(ccosq(assay::numbers::wide(z)));
}
inline assay::numbers::ComplexNumber tan(const assay::numbers::ComplexNumber& z) {
  return assay::numbers::approximated(ctanq(assay::numbers::wide(z)));
}
inline assay::numbers::ComplexNumber asin(const assay::numbers::ComplexNumber& z) {
  return assay::numbers::approximated(casinq(assay::numbers::wide(z)));
}
inline assay::numbers::ComplexNumber acos(const assay::numbers::ComplexNumber& z) {
  return assay::numbers::approximated(cacosq(assay::numbers::wide(z)));
}
inline assay::numbers::ComplexNumber atan(const assay::numbers::ComplexNumber& z) {
  return assay::numbers::approximated(catanq(assay::numbers::wide(z)));
}
inline assay::numbers::ComplexNumber sinh(const assay::numbers::ComplexNumber& z) {
  return assay::numbers::approximated(csinhq(assay::numbers::wide(z)));
}
inline assay::numbers::ComplexNumber cosh(const assay::numbers::ComplexNumber& z) {
  return assay::numbers::approximated(ccoshq(assay::numbers::wide(z)));
}
inline assay::numbers::ComplexNumber tanh(const assay::numbers::ComplexNumber& z) {
  return assay::numbers::approximated(ctanhq(assay::numbers::wide(z)));
}
inline assay::numbers::ComplexNumber asinh(const assay::numbers::ComplexNumber& z) {
  return assay::numbers::approximated(casinhq(assay::numbers::wide(z)));
}
inline assay::numbers::ComplexNumber acosh(const assay::numbers::ComplexNumber& z) {
  return assay::numbers::approximated(cacoshq(assay::numbers::wide(z)));
}
inline assay::numbers::ComplexNumber atanh(const assay::numbers::ComplexNumber& z) {
  return assay::numbers::approximated(catanhq(assay::numbers::wide(z)));
}
template <>
inline assay::numbers::ComplexNumber polar(const assay::numbers::Number& size, const assay::numbers::Number& angle) {
  return {size * cos(angle), size * sin(angle)};
}

}  // namespace std
