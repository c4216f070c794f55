#include "operators/arithmetic.gen.h"

namespace assay {

Real operators::add(Real self, Real other, Real alpha) { return self + alpha * other; }
Int operators::add(Int self, Int other, Int alpha) { return wrapping_add(self, wrapping_multiply(alpha, other)); }

}  // namespace assay
