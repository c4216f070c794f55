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
extern Met met;        // since this was last cleared

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
  // What a function of the C library gives for this value.
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
  bool is_product_ = false;  // not yet rounded
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

// The functions that the reference calls, each as if the C library had it for this type: f as libquadmath's fq, or cfq.
#define ASSAY_OF_ONE(way, f) \
  inline assay::numbers::Number f(assay::numbers::Number x) { return assay::numbers::Number::way(f##q(x.wide())); }
#define ASSAY_OF_TWO(way, f)                                                            \
  inline assay::numbers::Number f(assay::numbers::Number x, assay::numbers::Number y) { \
    return assay::numbers::Number::way(f##q(x.wide(), y.wide()));                       \
  }
#define ASSAY_OF_COMPLEX(f)                                                        \
  inline assay::numbers::ComplexNumber f(const assay::numbers::ComplexNumber& z) { \
    return assay::numbers::approximated(c##f##q(assay::numbers::wide(z)));         \
  }
namespace std {

inline bool isnan(assay::numbers::Number x) { return isnanq(x.wide()) != 0; }
inline bool isinf(assay::numbers::Number x) { return isinfq(x.wide()) != 0; }
inline bool isfinite(assay::numbers::Number x) { return finiteq(x.wide()) != 0; }
inline bool signbit(assay::numbers::Number x) { return signbitq(x.wide()) != 0; }
inline int ilogb(assay::numbers::Number x) { return ilogbq(x.wide()); }

// Exact, or rounded to nearest.
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
inline assay::numbers::Number abs(assay::numbers::Number x) { return fabs(x); }
inline assay::numbers::Number fma(assay::numbers::Number x, assay::numbers::Number y, assay::numbers::Number z) {
  return x * y + z;
}  // kernels may fuse or not, as the manner has it
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

// Of complex numbers, part by part.
inline assay::numbers::Number abs(const assay::numbers::ComplexNumber& z) { return hypot(z.real(), z.imag()); }
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
inline assay::numbers::ComplexNumber polar(const assay::numbers::Number& size, const assay::numbers::Number& angle) {
  return {size * cos(angle), size * sin(angle)};
}

}  // namespace std
#undef ASSAY_OF_ONE
#undef ASSAY_OF_TWO
#undef ASSAY_OF_COMPLEX
