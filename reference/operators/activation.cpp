#include "operators/activation.gen.h"

#include <cmath>
#include <numbers>

namespace assay {
namespace {

template <class T>
bool is_nan(T x) { return x != x; }

template <class T>
T clamped(T x, std::optional<T> min, std::optional<T> max) {
  if (is_nan(x)) return x;
  if (min && (x < *min || is_nan(*min))) x = *min;
  if (max && (x > *max || is_nan(*max))) x = *max;
  return x;
}

}  // namespace

Real operators::relu(Real x) { return x < 0 ? 0 : x; }
Int operators::relu(Int x) { return x < 0 ? 0 : x; }

Real operators::leaky_relu(Real x, Real negative_slope) { return x > 0 ? x : negative_slope * x; }

// (1 + erf(t)) / 2 = erfc(-t) / 2 and (1 + tanh(t)) / 2 = 1 / (1 + e^-2t), neither of which cancels.
Real operators::gelu(Real x, std::string_view approximate) {
  if (approximate == "none") return x / 2 * std::erfc(-x / std::numbers::sqrt2_v<Real>);
  const Real t = std::sqrt(2 / std::numbers::pi_v<Real>) * (x + Real{44715} / 1000000 * x * x * x);
  return x / (1 + std::exp(-2 * t));
}
Real operators::gelu_magnitude(Real x, std::string_view) { return 2 * std::fabs(x); }

Real operators::hardtanh(Real x, Real min_val, Real max_val) { return clamped<Real>(x, min_val, max_val); }
Int operators::hardtanh(Int x, Int min_val, Int max_val) { return clamped<Int>(x, min_val, max_val); }
Real operators::clamp(Real x, std::optional<Real> min, std::optional<Real> max) { return clamped(x, min, max); }
Int operators::clamp(Int x, std::optional<Int> min, std::optional<Int> max) { return clamped(x, min, max); }

}  // namespace assay
