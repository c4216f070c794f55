#pragma once

#include "dtype.gen.h"

// Elements of any real dtype as doubles, one at a time. Paths whose speed does not matter use these functions.
namespace assay::optimized {

using ReadNumber = double (*)(const void* element);
// Stores a number as PyTorch converts it: a float is rounded, first to float32 if the dtype is a half type; an integer
// is truncated, and wraps.
using WriteNumber = void (*)(double number, void* element);

// Return null if the dtype is neither a boolean, nor an integer, nor a floating dtype.
ReadNumber find_reader(DType dtype);
WriteNumber find_writer(DType dtype);

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
constexpr bool is_floating(DType dtype) {
  return dtype == DType::float32 || dtype == DType::float64 || computed_in(dtype) != dtype;
}

}  // namespace assay::optimized
