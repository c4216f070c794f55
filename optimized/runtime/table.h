#pragma once

#include "optimized/runtime/kernel.h"

namespace assay::optimized {

// The kernels of the build.
std::span<const KernelRow> kernel_table();

// The first kernel of the build that accepts the call; null: there is none.
const Kernel* find_kernel(const Call& call);

}  // namespace assay::optimized
