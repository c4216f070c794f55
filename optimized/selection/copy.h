#pragma once

#include "optimized/kernels/threads.h"
#include "optimized/selection/layout.h"

// Elements moved, none read.
namespace assay::optimized {

// Copies elements of so many bytes, 1, 2, 4 or 8, in the loops of a nest: operand 0 from operand 1.
void copy(const Nest& nest, std::byte* to, const std::byte* from, std::uint64_t element_bytes,
          const kernels::Threads& threads);

// All elements of a tensor to one of the same dtype and sizes, which may be the same.
void copy(const Tensor& to, const Tensor& from, const kernels::Threads& threads);

// n elements, so many from one to the next, of few at a time.
using Mover = void (*)(std::byte* to, std::ptrdiff_t to_stride, const std::byte* from, std::ptrdiff_t from_stride,
                       std::ptrdiff_t n);
Mover find_mover(std::uint64_t element_bytes);  // of 1, 2, 4 or 8; else null

}  // namespace assay::optimized
