#include "operators/creation.gen.h"

namespace assay {

Bits operators::full(Int, Bits fill_value) { return fill_value; }

}  // namespace assay
