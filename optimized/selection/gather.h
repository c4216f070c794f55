#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

// Elements of a dtype read as those of another type.
namespace assay::optimized {

// IEEE's half. Its fraction and exponent are those of a float that is 2^112 times less.
struct Float16 {
  std::uint16_t bits;

  operator float() const {
    const std::uint32_t low = std::uint32_t{bits} << 13 & 0x0fffe000, top = low >= 0x0f800000 ? 0x7f800000 : 0;
    const float size = std::bit_cast<float>(low) * 0x1p112f;
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(size) | top | (std::uint32_t{bits} & 0x8000) << 16);
  }
  // To nearest, ties to even. Where the result is subnormal, a sum with 1/2 rounds.
  static Float16 of(float x) {
    const std::uint32_t whole = std::bit_cast<std::uint32_t>(x), size = whole & 0x7fffffff;
    const std::uint32_t normal = (size - (112u << 23) + 0xfff + (size >> 13 & 1)) >> 13;
    const std::uint32_t small = std::bit_cast<std::uint32_t>(std::bit_cast<float>(size) + 0.5f) - 0x3f000000;
    const std::uint32_t finite = size < 0x38800000 ? small : normal;
    const std::uint32_t rounded = size > 0x7f800000 ? 0x7e00 : size >= 0x47800000 ? 0x7c00 : finite;
    return {static_cast<std::uint16_t>(rounded | (whole >> 16 & 0x8000))};
  }
};

// The upper half of a float.
struct BFloat16 {
  std::uint16_t bits;

  operator float() const { return std::bit_cast<float>(std::uint32_t{bits} << 16); }
  static BFloat16 of(float x) {
    const std::uint32_t whole = std::bit_cast<std::uint32_t>(x);
    const std::uint32_t rounded = x != x ? whole | 0x400000 : whole + 0x7fff + (whole >> 16 & 1);
    return {static_cast<std::uint16_t>(rounded >> 16)};
  }
};

template <class D, class T>
T plain(D x) {
  return static_cast<T>(x);
}

// n elements, so many from one to the next, one after another.
template <class D, class T, T (*converted)(D) = plain<D, T>>
void gather_as(const void* from, std::ptrdiff_t stride, void* to, std::size_t n) {
  const D* x = static_cast<const D*>(from);
  T* y = static_cast<T*>(to);
  if (stride == 0) {
    std::fill_n(y, n, converted(*x));
  } else if (stride == 1) {
    for (std::size_t i = 0; i < n; ++i) y[i] = converted(x[i]);
  } else {
    for (std::size_t i = 0; i < n; ++i, x += stride) y[i] = converted(*x);
  }
}

}  // namespace assay::optimized
