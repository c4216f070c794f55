#pragma once

#include <cmath>
#include <complex>
#include <cstdint>
#include <type_traits>

#include "reference/real.h"

// The types in which the reference computes. Storage dtypes appear only in dtype.cpp and tensor.cpp.
namespace assay {

using Int = std::int64_t;    // holds every integer dtype and bool; wraps when it is stored
using Bits = std::uint64_t;  // the bit pattern of a number, or of one part of a complex number

// Holds an element of any dtype whose values are moved but never read: the element's bytes, then zeros.
struct Element {
  Bits low = 0, high = 0;
  friend bool operator==(const Element&, const Element&) = default;
};

// Holds an element of every complex dtype, each part as a Real. Products and quotients follow PyTorch; those of C++
// recover infinities from NaN.
struct Complex : std::complex<Real> {
  using std::complex<Real>::complex;
  constexpr Complex(const std::complex<Real>& z) : std::complex<Real>(z) {}
  template <class T>
  requires std::is_arithmetic_v<T>
  constexpr Complex(T real) : std::complex<Real>(static_cast<Real>(real)) {}

  friend constexpr Complex operator+(const Complex& a, const Complex& b) {
    return {a.real() + b.real(), a.imag() + b.imag()};
  }
  friend constexpr Complex operator-(const Complex& a, const Complex& b) {
    return {a.real() - b.real(), a.imag() - b.imag()};
  }
  friend constexpr Complex operator-(const Complex& a) { return {-a.real(), -a.imag()}; }
  friend constexpr Complex operator*(const Complex& a, const Complex& b) {
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
  }
  // Divides by the larger part of b (Smith 1962), as PyTorch does. Division by zero divides each part by zero.
  friend Complex operator/(const Complex& a, const Complex& b) {
    const Real real = std::fabs(b.real()), imaginary = std::fabs(b.imag());
    if (real == 0 && imaginary == 0) return {a.real() / real, a.imag() / imaginary};
    if (real >= imaginary) {
      const Real ratio = b.imag() / b.real(), scale = 1 / (b.real() + b.imag() * ratio);
      return {(a.real() + a.imag() * ratio) * scale, (a.imag() - a.real() * ratio) * scale};
    }
    const Real ratio = b.real() / b.imag(), scale = 1 / (b.imag() + b.real() * ratio);
    return {(a.real() * ratio + a.imag()) * scale, (a.imag() * ratio - a.real()) * scale};
  }
};

// Two's-complement arithmetic, as PyTorch defines it for every integer dtype.
constexpr Int wrapping_add(Int a, Int b) { return static_cast<Int>(static_cast<Bits>(a) + static_cast<Bits>(b)); }
constexpr Int wrapping_subtract(Int a, Int b) { return static_cast<Int>(static_cast<Bits>(a) - static_cast<Bits>(b)); }
constexpr Int wrapping_multiply(Int a, Int b) { return static_cast<Int>(static_cast<Bits>(a) * static_cast<Bits>(b)); }
constexpr Int wrapping_negate(Int a) { return static_cast<Int>(Bits{0} - static_cast<Bits>(a)); }

}  // namespace assay
