#pragma once

#include <cstddef>
#include <span>

#include "optimized/kernels/threads.h"

// Copies that change the order of elements: permutations, expansions, slices, and NCHW to NHWC or back.
namespace assay::kernels {

constexpr std::size_t most_axes = 16;

// An axis of a copy: its number of elements, and its strides in both memories in elements.
struct CopyAxis {
  std::size_t size;
  std::ptrdiff_t from_stride, to_stride;
};

// Copies to[sum of i * to_stride] = from[sum of i * from_stride] for all indices i of the axes. Requires at most
// most_axes axes, elements of 1, 2, 4 or 8 bytes that are aligned to their size, and memories that do not overlap. Each
// element of `to` is written once. The function cannot fail.
void copy(std::span<const CopyAxis> axes, std::size_t element_bytes, const void* from, void* to, const Threads& = {});

// Copies n images from c planes of pixels to pixels of c channels, and back.
void channels_first_to_last(std::size_t n, std::size_t c, std::size_t pixels, std::size_t element_bytes,
                            const void* from, void* to, const Threads& = {});
void channels_last_to_first(std::size_t n, std::size_t c, std::size_t pixels, std::size_t element_bytes,
                            const void* from, void* to, const Threads& = {});

}  // namespace assay::kernels
