#pragma once

#include <algorithm>
#include <cmath>

#include "reference/array.h"
#include "reference/dtype.h"

namespace assay {

// Absolute values, in which a non-finite number becomes one that bounds nothing: which infinities and NaN its products
// give depends on how the parts are combined.
template <class T>
Array<Complex> bounds(const Array<T>& x) {
  Array<Complex> y(x.sizes);
  std::ranges::transform(x.data, y.data.begin(),
                         [](const T& v) { return std::isfinite(std::abs(v)) ? std::abs(v) : non_finite_term; });
  return y;
}

// The error bound of a sum of `terms` terms, in unit roundoffs of its magnitude (λ of spec/numerics.md). Each term goes
// through at most `each` roundings. The bound is four standard deviations of independent roundings, or all roundings
// together if that is less.
inline Real roundoffs(Real terms, Real each = 1) { return std::min(4 * std::sqrt(terms), each * terms); }

// The share of a number that is rounded to the result's dtype on the way, in the magnitude of a sum of `terms` terms.
inline Real stored_number(Real number, Real terms, const Arithmetic& a) {
  return a.stored_unit * std::fabs(number) / roundoffs(terms);
}

// The magnitude of a sum that is computed in the result's dtype while other partial results are not.
inline Real stored_sum(Real magnitude, const Arithmetic& a) {
  const Real size = std::fabs(magnitude) * (1 + a.stored_unit);
  if (a.stored_unit == 0 || magnitude == 0 || magnitude == unbounded || std::isnan(magnitude)) return magnitude;
  return magnitude < 0 || magnitude >= a.stored_largest ? overflowing(size) : size;
}
inline void stored_sums(Array<Real>& magnitudes, const Arithmetic& a) {
  for (Real& magnitude : magnitudes.data) magnitude = stored_sum(magnitude, a);
}

}  // namespace assay
