#pragma once

#include <cstddef>

#include "optimized/kernels/instruction_set.h"

namespace assay::bench {

// The most floating-point operations a second of one core, where each product and each sum counts. It is measured with
// independent sums in all registers, until the result is stable.
double peak_flops(kernels::InstructionSet);

// The most bytes per second that one core reads when it reads `bytes` bytes repeatedly: the bandwidth of the cache that
// holds them, or of memory.
double peak_bandwidth(kernels::InstructionSet, std::size_t bytes);

}  // namespace assay::bench
