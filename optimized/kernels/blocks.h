#pragma once

#include "optimized/kernels/product.h"

// How a product is cut. The order of a sum depends on none of it.
namespace assay::kernels {

constexpr std::size_t held_weights = 20 << 10, second_cache = 128 << 10;  // floats
constexpr std::size_t deepest_pass = 2048;
constexpr std::size_t floats_of_line = 16;

struct Blocks {
  std::size_t rows;    // of a tile, at most
  std::size_t count;   // of results
  std::size_t panels;  // that are done for a tile before the next
  std::size_t passes;
};

// Parts of n things as `part` has them, one after another without a division for each.
struct Parts : Range {
  constexpr Parts(std::size_t n, std::size_t i, std::size_t parts)
      : Range(part(n, i, parts)), whole_(n / parts), rest_(n % parts), over_(n * (i + 1) % parts), parts_(parts) {}
  constexpr void next() {
    over_ += rest_;
    begin = end, end += whole_ + (over_ >= parts_);
    if (over_ >= parts_) over_ -= parts_;
  }

 private:
  std::size_t whole_, rest_, over_, parts_;
};

}  // namespace assay::kernels
