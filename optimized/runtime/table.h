#pragma once

#include "optimized/runtime/kernel.h"

namespace assay::optimized {

// The kernels of the build.
std::span<const KernelRow> kernel_table();

// Whether each operand is of the kind that the operator's schema says, which a file need not keep.
bool has_kinds(const Call& call);

// The first kernel of the build that accepts the call; null: there is none.
const Kernel* find_kernel(const Call& call);

}  // namespace assay::optimized
