#pragma once

#include "optimized/kernels/threads.h"
#include "optimized/selection/layout.h"

// Copies elements without reading their values.
namespace assay::optimized {

// Copies elements of 1, 2, 4 or 8 bytes in the loops of a nest, from operand 1 to operand 0.
void copy(const Nest& nest, std::byte* to, const std::byte* from, std::uint64_t element_bytes,
          const kernels::Threads& threads);

// Copies all elements of a tensor to a tensor of the same dtype and sizes, which may be the same tensor.
void copy(const Tensor& to, const Tensor& from, const kernels::Threads& threads);

// Copies n elements with the given strides. Fast for small n.
using Mover = void (*)(std::byte* to, std::ptrdiff_t to_stride, const std::byte* from, std::ptrdiff_t from_stride,
                       std::ptrdiff_t n);
Mover find_mover(std::uint64_t element_bytes);  // null if an element does not have 1, 2, 4 or 8 bytes

}  // namespace assay::optimized
