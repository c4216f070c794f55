#pragma once

#include <cstdint>

// The arithmetic in which a formula of the reference is evaluated in place of doubles.
namespace assay::precision {

// Every operation is rounded to nearest, in the range of its type. wide has 113 bits.
enum class Precision : std::uint8_t { float16, bfloat16, float32, float64, wide };

// The order in which the addends of a sum are added: one after another from the first or from the last, by recursive
// halving, in blocks of sixteen, or by four, sixteen or sixty-four accumulators in turn.
enum class Order : std::uint8_t { rising, falling, halves, blocks, four_lanes, sixteen_lanes, sixty_four_lanes };

// The result of a function of the C library, which may have an error of one ulp: the number nearest to the exact value,
// the next number above it, the next number below it, or both by turns. Roots are rounded to nearest.
enum class Functions : std::uint8_t { nearest, above, below, either };

struct Manner {
  Precision precision = Precision::wide;
  Order order = Order::rising;
  Functions functions = Functions::nearest;
  bool fused = false;    // whether a product is not rounded before a number is added to it
  bool running = false;  // whether mean and sum of squares are updated with each number (Welford)
  bool apart = false;    // whether (x - mean) scale is computed as x scale - mean scale
  // The number of bits that float32 and float64 lose. Functions are then rounded to nearest.
  int lost_bits = 0;

  bool operator==(const Manner&) const = default;
};

// The choices of a manner that a formula has used.
struct Met {
  bool sums = false, functions = false, products = false, means = false, differences = false;
};

}  // namespace assay::precision
