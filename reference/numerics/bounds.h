#pragma once

#include <algorithm>
#include <cmath>

#include "reference/array.h"
#include "reference/dtype.h"

namespace assay {

// The absolute values of x. A non-finite number becomes `non_finite_term`, which gives no bound, because the order
// in which complex parts are combined decides which infinities and NaN its products give.
template <class T>
Array<Complex> bounds(const Array<T>& x) {
  Array<Complex> y(x.sizes);
  std::ranges::transform(x.data, y.data.begin(),
                         [](const T& v) { return std::isfinite(std::abs(v)) ? std::abs(v) : non_finite_term; });
  return y;
}

// The error bound of a sum of `terms` terms, in unit roundoffs of its magnitude (λ of spec/numerics.md). `each` is the
// largest number of roundings of one term. The bound is four standard deviations of independent roundings, or all
// roundings together if that is less.
inline Real roundoffs(Real terms, Real each = 1) { return std::min(4 * std::sqrt(terms), each * terms); }

// What a number that is rounded to the result's dtype on the way adds to the magnitude of a sum of `terms` terms.
inline Real stored_number(Real number, Real terms, const Arithmetic& a) {
  return a.stored_unit * std::fabs(number) / roundoffs(terms);
}

// The magnitude of a sum that is computed in the result's dtype, while other partial results have the dtype of partial
// results.
inline Real stored_sum(Real magnitude, const Arithmetic& a) {
  const Real size = std::fabs(magnitude) * (1 + a.stored_unit);
  if (a.stored_unit == 0 || magnitude == 0 || magnitude == unbounded || std::isnan(magnitude)) return magnitude;
  return magnitude < 0 || magnitude >= a.stored_largest ? overflowing(size) : size;
}
inline void stored_sums(Array<Real>& magnitudes, const Arithmetic& a) {
  for (Real& magnitude : magnitudes.data) magnitude = stored_sum(magnitude, a);
}

}  // namespace assay
