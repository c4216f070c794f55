#pragma once

#include "conformance/text/json.h"
#include "fuzz/mutator/random.h"

namespace assay::fuzz {

// Makes one change somewhere in a JSON value: a number, text or list becomes another; members and elements go, come
// again, or become what is elsewhere.
void mutate(Json& json, Random& random);

}  // namespace assay::fuzz
