#include "operators/creation.gen.h"

namespace assay {

Element operators::full(Int, Element fill_value) { return fill_value; }

Real operators::arange(Int i, Real start, Real step) { return start + static_cast<Real>(i) * step; }
Int operators::arange(Int i, Int start, Int step) { return wrapping_add(start, wrapping_multiply(i, step)); }

}  // namespace assay
