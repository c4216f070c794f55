#pragma once

#include <complex>
#include <cstdint>

#include "dtype.gen.h"

// Elements of any dtype as numbers, one at a time. Paths whose speed does not matter use these functions.
namespace assay::optimized {

// A number has one of three types: double, std::int64_t or Complex.
using Complex = std::complex<double>;

template <class T = double>
using ReadNumber = T (*)(const void* element);
// Stores a number as PyTorch converts it: a float is rounded, first to float32 if the dtype is a half type; a float
// that becomes an integer is truncated; an integer wraps. A complex number loses its imaginary part if the dtype is
// real.
template <class T = double>
using WriteNumber = void (*)(T number, void* element);

// Return null if the dtype is opaque. As doubles and as integers, elements of complex dtypes cannot be read either; as
// integers, elements of floating dtypes cannot.
template <class T = double>
ReadNumber<T> find_reader(DType dtype);
template <class T = double>
WriteNumber<T> find_writer(DType dtype);

// The number that an element of the dtype has after the number was stored in it. Requires a dtype with a writer.
double stored_as(DType dtype, double number);
// The dtype in which PyTorch computes with a floating dtype: float32 for a half type.
constexpr DType computed_in(DType dtype) {
  return dtype == DType::float16 || dtype == DType::bfloat16 ? DType::float32 : dtype;
}
// The dtype of the real part of a complex dtype. Any other dtype is unchanged.
constexpr DType part_of(DType dtype) {
  return dtype == DType::complex32    ? DType::float16
         : dtype == DType::complex64  ? DType::float32
         : dtype == DType::complex128 ? DType::float64
                                      : dtype;
}
constexpr bool is_complex(DType dtype) { return part_of(dtype) != dtype; }
constexpr bool is_floating(DType dtype) {
  return dtype == DType::float32 || dtype == DType::float64 || computed_in(dtype) != dtype;
}

// Sets of dtypes. spec/dtypes.yaml defines sets of these names.
constexpr bool is_wide_unsigned(DType dtype) {
  return dtype == DType::uint16 || dtype == DType::uint32 || dtype == DType::uint64;
}
constexpr bool is_number(DType dtype) { return dtype <= DType::int64 || is_floating(dtype); }
constexpr bool is_real(DType dtype) { return is_number(dtype) || dtype == DType::boolean; }
constexpr bool is_readable(DType dtype) { return is_real(dtype) || is_wide_unsigned(dtype); }
constexpr bool is_number_or_complex(DType dtype) {
  return is_number(dtype) || dtype == DType::complex64 || dtype == DType::complex128;
}

}  // namespace assay::optimized
