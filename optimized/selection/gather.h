#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "dtype.gen.h"
#include "optimized/kernels/halves.h"

// Reads elements of a dtype as elements of another type.
namespace assay::optimized {

using kernels::BFloat16, kernels::Float16;

template <class D, class T>
T plain(D x) {
  return static_cast<T>(x);
}

// Calls f.operator()<D>(), where D is the type of the dtype's elements; for bool it is std::uint8_t. Returns a
// default-constructed result if kernels cannot compute with the dtype and only move its elements.
template <class F>
auto with_type_of(DType dtype, F f) -> decltype(f.template operator()<float>()) {
  switch (dtype) {
    case DType::float64:
      return f.template operator()<double>();
    case DType::float32:
      return f.template operator()<float>();
    case DType::float16:
      return f.template operator()<Float16>();
    case DType::bfloat16:
      return f.template operator()<BFloat16>();
    case DType::int64:
      return f.template operator()<std::int64_t>();
    case DType::int32:
      return f.template operator()<std::int32_t>();
    case DType::int16:
      return f.template operator()<std::int16_t>();
    case DType::int8:
      return f.template operator()<std::int8_t>();
    case DType::uint64:
      return f.template operator()<std::uint64_t>();
    case DType::uint32:
      return f.template operator()<std::uint32_t>();
    case DType::uint16:
      return f.template operator()<std::uint16_t>();
    case DType::uint8:
    case DType::boolean:
      return f.template operator()<std::uint8_t>();
    default:
      return {};
  }
}
template <class D>
constexpr bool is_half = std::is_same_v<D, Float16> || std::is_same_v<D, BFloat16>;
// Whether elements of the type are only converted to another dtype; no kernel computes with them.
template <class D>
constexpr bool is_only_cast = std::is_same_v<D, double> || std::is_same_v<D, std::uint64_t> ||
                              std::is_same_v<D, std::uint32_t> || std::is_same_v<D, std::uint16_t>;

// Reads n elements at a distance of `stride` elements and writes them contiguously.
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
