#pragma once

#include <algorithm>
#include <cmath>

#include "reference/dtype.h"

namespace assay {

// A product of factors, given one after another.
class Product {
 public:
  void multiply(Real x) {
    significand_ = scaled(significand_ * scaled(x));
    const Real size = std::fabs(x);
    size_ *= size;
    if (std::isfinite(size)) largest_ *= std::max<Real>(size, 1);
    if (size > 0) least_ *= std::min<Real>(size, 1);
  }

  // The product of the significands, and the sum of the exponents: no partial product leaves the range.
  Real value() const { return std::scalbln(significand_, exponent_); }

  // Partial products, in whatever order, lie between the product of all |x| < 1 and that of all |x| > 1. What is lost
  // below the smallest normal number is at most 2 u of it, and is multiplied by the rest.
  Real magnitude(const Arithmetic& a) const {
    if (std::isnan(size_) && largest_ < a.largest) return 0;
    if (largest_ >= a.largest || (std::isinf(size_) && least_ < a.least)) return unbounded;
    return least_ < a.least ? size_ + 2 * a.least * largest_ : size_;
  }

 private:
  Real scaled(Real x) {
    int exponent = 0;
    const Real significand = std::frexp(x, &exponent);
    exponent_ += std::isfinite(x) ? exponent : 0;
    return significand;
  }

  Real significand_ = 1, size_ = 1, least_ = 1, largest_ = 1;
  long exponent_ = 0;
};

}  // namespace assay
