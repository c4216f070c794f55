#pragma once

#include "optimized/kernels/product.h"

// How a product is cut. The order of a sum depends on none of it.
namespace assay::kernels {

constexpr std::size_t held_weights = 20 << 10, second_cache = 128 << 10;  // floats
constexpr std::size_t deepest_pass = 2048;
constexpr std::size_t floats_of_line = 16;
// Of a thin product: floats of a panel and of all, and how many tiles of a panel are done before the next.
constexpr std::size_t thin_panel = 4 << 10, thin_weights = 256 << 10, thin_tiles = 16;

struct Blocks {
  std::size_t rows;    // of a tile, at most
  std::size_t count;   // of results
  std::size_t panels;  // that are done for a tile before the next
  std::size_t passes;
};

}  // namespace assay::kernels
