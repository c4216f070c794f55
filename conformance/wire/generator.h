#pragma once

#include <cstdint>

#include "reference/tensor.h"

namespace assay::wire {

// A tensor of this shape whose elements the generator makes of the seed, as spec/runtime_protocol.md defines it. Throws
// Fault (malformed, protocol.generator) where the generator does not exist or does not make the dtype, or where the
// tensor is larger than a frame.
Tensor generated(Tensor shape, std::uint8_t generator, std::uint64_t seed);

}  // namespace assay::wire
