#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "optimized/kernels/product.cpp"
#include <hwy/foreach_target.h>

#include "optimized/kernels/product-inl.h"

#if HWY_ONCE
namespace assay::kernels {
namespace {

std::size_t divided_up(std::size_t n, std::size_t by) { return (n + by - 1) / by; }

// A pass is so deep that its weights stay near. A tile is computed for as many panels as have few weights together. A
// task has as many results as have their image in the second-level cache.
Blocks blocks_of(const Product& p, std::size_t results) {
  const std::size_t widest = divided_up(p.panels.vectors(), p.panels.count()), taps = p.tap_y.count * p.tap_x.count;
  const std::size_t width = widest * p.panels.lanes();
  const std::size_t most = taps == 1 ? p.channels : taps;
  const std::size_t passes = std::max<std::size_t>(std::min(p.panels.depth / deepest_pass, most), 1);
  const std::size_t depth = divided_up(p.panels.depth, passes) + 1;
  const std::size_t rows =
      std::min(p.halves ? most_rows_of_halves : most_rows, tile_rows(traits(p.panels.set).registers, widest));
  const auto pixels = static_cast<std::size_t>(p.y.stride * p.x.stride);
  const std::size_t held =
      std::max(second_cache / (pixels * (divided_up(p.channels, taps == 1 ? passes : 1) + 1)), 8 * rows);
  return {rows, divided_up(results, held), std::max<std::size_t>(held_weights / (width * depth), 1), passes};
}

}  // namespace

void multiply(const Product& p, const Threads& threads) {
  const std::size_t results = p.y.count * p.x.count;
  if (results == 0 || p.panels.columns == 0) return;
  const Blocks blocks = blocks_of(p, results);
  // The larger of weights and pixels is divided: each task reads all of the other.
  const bool has_more_pixels = p.channels * results > p.panels.floats();
  const std::size_t enough = std::max(blocks.count, has_more_pixels ? results / (4 * blocks.rows) : 1);
  const std::size_t of_panels = std::min(p.panels.count(), divided_up(threads.tasks(), enough));
  const std::size_t of_results =
      std::min(results, divided_up(std::max(blocks.count, divided_up(threads.tasks(), of_panels)), threads.count) *
                            threads.count);
  constexpr MultiplyBlock of_set[] = ASSAY_OF_EACH_SET(multiply_block<float>);
  const MultiplyBlock multiply_part =
      p.halves ? p.halves->find_block(p.panels.set) : of_set[static_cast<std::size_t>(p.panels.set)];
  for_each_task(threads, of_results * of_panels, [&](std::size_t i) {
    multiply_part(p, blocks, part(results, i / of_panels, of_results),
                  part(p.panels.count(), i % of_panels, of_panels));
  });
}

}  // namespace assay::kernels
#endif
