#pragma once

#include <cstdint>

namespace assay::sandbox {

// From now on std::random_device draws from `seed` in this process, so that a testee that draws random numbers draws
// the same numbers in every run. Other sources of entropy, such as the time, are not controlled.
void seed_entropy(std::uint64_t seed);

}  // namespace assay::sandbox
