#include "operators/softmax.gen.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "reference/numerics/bounds.h"

namespace assay {
namespace {

constexpr Real ulp_of_exp = 2, ulp_of_log = 2;  // errors in unit roundoffs

// A row scaled by exp(-max x), so that no term overflows.
struct Exponentials {
  explicit Exponentials(std::span<const Real> x) {
    for (Real v : x) top = std::fmax(top, v);
    Sum<Real> exponentials = 0;
    for (Real v : x) exponentials += std::exp(v - top);
    sum = exponentials;
  }
  Real softmax(Real x) const { return std::exp(x - top) / sum; }
  Real log_softmax(Real x) const { return x - top - std::log(sum); }

  // exp multiplies the relative rounding error of x - top by |x - top|; weighed by the result, 0 where the result is 0.
  Real argument_error(Real x) const { return softmax(x) > 0 ? softmax(x) * (top - x) : 0; }
  // The relative error of the sum: each term counts by its softmax, and exp is within one ulp.
  Real sum_error(std::span<const Real> x) const {
    Real error = ulp_of_exp;
    for (Real v : x) error += argument_error(v);
    return error;
  }

  Real top = -std::numeric_limits<Real>::infinity(), sum = 0;
};

}  // namespace

void operators::softmax(std::span<const Real> x, std::span<Real> y) {
  const Exponentials e(x);
  std::ranges::transform(x, y.begin(), [&](Real v) { return e.softmax(v); });
}

void operators::softmax_magnitude(std::span<const Real> x, std::span<Real> y, const Arithmetic& a) {
  const Exponentials e(x);
  const Real error = e.sum_error(x), terms = static_cast<Real>(x.size());
  std::ranges::transform(x, y.begin(), [&](Real v) {
    const Real once = e.argument_error(v) + e.softmax(v) * (ulp_of_exp + error + 1);
    return e.softmax(v) + once / roundoffs(terms) +
           stored_number(std::fmax(e.softmax(v), a.stored_least / e.sum), terms, a);
  });
}

void operators::log_softmax(std::span<const Real> x, std::span<Real> y) {
  const Exponentials e(x);
  std::ranges::transform(x, y.begin(), [&](Real v) { return e.log_softmax(v); });
}

void operators::log_softmax_magnitude(std::span<const Real> x, std::span<Real> y) {
  const Exponentials e(x);
  const Real error = e.sum_error(x) + ulp_of_log * std::log(e.sum), terms = static_cast<Real>(x.size());
  std::ranges::transform(
      x, y.begin(), [&](Real v) { return 1 + (std::fabs(e.log_softmax(v)) + e.top - v + error) / roundoffs(terms); });
}

}  // namespace assay
