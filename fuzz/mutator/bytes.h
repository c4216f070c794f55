#pragma once

#include <string>

#include "fuzz/mutator/random.h"

namespace assay::fuzz {

// Changes a few bytes: overwrites, removes or repeats them.
void mutate_bytes(std::string& bytes, Random& random);

}  // namespace assay::fuzz
