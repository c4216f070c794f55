#pragma once

#include <algorithm>

#include "reference/value.h"

// Windows that move over the spatial dimensions of a tensor. A list has one entry for each of them, or one for all.
namespace assay {

inline Int entry(const Ints& list, Int dim) { return list[list.size() == 1 ? 0 : static_cast<std::size_t>(dim)]; }

// One dimension of a window: it starts at stride * place - padding and reads every dilation-th cell, kernel times.
struct WindowAxis {
  Int kernel, stride, padding, dilation;

  Int start(Int place) const { return place * stride - padding; }
  Int extent() const { return dilation * (kernel - 1) + 1; }

  // In how many places it stands over a size. With ceil_mode one more where cells are left over, unless it would start
  // in the padding behind the last cell.
  Int places(Int size, bool ceil_mode) const {
    const Int n = floor_div(size + 2 * padding - extent() + (ceil_mode ? stride - 1 : 0), stride) + 1;
    return ceil_mode && start(n - 1) >= size ? n - 1 : n;
  }
};

// An empty stride is the kernel's size.
inline WindowAxis window_axis(Int dim, const Ints& kernel_size, const Ints& stride, const Ints& padding, const Ints& dilation) {
  // Beyond any size a number only has to stay beyond it, and products must not overflow.
  const auto within = [](Int n) { return std::clamp(n, -(Int{1} << 30), Int{1} << 30); };
  return {within(entry(kernel_size, dim)), within(entry(stride.empty() ? kernel_size : stride, dim)), within(entry(padding, dim)), within(entry(dilation, dim))};
}

}  // namespace assay
