#pragma once

#include "conformance/text/json.h"
#include "fuzz/mutator/random.h"

namespace assay::fuzz {

// Makes one change in a JSON value: changes a number, text or list; removes or repeats members and elements, or
// replaces them by parts from another place.
void mutate(text::Json& json, Random& random);

}  // namespace assay::fuzz
