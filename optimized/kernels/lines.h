#pragma once

#include <cstddef>

namespace assay::kernels {

// Bytes, rounded up to whole lines of the cache.
constexpr std::size_t whole_lines(std::size_t bytes) {
  constexpr std::size_t line = 64;
  return (bytes + line - 1) / line * line;
}

}  // namespace assay::kernels
