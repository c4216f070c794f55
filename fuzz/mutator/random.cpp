#include "fuzz/mutator/random.h"

#include <limits>

namespace assay::fuzz {

std::int64_t another_number(std::int64_t now, Random& random) {
  constexpr std::int64_t edges[] = {0,
                                    1,
                                    2,
                                    3,
                                    4,
                                    7,
                                    8,
                                    15,
                                    16,
                                    17,
                                    63,
                                    64,
                                    65,
                                    100,
                                    127,
                                    128,
                                    255,
                                    256,
                                    999,
                                    4096,
                                    65535,
                                    1 << 20,
                                    0x7FFFFFFE,
                                    0x7FFFFFFF,
                                    0x80000000,
                                    0xFFFFFFFF,
                                    std::numeric_limits<std::int64_t>::max(),
                                    std::numeric_limits<std::int64_t>::min()};
  const auto as_bits = static_cast<std::uint64_t>(now);  // unsigned, since arithmetic on it wraps
  switch (random.below(7)) {
    case 0:
      return random.of(edges);
    case 1:
      return static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(random.of(edges)));
    case 2:
      return static_cast<std::int64_t>(as_bits + 1);
    case 3:
      return static_cast<std::int64_t>(as_bits - 1);
    case 4:
      return static_cast<std::int64_t>(random.one_in(2) ? as_bits * 2 : as_bits / 2);
    case 5:
      return static_cast<std::int64_t>(as_bits ^ std::uint64_t{1} << random.below(64));
    default:
      return static_cast<std::int64_t>(random.below(20));
  }
}

double another_real(double now, Random& random) {
  using Range = std::numeric_limits<double>;
  const double choices[] = {0,
                            -0.0,
                            1,
                            -1,
                            0.5,
                            2,
                            now + 1,
                            -now,
                            now * 2,
                            1e-3,
                            Range::max(),
                            Range::min(),
                            Range::infinity(),
                            -Range::infinity(),
                            Range::quiet_NaN(),
                            Range::denorm_min(),
                            3.4028236e38,
                            65504,
                            1e10,
                            9.3e18};
  return random.of(choices);
}

}  // namespace assay::fuzz
