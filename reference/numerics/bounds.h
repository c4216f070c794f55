#pragma once

#include <algorithm>
#include <cmath>

#include "reference/array.h"
#include "reference/dtype.h"

namespace assay {

// Absolute values, of which a number that is not finite bounds nothing: which infinities and NaN come of its products
// depends on how those of the parts are put together.
template <class T>
Array<Complex> bounds(const Array<T>& x) {
  Array<Complex> y(x.sizes);
  std::ranges::transform(x.data, y.data.begin(),
                         [](const T& v) { return std::isfinite(std::abs(v)) ? std::abs(v) : endless; });
  return y;
}

// How many unit roundoffs of its magnitude a sum of so many terms may be off (λ of spec/numerics.md), each of which
// goes through at most `each` roundings a term: four standard deviations of independent ones, or all of them.
inline Real roundoffs(Real terms, Real each = 1) { return std::min(4 * std::sqrt(terms), each * terms); }

// A number that is rounded to the dtype of the result on the way, as a part of the magnitude of a sum of so many terms.
inline Real stored_number(Real number, Real terms, const Arithmetic& a) {
  return a.stored_unit * std::fabs(number) / roundoffs(terms);
}

// The magnitude of a sum that is made in the dtype of the result, where other partial results are not.
inline Real stored_sum(Real magnitude, const Arithmetic& a) {
  const Real size = std::fabs(magnitude) * (1 + a.stored_unit);
  if (a.stored_unit == 0 || magnitude == 0 || magnitude == unbounded || std::isnan(magnitude)) return magnitude;
  return magnitude < 0 || magnitude >= a.stored_largest ? overflowing(size) : size;
}
inline void stored_sums(Array<Real>& magnitudes, const Arithmetic& a) {
  for (Real& magnitude : magnitudes.data) magnitude = stored_sum(magnitude, a);
}

}  // namespace assay
