#pragma once

#include <cstdint>

// The three types in which the reference computes. Storage dtypes appear only in dtype.cpp and tensor.cpp.
namespace assay {

using Real = double;         // every floating dtype: exact on the way in, rounded once on the way out
using Int = std::int64_t;    // every integer dtype and bool: wraps on the way out
using Bits = std::uint64_t;  // any dtype whose values are moved but never read

// Two's-complement arithmetic, as PyTorch defines it for every integer dtype.
constexpr Int wrapping_add(Int a, Int b) { return static_cast<Int>(static_cast<Bits>(a) + static_cast<Bits>(b)); }
constexpr Int wrapping_subtract(Int a, Int b) { return static_cast<Int>(static_cast<Bits>(a) - static_cast<Bits>(b)); }
constexpr Int wrapping_multiply(Int a, Int b) { return static_cast<Int>(static_cast<Bits>(a) * static_cast<Bits>(b)); }
constexpr Int wrapping_negate(Int a) { return static_cast<Int>(Bits{0} - static_cast<Bits>(a)); }

}  // namespace assay
