#pragma once

#include "optimized/kernels/threads.h"
#include "optimized/selection/layout.h"

// Copies elements without reading their values.
namespace assay::optimized {

// Copies elements in the loops of a nest, from operand 1 to operand 0.
void copy(const Nest& nest, std::byte* to, const std::byte* from, std::uint64_t element_bytes,
          const kernels::Threads& threads);

// Copies elements of a tensor, converted to the dtype `common` and then to the dtype of `to`, in the loops of a nest:
// operand 0 is an element of `to` from the place `at` on, operand 1 one of `from` from the place `first` on. Requires
// equal dtypes, or dtypes that are not opaque.
void copy_converted(const Nest& nest, const Tensor& to, std::ptrdiff_t at, const Tensor& from, std::ptrdiff_t first,
                    DType common, const kernels::Threads& threads);

// Copies all elements of a tensor to a tensor of the same dtype and sizes, which may be the same tensor.
void copy(const Tensor& to, const Tensor& from, const kernels::Threads& threads);

// Copies n elements with the given strides. Fast for small n.
using Mover = void (*)(std::byte* to, std::ptrdiff_t to_stride, const std::byte* from, std::ptrdiff_t from_stride,
                       std::ptrdiff_t n);
Mover find_mover(std::uint64_t element_bytes);

}  // namespace assay::optimized
