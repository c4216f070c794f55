#pragma once

#include <limits>
#include <optional>
#include <string_view>

#include "dtype.gen.h"
#include "reference/number.h"

namespace assay {

// A dtype and the conversions of its elements, or of the parts of its complex elements.
struct DTypeInfo : DTypeFacts {
  Real (*real_of)(Bits);       // the value of a bit pattern; null for opaque elements
  Int (*int_of)(Bits);         // the same for integer and bool; null for floating and complex
  Bits (*bits_of_real)(Real);  // floating: rounded to nearest even; integer and bool: as ATen casts a double
  Bits (*bits_of_int)(Int);    // wraps or rounds; only the low bytes, as many as an element has, are stored

  bool is_opaque() const { return kind == Kind::opaque; }
  int parts() const { return kind == Kind::complex ? 2 : 1; }  // the count of numbers in an element
};

const DTypeInfo& info(DType dtype);                       // dtype must be one of the enumerators
std::optional<DType> dtype_named(std::string_view name);  // takes torch's name or the alias
std::optional<DType> dtype_numbered(Int number);          // takes the number in the file format

inline bool is_floating(DType dtype) { return info(dtype).kind == Kind::floating; }
inline bool is_complex(DType dtype) { return info(dtype).kind == Kind::complex; }
inline bool is_integer(DType dtype) { return info(dtype).kind == Kind::integer; }  // false for bool
inline bool is_half(DType dtype) { return dtype == DType::float16 || dtype == DType::bfloat16; }

// The complex dtype whose parts have the precision of the floating dtype.
DType complex_of(DType floating);

// PyTorch's compute dtype: float32 for the half types, complex64 for complex32, otherwise the type itself.
inline DType compute_dtype(DType dtype) {
  return is_half(dtype) ? DType::float32 : dtype == DType::complex32 ? DType::complex64 : dtype;
}

// The value nearest to x in the floating dtype, or in the part type of a complex dtype. Ties round to even; a value
// beyond the largest becomes infinity.
Real round_to(DType dtype, Real x);
Complex round_to(DType dtype, const Complex& z);

// Rounds as PyTorch stores a result: a floating value reaches a half type through float32; an integer wraps. Passed to
// operators whose definition rounds between its steps.
struct Rounding {
  DType dtype;
  Real operator()(Real x) const { return round_to(dtype, scalar(x)); }
  Complex operator()(const Complex& z) const { return {(*this)(z.real()), (*this)(z.imag())}; }
  Int operator()(Int x) const;
  // The value of a Python scalar that is combined with a tensor of the dtype: complex32 rounds it, the half types do
  // not.
  Real scalar(Real x) const { return round_to(compute_dtype(dtype), x); }
  Complex scalar(const Complex& z) const { return (*this)(z); }
};

// x as ATen casts it to an integer dtype: truncated. NaN and values out of range become what ATen's cast makes of them.
Int truncated_to(DType dtype, Real x);

// x modulo 2^bits, as a value of the integer dtype; for bool, 0 or 1.
Int wrap_to(DType dtype, Int x);

// The distance between neighbours of a floating dtype, or of the part type of a complex dtype, around x. At and below
// the smallest normal number it is the subnormal step.
Real ulp(DType dtype, Real x);

// The largest and the smallest value of an integer dtype, rounded to Real.
Real largest_integer(DType dtype);
Real least_integer(DType dtype);

// The largest finite value of a floating dtype, or of the part type of a complex dtype.
Real largest(DType dtype);

// The arithmetic in which an implementation may hold partial results. A magnitude function takes it.
struct Arithmetic {
  Real unit;   // unit roundoff of a partial result
  Real least;  // smallest normal number
  Real largest;
  Real stored_unit;   // unit roundoff of the result, in unit roundoffs of a partial result; 0 if it is no larger
  Real stored_least;  // smallest normal number of the result's dtype
  Real stored_largest;
};
Arithmetic arithmetic(DType result, DType partial);  // both dtypes are floating or complex

// The magnitude of a result that may have any value.
inline constexpr Real unbounded = -std::numeric_limits<Real>::infinity();

// Stands for a non-finite term in sums and products of absolute values. A magnitude that reaches it gives no bound.
inline constexpr Real non_finite_term = std::numeric_limits<Real>::max();
constexpr Real bounded(Real magnitude) { return magnitude < non_finite_term ? magnitude : unbounded; }

// The magnitude of a result that either has this magnitude or is non-finite because a partial result may overflow. The
// result is negative, which marks that case; it is finite and not 0.
constexpr Real overflowing(Real magnitude) {
  using Limits = std::numeric_limits<Real>;
  return magnitude < Limits::max() ? -(magnitude > 0 ? magnitude : Limits::denorm_min()) : -Limits::max();
}

}  // namespace assay
