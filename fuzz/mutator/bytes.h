#pragma once

#include <string>

#include "fuzz/mutator/random.h"

namespace assay::fuzz {

// Changes a few bytes: some become others, or go, or come again.
void mutate_bytes(std::string& bytes, Random& random);

}  // namespace assay::fuzz
