#pragma once

#include <algorithm>
#include <cmath>

#include "reference/dtype.h"

namespace assay {

// A product whose factors are given one after another.
class Product {
 public:
  void multiply(Real x) {
    significand_ = scaled(significand_ * scaled(x));
    const Real size = std::fabs(x);
    infinite_ |= std::isinf(x), zero_ |= x == 0;
    if (std::isfinite(size)) largest_ *= std::max<Real>(size, 1);
    if (size > 0) least_ *= std::min<Real>(size, 1);
  }

  // The product of the significands and the sum of the exponents, combined, so that no partial product exceeds the
  // range of Real.
  Real value() const { return std::scalbln(significand_, exponent_); }

  // In any order, partial products lie between the product of all |x| < 1 and the product of all |x| > 1. A partial
  // product below the smallest normal number has an error of at most 2 u of that number, where u is the unit roundoff;
  // the remaining factors multiply this error. A partial product that is rounded to 0 gives NaN when it is multiplied
  // by an infinity, as does an infinity multiplied by 0.
  Real magnitude(const Arithmetic& a) const {
    const bool vanishes = least_ < a.least;
    if (std::isnan(value()) || (infinite_ && !vanishes)) return 0;
    const Real size = infinite_ || zero_ ? 0 : std::fabs(value()) + (vanishes ? 2 * a.least * largest_ : 0);
    return infinite_ || largest_ >= a.largest ? overflowing(size) : size;
  }

 private:
  Real scaled(Real x) {
    int exponent = 0;
    const Real significand = std::frexp(x, &exponent);
    exponent_ += std::isfinite(x) ? exponent : 0;
    return significand;
  }

  Real significand_ = 1, least_ = 1, largest_ = 1;
  long exponent_ = 0;
  bool infinite_ = false, zero_ = false;
};

}  // namespace assay
