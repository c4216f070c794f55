#include "proof/precision/number.h"

#include <algorithm>

namespace assay::precision {

Manner manner;
Met met;

namespace {

template <class T>
T neighbour(T x, bool above) {
  return std::nextafter(x, (above ? 1 : -1) * std::numeric_limits<T>::infinity());
}

// Rounds to a type of this many bits, with exponents from `least` to -least + 1.
Number::Wide to_bits(Number::Wide value, int bits, int least) {
  if (value == 0 || !finiteq(value)) return value;
  const int step = std::max(ilogbq(value), least) - bits + 1;
  const Number::Wide rounded = scalbnq(rintq(scalbnq(value, -step)), step);
  return fabsq(rounded) < scalbnq(1, 2 - least) ? rounded : copysignq(__builtin_huge_valq(), value);
}

}  // namespace

Number::Wide Number::to_precision(Wide value) {
  switch (manner.precision) {
    case Precision::float16:
      return to_bits(value, 11, -14);
    case Precision::bfloat16:
      return to_bits(value, 8, -126);
    case Precision::float32:
      return manner.lost_bits == 0 ? static_cast<float>(value) : to_bits(value, 24 - manner.lost_bits, -126);
    case Precision::float64:
      return manner.lost_bits == 0 ? static_cast<double>(value) : to_bits(value, 53 - manner.lost_bits, -1022);
    default:
      return value;
  }
}

Number Number::approximated(Wide value) {
  met.functions = true;
  const Wide nearest = to_precision(value);
  if (manner.functions == Functions::nearest || nearest == value || !finiteq(nearest)) return exactly(nearest);
  // `either` follows the last bit of the nearest.
  const bool is_single = manner.precision == Precision::float32;
  const Wide unit = scalbnq(1, ilogbq(nearest) - (is_single ? 23 : 52));
  const bool above =
      manner.functions == Functions::above || (manner.functions == Functions::either && fmodq(nearest / unit, 2) != 0);
  if ((nearest > value) == above) return exactly(nearest);
  return exactly(is_single ? neighbour(static_cast<float>(nearest), above)
                           : neighbour(static_cast<double>(nearest), above));
}

}  // namespace assay::precision
