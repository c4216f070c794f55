#pragma once

#include <cstdint>

// The arithmetic in which a formula of the reference is evaluated in place of doubles.
namespace assay::precision {

// Every operation is rounded to nearest, in the range of its type. wide has 113 bits.
enum class Precision : std::uint8_t { float16, bfloat16, float32, float64, wide };

// The order in which the addends of a sum are added: one after another from the first or from the last, in halves of
// halves, in blocks of sixteen, or by four, sixteen or sixty-four accumulators in turn.
enum class Order : std::uint8_t { rising, falling, halves, blocks, four_lanes, sixteen_lanes, sixty_four_lanes };

// Which of the two neighbours of an exact value a function of the C library gives, which may err by one ulp: the
// nearest, the upper, the lower, or either by turns. Roots are rounded to nearest.
enum class Functions : std::uint8_t { nearest, above, below, either };

struct Manner {
  Precision precision = Precision::wide;
  Order order = Order::rising;
  Functions functions = Functions::nearest;
  bool fused = false;    // a product is not rounded before something is added to it
  bool running = false;  // a mean and a sum of squares are kept current while numbers come (Welford)
  bool apart = false;    // (x - mean) scale is x scale - mean scale
  // The number of bits that float32 and float64 lose. Functions are then rounded to nearest.
  int lost_bits = 0;

  bool operator==(const Manner&) const = default;
};

// The choices of a manner that a formula has used.
struct Met {
  bool sums = false, functions = false, products = false, means = false, differences = false;
};

}  // namespace assay::precision
