#pragma once

#include <cstddef>

#include "optimized/kernels/instruction_set.h"

namespace assay::bench {

// The most floating-point operations a second of one core, each product and each sum counted: independent sums in all
// registers, for as long as it takes to be sure.
double peak_flops(kernels::InstructionSet);

// The most bytes per second that one core reads when it reads `bytes` bytes repeatedly: the bandwidth of the cache that
// holds them, or of memory.
double peak_bandwidth(kernels::InstructionSet, std::size_t bytes);

}  // namespace assay::bench
