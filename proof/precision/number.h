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

#include "proof/precision/manner.h"

// The number type that replaces double in a second compilation of the reference. A number is computed with 113 bits and
// rounded to the precision of a manner, so that +, -, *, / and roots are correctly rounded in that precision.
namespace assay::precision {

extern Manner manner;  // the manner of all numbers
extern Met met;        // the choices met since this was last cleared

class Number {
 public:
  using Wide = __float128;

  constexpr Number() = default;
  template <class T>
  requires std::is_arithmetic_v<T>
  constexpr Number(T value) : value_(value) {}  // exact: constants are not rounded
  template <class T>
  requires std::is_arithmetic_v<T>
  constexpr explicit operator T() const { return static_cast<T>(wide()); }
  operator std::variant<bool, std::int64_t, double>() const { return static_cast<double>(*this); }  // a Scalar
  static constexpr Number exactly(Wide value) {
    Number x;
    x.value_ = value;
    return x;
  }
  static constexpr Number rounded(Wide value) {
    return exactly(std::is_constant_evaluated() ? value : to_precision(value));
  }
  // The result of a function of the C library whose exact result is this value.
  static Number approximated(Wide value);

  constexpr Wide wide() const { return is_product_ ? to_precision(value_) : value_; }

  // One of two products is fused with their sum.
  friend constexpr Number operator+(Number a, Number b) {
    return rounded(a.value_ + (a.is_product_ ? b.wide() : b.value_));
  }
  friend constexpr Number operator-(Number a, Number b) {
    return rounded(a.value_ - (a.is_product_ ? b.wide() : b.value_));
  }
  friend constexpr Number operator*(Number a, Number b) {
    const Wide product = a.wide() * b.wide();
    if (std::is_constant_evaluated()) return exactly(product);
    met.products = true;
    if (!manner.fused) return rounded(product);
    Number x = exactly(product);
    x.is_product_ = true;
    return x;
  }
  friend constexpr Number operator/(Number a, Number b) { return rounded(a.wide() / b.wide()); }
  friend constexpr Number operator-(Number a) {
    a.value_ = -a.value_;
    return a;
  }
  constexpr Number& operator+=(Number b) { return *this = *this + b; }
  constexpr Number& operator-=(Number b) { return *this = *this - b; }
  constexpr Number& operator*=(Number b) { return *this = *this * b; }
  constexpr Number& operator/=(Number b) { return *this = *this / b; }
  constexpr Number& operator++() { return *this += 1; }

  friend constexpr bool operator==(Number a, Number b) { return a.wide() == b.wide(); }
  friend constexpr bool operator!=(Number a, Number b) { return a.wide() != b.wide(); }
  friend constexpr bool operator<(Number a, Number b) { return a.wide() < b.wide(); }
  friend constexpr bool operator<=(Number a, Number b) { return a.wide() <= b.wide(); }
  friend constexpr bool operator>(Number a, Number b) { return a.wide() > b.wide(); }
  friend constexpr bool operator>=(Number a, Number b) { return a.wide() >= b.wide(); }
  friend std::ostream& operator<<(std::ostream& out, Number x) { return out << static_cast<double>(x); }

 private:
  static Wide to_precision(Wide value);

