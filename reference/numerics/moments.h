#pragma once

#include <span>

#include "reference/dtype.h"

// Sums, means and variances of a row, and the magnitudes against which their rounding errors are measured.
namespace assay {

// The sum of x and the mean of x. Both are right even if partial sums exceed the range of Real. The mean of an empty x
// is NaN.
Real total(std::span<const Real> x);
Real mean_of(std::span<const Real> x);

// The sum of |x| over the finite elements. Infinities and NaN are left out, because they determine a sum alone, in any
// order.
Real finite_magnitude(std::span<const Real> x);

class Moments {
 public:
  explicit Moments(std::span<const Real> x);

  Real mean() const { return mean_; }  // 0 for an empty x
  // The sum of (x - mean)^2 / degrees. Divides by 0 if `degrees` is not positive. NaN for an empty x.
  Real variance(Real degrees) const;
  // 1 / sqrt(variance + eps), where the variance is divided by the number of elements.
  Real reciprocal_deviation(Real eps) const;

  Real mean_magnitude(const Arithmetic& a) const;
  Real variance_magnitude(Real degrees, const Arithmetic& a) const;
  Real reciprocal_deviation_magnitude(Real eps, const Arithmetic& a) const;

  // The largest value that the reciprocal deviation may have after rounding; infinity if there is no limit.
  Real largest_reciprocal_deviation(Real eps, const Arithmetic& a) const;

  // The mean of |x|. The rounding error of the mean is a multiple of this number.
  Real size() const { return size_; }

  Real count() const { return static_cast<Real>(x_.size()); }

 private:
  Real rounding(Real unit) const;
  bool is_finite() const { return size_ < std::numeric_limits<Real>::infinity(); }
  bool may_overflow(const Arithmetic& a) const;
  Real variance_error(Real eps, const Arithmetic& a) const;

  std::span<const Real> x_;
  Real mean_, size_ = 0, squares_ = 0;
};

}  // namespace assay
