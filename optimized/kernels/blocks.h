#pragma once

#include <type_traits>

#include "optimized/kernels/halves.h"
#include "optimized/kernels/product.h"

// How a product is cut into blocks. The order of the addends of each sum does not depend on the blocks.
namespace assay::kernels {

// The number of weights that are computed for a tile before the next tile, and of floats in the second-level cache.
constexpr std::size_t held_weights = 20 << 10, second_cache = 128 << 10;
constexpr std::size_t deepest_pass = 2048;
constexpr std::size_t bytes_of_line = 64;
// Limits of a thin product: floats of a panel, floats of all panels, and tiles of a panel that are computed before the
// next panel.
constexpr std::size_t thin_panel = 4 << 10, thin_weights = 256 << 10, thin_tiles = 16;

// Whether weights of type W are packed times a factor, which is in a line before them.
template <class W>
constexpr bool has_factor = std::is_same_v<W, Float16>;

struct Blocks {
  std::size_t rows;    // the largest number of rows of a tile
  std::size_t count;   // the number of rows of results
  std::size_t panels;  // the number of panels that are computed for a tile before the next tile
  std::size_t passes;
};

}  // namespace assay::kernels
