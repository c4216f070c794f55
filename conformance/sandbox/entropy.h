#pragma once

#include <cstdint>

namespace assay {

// What std::random_device gives in this process from now on is drawn from the seed, so that a testee that draws numbers
// draws the same ones in every run. It has other sources, such as time, of which nobody knows.
void seed_entropy(std::uint64_t seed);

}  // namespace assay
