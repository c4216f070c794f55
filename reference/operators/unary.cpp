#include "operators/unary.gen.h"

#include <cmath>

namespace assay {

Real operators::abs(Real x) { return std::fabs(x); }
Int operators::abs(Int x) { return x < 0 ? wrapping_negate(x) : x; }
Real operators::exp(Real x) { return std::exp(x); }
Int operators::isnan(Real x) { return std::isnan(x); }
Int operators::isnan(Int) { return false; }

}  // namespace assay
