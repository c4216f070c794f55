#pragma once

#include "optimized/kernels/instruction_set.h"

namespace assay::bench {

// The most floating-point operations a second of one core, each product and each sum counted: independent sums in all
// registers, for as long as it takes to be sure.
double peak_flops(kernels::InstructionSet);

}  // namespace assay::bench
