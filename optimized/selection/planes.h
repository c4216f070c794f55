#pragma once

#include "optimized/selection/layout.h"

// Images of channels, whose pixels may have any number of dimensions.
namespace assay::optimized {

// The strides of images, channels and pixels in memory. A tensor in row-major order may have any sizes; another one
// must have images and channels as its first dimensions, and is channels last. Without elements, no stride is used.
inline bool planes_of(const Tensor& t, std::int64_t images, std::int64_t channels, std::int64_t pixels,
                      Strides& strides) {
  const auto places = [](std::int64_t n) { return static_cast<std::ptrdiff_t>(n); };
  strides = {{places(channels * pixels), places(pixels), 1}};
  if (t.is_contiguous() || t.count() == 0) return true;
  const Strides own = strides_of(t);
  strides = {{own.of[0], own.of[1], places(channels)}};
  if (t.rank < 3 || t.sizes[0] != images || t.sizes[1] != channels || t.dim_order[t.rank - 1] != 1) return false;
  for (int k = 1; k < t.rank; ++k)
    if (t.dim_order[k - 1] != (k == 1 ? 0 : k)) return false;
  return true;
}

// The numbers of a group norm: images, channels, pixels of a channel, and groups.
struct GroupSizes {
  std::int64_t images, channels, pixels, groups;

  std::int64_t of_group() const { return channels / groups; }
};
// Reads the numbers from argument `first` on. Returns false if they are invalid for the input.
inline bool read_groups(const Call& call, std::size_t first, const Tensor& input, GroupSizes& g) {
  std::int64_t* const numbers[] = {&g.images, &g.channels, &g.pixels, &g.groups};
  std::int64_t count = 1;
  for (std::size_t i = 0; i < 4; ++i) {
    const Value& v = call[first + i];
    if (v.kind != ValueKind::integer || v.integer < 0 || v.integer > INT32_MAX) return false;
    if (i < 3 && __builtin_mul_overflow(count, v.integer, &count)) return false;
    *numbers[i] = v.integer;
  }
  return g.groups > 0 && g.channels % g.groups == 0 && input.count() == count;
}

}  // namespace assay::optimized
