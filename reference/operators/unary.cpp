#include "operators/unary.gen.h"

#include <cmath>

namespace assay {

Real operators::abs(Real x) { return std::fabs(x); }
Int operators::abs(Int x) { return x < 0 ? wrapping_negate(x) : x; }
Real operators::neg(Real x) { return -x; }
Int operators::neg(Int x) { return wrapping_negate(x); }
Real operators::sign(Real x) { return (x > 0) - (x < 0); }
Int operators::sign(Int x) { return (x > 0) - (x < 0); }
Real operators::ceil(Real x) { return std::ceil(x); }
Int operators::ceil(Int x) { return x; }
Real operators::floor(Real x) { return std::floor(x); }
Int operators::floor(Int x) { return x; }
Real operators::round(Real x) { return std::nearbyint(x); }
Int operators::round(Int x) { return x; }
Real operators::trunc(Real x) { return std::trunc(x); }
Int operators::trunc(Int x) { return x; }

Real operators::exp(Real x) { return std::exp(x); }
Real operators::expm1(Real x) { return std::expm1(x); }
Real operators::log(Real x) { return std::log(x); }
Real operators::log1p(Real x) { return std::log1p(x); }
Real operators::sin(Real x) { return std::sin(x); }
Real operators::cos(Real x) { return std::cos(x); }
Real operators::tan(Real x) { return std::tan(x); }
Real operators::log2(Real x) { return std::log2(x); }
Real operators::log10(Real x) { return std::log10(x); }
Real operators::acos(Real x) { return std::acos(x); }
Real operators::asin(Real x) { return std::asin(x); }
Real operators::atan(Real x) { return std::atan(x); }
Real operators::acosh(Real x) { return std::acosh(x); }
Real operators::asinh(Real x) { return std::asinh(x); }
Real operators::atanh(Real x) { return std::atanh(x); }
Real operators::hyperbolic_magnitude(Real x) { return std::exp(std::fabs(x)); }
Real operators::cosh(Real x) { return std::cosh(x); }
Real operators::sinh(Real x) { return std::sinh(x); }
Real operators::tanh(Real x) { return std::tanh(x); }
Real operators::erf(Real x) { return std::erf(x); }
Real operators::erf_magnitude(Real x) { return std::fabs(std::erf(x)) + Real{1} / 1024; }
Real operators::sqrt(Real x) { return std::sqrt(x); }
Real operators::reciprocal(Real x) { return 1 / x; }
Real operators::rsqrt(Real x) { return 1 / std::sqrt(x); }
Real operators::sigmoid(Real x) { return 1 / (1 + std::exp(-x)); }

Int operators::isinf(Real x) { return std::isinf(x); }
Int operators::isinf(Int) { return false; }
Int operators::isnan(Real x) { return std::isnan(x); }
Int operators::isnan(Int) { return false; }

}  // namespace assay
