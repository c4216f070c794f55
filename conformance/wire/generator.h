#pragma once

#include <cstdint>

#include "reference/tensor.h"

namespace assay::wire {

// Returns a tensor of this shape whose elements are generated from the seed, as spec/runtime_protocol.md defines it.
// Throws Fault (malformed, protocol.generator) if the generator does not exist or does not support the dtype, or if the
// tensor is larger than a frame.
Tensor generated(Tensor shape, std::uint8_t generator, std::uint64_t seed);

}  // namespace assay::wire