  Wide value_ = 0;
  bool is_product_ = false;  // whether it is a product that is not yet rounded
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
    met.sums = true;
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
      case Order::blocks:
        return in_blocks(16);
      case Order::four_lanes:
        return in_lanes(4);
      case Order::sixteen_lanes:
        return in_lanes(16);
      case Order::sixty_four_lanes:
        return in_lanes(64);
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
  T in_blocks(std::size_t size) const {
    std::vector<T> sums;
    for (auto first = addends_.begin(); first != addends_.end();) {
      const auto last = addends_.end() - first > static_cast<std::ptrdiff_t>(size) ? first + size : addends_.end();
      sums.push_back(one_after_another(first, last));
      first = last;
    }
    return one_after_another(sums.begin(), sums.end());
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

}  // namespace assay::precision

template <>
class std::numeric_limits<assay::precision::Number> {
  using Number = assay::precision::Number;

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
inline constexpr assay::precision::Number pi_v<assay::precision::Number> = assay::precision::Number::exactly(M_PIq);
template <>
inline constexpr assay::precision::Number ln2_v<assay::precision::Number> = assay::precision::Number::exactly(M_LN2q);
template <>
inline constexpr assay::precision::Number ln10_v<assay::precision::Number> = assay::precision::Number::exactly(M_LN10q);
template <>
inline constexpr assay::precision::Number sqrt2_v<assay::precision::Number> =
    assay::precision::Number::exactly(M_SQRT2q);
}  // namespace std::numbers

// The functions that the reference calls, as overloads for this type: f calls libquadmath's fq, or cfq. A function of
// the C library that is new in a formula needs a line here.
#define ASSAY_OF_ONE(way, f)                                      \
  inline assay::precision::Number f(assay::precision::Number x) { \
    return assay::precision::Number::way(f##q(x.wide()));         \
  }
#define ASSAY_OF_TWO(way, f)                                                                  \
  inline assay::precision::Number f(assay::precision::Number x, assay::precision::Number y) { \
    return assay::precision::Number::way(f##q(x.wide(), y.wide()));                           \
  }
#define ASSAY_OF_COMPLEX(f)                                                            \
  inline assay::precision::ComplexNumber f(const assay::precision::ComplexNumber& z) { \
    return assay::precision::approximated(c##f##q(assay::precision::wide(z)));         \
  }
namespace std {

inline bool isnan(assay::precision::Number x) { return isnanq(x.wide()) != 0; }
inline bool isinf(assay::precision::Number x) { return isinfq(x.wide()) != 0; }
inline bool isfinite(assay::precision::Number x) { return finiteq(x.wide()) != 0; }
inline bool signbit(assay::precision::Number x) { return signbitq(x.wide()) != 0; }
inline int ilogb(assay::precision::Number x) { return ilogbq(x.wide()); }

// Functions that are exact or rounded to nearest.
ASSAY_OF_ONE(exactly, fabs)
ASSAY_OF_ONE(exactly, floor)
ASSAY_OF_ONE(exactly, ceil)
ASSAY_OF_ONE(exactly, trunc)
ASSAY_OF_ONE(exactly, round)
ASSAY_OF_ONE(exactly, nearbyint)
ASSAY_OF_TWO(exactly, fmax)
ASSAY_OF_TWO(exactly, fmin)
ASSAY_OF_TWO(exactly, copysign)
ASSAY_OF_ONE(rounded, sqrt)
ASSAY_OF_TWO(rounded, fmod)
inline assay::precision::Number abs(assay::precision::Number x) { return fabs(x); }
inline assay::precision::Number fma(assay::precision::Number x, assay::precision::Number y,
                                    assay::precision::Number z) {
  return x * y + z;
}  // the manner decides whether kernels fuse
inline assay::precision::Number ldexp(assay::precision::Number x, int n) {
  return assay::precision::Number::rounded(ldexpq(x.wide(), n));
}
inline assay::precision::Number scalbln(assay::precision::Number x, long n) {
  return assay::precision::Number::rounded(scalblnq(x.wide(), n));
}
inline assay::precision::Number frexp(assay::precision::Number x, int* exponent) {
  return assay::precision::Number::exactly(frexpq(x.wide(), exponent));
}

// Functions that the C library approximates.
ASSAY_OF_ONE(approximated, exp)
ASSAY_OF_ONE(approximated, expm1)
ASSAY_OF_ONE(approximated, log)
ASSAY_OF_ONE(approximated, log2)
ASSAY_OF_ONE(approximated, log10)
ASSAY_OF_ONE(approximated, log1p)
ASSAY_OF_ONE(approximated, sin)
ASSAY_OF_ONE(approximated, cos)
ASSAY_OF_ONE(approximated, tan)
ASSAY_OF_ONE(approximated, asin)
ASSAY_OF_ONE(approximated, acos)
ASSAY_OF_ONE(approximated, atan)
ASSAY_OF_ONE(approximated, sinh)
ASSAY_OF_ONE(approximated, cosh)
ASSAY_OF_ONE(approximated, tanh)
ASSAY_OF_ONE(approximated, asinh)
ASSAY_OF_ONE(approximated, acosh)
ASSAY_OF_ONE(approximated, atanh)
ASSAY_OF_ONE(approximated, erf)
ASSAY_OF_ONE(approximated, erfc)
ASSAY_OF_ONE(approximated, lgamma)
ASSAY_OF_TWO(approximated, pow)
ASSAY_OF_TWO(approximated, atan2)
ASSAY_OF_TWO(approximated, hypot)

// Functions of complex numbers, part by part.
inline assay::precision::Number abs(const assay::precision::ComplexNumber& z) { return hypot(z.real(), z.imag()); }
ASSAY_OF_COMPLEX(exp)
ASSAY_OF_COMPLEX(sqrt)
ASSAY_OF_COMPLEX(sin)
ASSAY_OF_COMPLEX(cos)
ASSAY_OF_COMPLEX(tan)
ASSAY_OF_COMPLEX(asin)
ASSAY_OF_COMPLEX(acos)
ASSAY_OF_COMPLEX(atan)
ASSAY_OF_COMPLEX(sinh)
ASSAY_OF_COMPLEX(cosh)
ASSAY_OF_COMPLEX(tanh)
ASSAY_OF_COMPLEX(asinh)
ASSAY_OF_COMPLEX(acosh)
ASSAY_OF_COMPLEX(atanh)
template <>
inline assay::precision::ComplexNumber polar(const assay::precision::Number& size,
                                             const assay::precision::Number& angle) {
  return {size * cos(angle), size * sin(angle)};
}

}  // namespace std
#undef ASSAY_OF_ONE
#undef ASSAY_OF_TWO
#undef ASSAY_OF_COMPLEX
