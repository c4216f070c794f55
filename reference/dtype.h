#pragma once

#include <limits>
#include <optional>
#include <string_view>

#include "dtype.gen.h"
#include "reference/number.h"

namespace assay {

// A dtype with what its elements, or the parts of complex ones, can be read as.
struct DTypeInfo : DTypeFacts {
  Real (*real_of)(Bits);       // the value of a bit pattern; null where elements are opaque
  Int (*int_of)(Bits);         // likewise, for integer and bool; null for floating and complex
  Bits (*bits_of_real)(Real);  // floating: rounded to nearest even; integer and bool: as ATen casts a double
  Bits (*bits_of_int)(Int);    // wraps, or rounds; bytes beyond the element's are not stored

  bool is_opaque() const { return kind == Kind::opaque; }
  int parts() const { return kind == Kind::complex ? 2 : 1; }  // numbers in an element
};

const DTypeInfo& info(DType dtype);                       // dtype is one of the enumerators
std::optional<DType> dtype_named(std::string_view name);  // by torch's name or the alias
std::optional<DType> dtype_numbered(Int number);          // by the format's number

inline bool is_floating(DType dtype) { return info(dtype).kind == Kind::floating; }
inline bool is_complex(DType dtype) { return info(dtype).kind == Kind::complex; }
inline bool is_integer(DType dtype) { return info(dtype).kind == Kind::integer; }  // not bool
inline bool is_half(DType dtype) { return dtype == DType::float16 || dtype == DType::bfloat16; }

// The complex dtype whose parts hold what the floating one does.
DType complex_of(DType floating);

// The type in which PyTorch computes: float32 for the half types, complex64 for complex32, else the type itself.
inline DType compute_dtype(DType dtype) {
  return is_half(dtype) ? DType::float32 : dtype == DType::complex32 ? DType::complex64 : dtype;
}

// The value nearest to x in the floating dtype, or in that of the parts of a complex one (ties to even; beyond the
// largest: infinity).
Real round_to(DType dtype, Real x);
Complex round_to(DType dtype, const Complex& z);

// Rounds as PyTorch stores a result: a floating value to a half type through float32, an integer by wrapping. Given to
// operators whose definition rounds between its steps.
struct Rounding {
  DType dtype;
  Real operator()(Real x) const { return round_to(dtype, scalar(x)); }
  Complex operator()(const Complex& z) const { return {(*this)(z.real()), (*this)(z.imag())}; }
  Int operator()(Int x) const;
  // A Python scalar that meets a tensor of the dtype: complex32 rounds it, the half types do not.
  Real scalar(Real x) const { return round_to(compute_dtype(dtype), x); }
  Complex scalar(const Complex& z) const { return (*this)(z); }
};

// x as ATen casts it to an integer dtype: truncated; what does not fit, and NaN, becomes what the cast makes of it.
Int truncated_to(DType dtype, Real x);

// x modulo 2^bits, as the integer dtype sees it; bool: 0 or 1.
Int wrap_to(DType dtype, Int x);

// The distance between neighbours of a floating dtype, or of the parts of a complex one, around x; at and below the
// smallest normal, the subnormal step.
Real ulp(DType dtype, Real x);

// The largest and the least value of an integer dtype, rounded to Real.
Real largest_integer(DType dtype);
Real least_integer(DType dtype);

// The largest finite value of a floating dtype, or of the parts of a complex one.
Real largest(DType dtype);

// The arithmetic in which an implementation may hold partial results, as its magnitude function sees it.
struct Arithmetic {
  Real unit;   // unit roundoff of a partial result
  Real least;  // smallest normal number
  Real largest;
  Real stored_unit;   // unit roundoff of the result, in those of a partial one; 0 where it is no larger
  Real stored_least;  // smallest normal number of the result's dtype
  Real stored_largest;
};
Arithmetic arithmetic(DType result, DType partial);  // both floating or complex

// The magnitude of a result of which nothing can be said.
inline constexpr Real unbounded = -std::numeric_limits<Real>::infinity();

// In sums and products of absolute values, one that is not finite: it bounds nothing, and so does what comes of it.
inline constexpr Real endless = std::numeric_limits<Real>::max();
constexpr Real bounded(Real magnitude) { return magnitude < endless ? magnitude : unbounded; }

// That of a result that has this magnitude, or is not finite because a partial result may not be. Its sign says so: it
// is finite and not 0.
constexpr Real overflowing(Real magnitude) {
  using Limits = std::numeric_limits<Real>;
  return magnitude < Limits::max() ? -(magnitude > 0 ? magnitude : Limits::denorm_min()) : -Limits::max();
}

}  // namespace assay
