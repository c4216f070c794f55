#pragma once

#include <cstddef>
#include <span>

#include "optimized/kernels/threads.h"

// Copies that change the order of elements: permutations, expansions, slices, and NCHW to NHWC or back.
namespace assay::kernels {

constexpr std::size_t most_axes = 16;

// An axis of a copy: its number of elements, and its stride in either memory, in elements.
struct CopyAxis {
  std::size_t size;
  std::ptrdiff_t from_stride, to_stride;
};

// to[sum i to_stride] = from[sum i from_stride] for all indices i of at most most_axes axes. Elements have 1, 2, 4 or 8
// bytes and are aligned to their size. Each element of `to` is written once; the memories do not overlap. It cannot
// fail.
void copy(std::span<const CopyAxis> axes, std::size_t element_bytes, const void* from, void* to, const Threads& = {});

// n images of c planes of pixels to n images of pixels of c channels, and back.
void channels_first_to_last(std::size_t n, std::size_t c, std::size_t pixels, std::size_t element_bytes,
                            const void* from, void* to, const Threads& = {});
void channels_last_to_first(std::size_t n, std::size_t c, std::size_t pixels, std::size_t element_bytes,
                            const void* from, void* to, const Threads& = {});

}  // namespace assay::kernels
