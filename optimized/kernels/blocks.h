#pragma once

#include "optimized/kernels/product.h"

// How a product is cut into blocks. The order of each sum does not depend on it.
namespace assay::kernels {

constexpr std::size_t held_weights = 20 << 10, second_cache = 128 << 10;  // floats
constexpr std::size_t deepest_pass = 2048;
constexpr std::size_t floats_of_line = 16;
// Of a thin product: floats of a panel, floats of all panels, and tiles of a panel that are computed before the next
// panel.
constexpr std::size_t thin_panel = 4 << 10, thin_weights = 256 << 10, thin_tiles = 16;

struct Blocks {
  std::size_t rows;    // of a tile, at most
  std::size_t count;   // of results
  std::size_t panels;  // computed for a tile before the next tile
  std::size_t passes;
};

}  // namespace assay::kernels
