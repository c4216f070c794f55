#pragma once

#include "optimized/kernels/threads.h"
#include "optimized/operators/layout.h"

// Elements moved, none read.
namespace assay::optimized {

// Copies elements of so many bytes, 1, 2, 4 or 8, in the loops of a nest: operand 0 from operand 1.
void copy(const Nest& nest, std::byte* to, const std::byte* from, std::uint64_t element_bytes,
          const kernels::Threads& threads);

}  // namespace assay::optimized
