#pragma once

#include <span>

#include "reference/dtype.h"

// Sums, means and variances of a row, and the magnitudes against which their rounding errors are measured.
namespace assay {

// The sum of x and the mean of x. Both are right even if partial sums leave the range of Real. The mean of an empty x
// is NaN.
Real total(std::span<const Real> x);
Real mean_of(std::span<const Real> x);

// The sum of |x| over the finite elements: infinities and NaN decide a sum in any order.
Real finite_magnitude(std::span<const Real> x);

class Moments {
 public:
  explicit Moments(std::span<const Real> x);

  Real mean() const { return mean_; }  // 0 for an empty x
  Real variance(Real degrees)
      const;  // sum of (x - mean)^2 / degrees; divides by 0 if degrees are not positive; NaN for an empty x
  Real reciprocal_deviation(Real eps) const;  // 1 / sqrt(variance + eps), over all x

  Real mean_magnitude(const Arithmetic& a) const;
  Real variance_magnitude(Real degrees, const Arithmetic& a) const;
  Real reciprocal_deviation_magnitude(Real eps, const Arithmetic& a) const;

  // The largest value that rounding may give the reciprocal deviation; infinite if it has no limit.
  Real largest_reciprocal_deviation(Real eps, const Arithmetic& a) const;

  // The mean of |x|; the rounding error of the mean is a multiple of it.
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
