#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "optimized/kernels/instruction_set.h"

// The half types. Their elements are stored in 16 bits; kernels compute with floats.
namespace assay::kernels {

// A half-precision number of IEEE 754. Its fraction and exponent bits, in the position of a float's, give a float that
// is 2^112 times smaller. A signaling NaN becomes a quiet one in each conversion.
struct Float16 {
  std::uint16_t bits;

  operator float() const {
    const std::uint32_t low = std::uint32_t{bits} << 13 & 0x0fffe000;
    const std::uint32_t top = low > 0x0f800000 ? 0x7fc00000 : low == 0x0f800000 ? 0x7f800000 : 0;
    const float size = std::bit_cast<float>(low) * 0x1p112f;
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(size) | top | (std::uint32_t{bits} & 0x8000) << 16);
  }
  // Rounds to nearest, ties to even. A result that is subnormal is rounded by adding 1/2.
  static Float16 of(float x) {
    const std::uint32_t whole = std::bit_cast<std::uint32_t>(x), size = whole & 0x7fffffff;
    const std::uint32_t normal = (size - (112u << 23) + 0xfff + (size >> 13 & 1)) >> 13;
    const std::uint32_t small = std::bit_cast<std::uint32_t>(std::bit_cast<float>(size) + 0.5f) - 0x3f000000;
    const std::uint32_t finite = size < 0x38800000 ? small : normal, nan = 0x7e00 | (size >> 13 & 0x3ff);
    const std::uint32_t rounded = size > 0x7f800000 ? nan : size >= 0x47800000 ? 0x7c00 : finite;
    return {static_cast<std::uint16_t>(rounded | (whole >> 16 & 0x8000))};
  }
};

// The upper half of a float.
struct BFloat16 {
  std::uint16_t bits;

  operator float() const { return std::bit_cast<float>(std::uint32_t{bits} << 16); }
  // Rounds to nearest, ties to even.
  static BFloat16 of(float x) {
    const std::uint32_t whole = std::bit_cast<std::uint32_t>(x);
    const std::uint32_t rounded = x != x ? whole | 0x400000 : whole + 0x7fff + (whole >> 16 & 1);
    return {static_cast<std::uint16_t>(rounded >> 16)};
  }
};

// Functions that convert n elements with the vectors of an instruction set. The elements that are read have a distance
// of `stride` elements; those that are written are contiguous. Each result has the bits that the conversion above
// gives. A function that narrows may write to the memory that it reads.
using Widen = void (*)(const void* halves, std::ptrdiff_t stride, void* floats, std::size_t n);
using Narrow = void (*)(const void* floats, void* halves, std::size_t n);
template <class Half>
Widen find_widen(InstructionSet);
template <class Half>
Narrow find_narrow(InstructionSet);

}  // namespace assay::kernels
