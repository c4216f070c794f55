#pragma once

#include <limits>
#include <optional>
#include <string_view>

#include "dtype.gen.h"
#include "reference/number.h"

namespace assay {

// The facts about a dtype, and the conversions of its elements. The elements of a complex dtype are converted part by
// part.
struct DTypeInfo : DTypeFacts {
  Real (*real_of)(Bits);  // the value of a bit pattern; null for opaque dtypes
  Int (*int_of)(Bits);    // the value of a bit pattern; null if the dtype is neither an integer dtype nor bool
  // The bit pattern of a value. A floating dtype rounds the value to nearest, ties to even. An integer dtype or bool
  // casts the value as ATen casts a double. Null for opaque dtypes.
  Bits (*bits_of_real)(Real);
  // The bit pattern of an integer. An integer dtype wraps the integer, a floating dtype rounds it, and bool is true if
  // it is not 0. Only the low bytes of the pattern are stored: as many bytes as an element has. Null for opaque dtypes.
  Bits (*bits_of_int)(Int);

  bool is_opaque() const { return kind == Kind::opaque; }
  int parts() const { return kind == Kind::complex ? 2 : 1; }  // the number of real numbers in an element
};

const DTypeInfo& info(DType dtype);                       // requires an enumerator of DType
std::optional<DType> dtype_named(std::string_view name);  // takes torch's name or the alias, such as "u8" for uint8
std::optional<DType> dtype_numbered(Int number);          // takes the number in the file format

inline bool is_floating(DType dtype) { return info(dtype).kind == Kind::floating; }
inline bool is_complex(DType dtype) { return info(dtype).kind == Kind::complex; }
inline bool is_integer(DType dtype) { return info(dtype).kind == Kind::integer; }  // false for bool
inline bool is_half(DType dtype) { return dtype == DType::float16 || dtype == DType::bfloat16; }

// The complex dtype whose parts have the precision of the floating dtype, such as complex64 for float32.
DType complex_of(DType floating);

// PyTorch's compute dtype: float32 for the half types, complex64 for complex32, otherwise the type itself.
inline DType compute_dtype(DType dtype) {
  return is_half(dtype) ? DType::float32 : dtype == DType::complex32 ? DType::complex64 : dtype;
}

// Rounds x to the floating dtype, or to the dtype of the parts of a complex dtype. Ties round to even. A value that
// rounds beyond the largest finite number becomes an infinity.
Real round_to(DType dtype, Real x);
Complex round_to(DType dtype, const Complex& z);

// A function object that rounds as PyTorch does when it stores a result. A floating value is rounded to float32 before
// it is rounded to a half type, and an integer wraps. An operator gets such an object if its definition rounds the
// results of intermediate steps.
struct Rounding {
  DType dtype;
  Real operator()(Real x) const { return round_to(dtype, scalar(x)); }
  Complex operator()(const Complex& z) const { return {(*this)(z.real()), (*this)(z.imag())}; }
  Int operator()(Int x) const;
  // The value that a Python scalar has when it is combined with a tensor of the dtype. A real scalar is rounded to the
  // compute dtype, so that it is not rounded to a half type. A complex scalar is rounded to the dtype itself, even if
  // the dtype is complex32.
  Real scalar(Real x) const { return round_to(compute_dtype(dtype), x); }
  Complex scalar(const Complex& z) const { return (*this)(z); }
};

// Converts x to an integer dtype as ATen's cast does: x is truncated. NaN and values out of range give the results of
// ATen's cast.
Int truncated_to(DType dtype, Real x);

// x modulo 2^bits as a value of the integer dtype, where bits is the width of the dtype. For bool, the result is 0 if x
// is 0, else 1.
Int wrap_to(DType dtype, Int x);

// The unit in the last place at x: the distance between neighbouring numbers of a floating dtype, or of the dtype of
// the parts of a complex dtype. At and below the smallest normal number, the unit is the smallest subnormal number.
Real ulp(DType dtype, Real x);

// The largest and the smallest value of an integer dtype, rounded to Real.
Real largest_integer(DType dtype);
Real least_integer(DType dtype);

// The largest finite value of a floating dtype, or of the dtype of the parts of a complex dtype.
Real largest(DType dtype);

// The precision and range of the partial results and of the stored results of an implementation. Magnitude functions
// take an object of this type.
struct Arithmetic {
  Real unit;     // the unit roundoff of a partial result
  Real least;    // the smallest normal number of a partial result
  Real largest;  // the largest finite value of a partial result
  // The unit roundoff of the result's dtype, as a multiple of `unit`. It is 0 if the multiple is at most 1.
  Real stored_unit;
  Real stored_least;    // the smallest normal number of the result's dtype
  Real stored_largest;  // the largest finite value of the result's dtype
};
Arithmetic arithmetic(DType result, DType partial);  // requires floating or complex dtypes

// The magnitude of a result that may have any value.
inline constexpr Real unbounded = -std::numeric_limits<Real>::infinity();

// The value that represents a non-finite term in sums and products of absolute values. bounded() turns a magnitude that
// reaches this value into `unbounded`.
inline constexpr Real non_finite_term = std::numeric_limits<Real>::max();
constexpr Real bounded(Real magnitude) { return magnitude < non_finite_term ? magnitude : unbounded; }

// Marks a magnitude. The mark means that the result may be non-finite, because a partial result may overflow. The mark
// is a negative sign; the returned value is finite and not 0.
constexpr Real overflowing(Real magnitude) {
  using Limits = std::numeric_limits<Real>;
  return magnitude < Limits::max() ? -(magnitude > 0 ? magnitude : Limits::denorm_min()) : -Limits::max();
}

}  // namespace assay
