#pragma once

#include <cmath>
#include <complex>
#include <cstdint>
#include <type_traits>

#include "reference/real.h"

// The types in which the reference computes. Only dtype.cpp and tensor.cpp know how elements are stored.
namespace assay {

// Holds each value of every integer dtype and of bool. A uint64 value of 2^63 or more is held as the negative number
// with the same bits. A value that an integer dtype cannot hold wraps when it is stored.
using Int = std::int64_t;
// The bit pattern of a number, or of one part of a complex number.
using Bits = std::uint64_t;

// An element of any dtype, for code that moves elements without reading their values. It holds the element's bytes,
// followed by zeros.
struct Element {
  Bits low = 0, high = 0;
  friend bool operator==(const Element&, const Element&) = default;
};

// A complex number. It can hold each element of every complex dtype. Products and quotients are computed as in PyTorch,
// because those of std::complex turn some NaN into infinities.
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
  // Scales by the larger part of b (Smith's algorithm of 1962), as PyTorch does. If b is zero, each part of a is
  // divided by zero.
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
