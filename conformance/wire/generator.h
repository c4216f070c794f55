#pragma once

#include <cstdint>

#include "reference/tensor.h"

namespace assay::wire {

// The tensor of this shape whose elements a generator makes of the seed, as spec/runtime_protocol.md says. Throws Fault
// (malformed, protocol.generator) where there is no such generator, it makes no such dtype, or the tensor is larger
// than a frame.
Tensor generated(Tensor shape, std::uint8_t generator, std::uint64_t seed);

}  // namespace assay::wire
