#pragma once

#include "reference/number.h"

namespace assay {

// The quotient of integers, rounded toward 0. The least integer divided by -1 wraps: the processor's division would end
// the process. Requires b != 0.
constexpr Int quotient(Int a, Int b) { return b == -1 ? wrapping_negate(a) : a / b; }

// The quotient of other numbers.
template <class T, class U>
constexpr auto quotient(const T& a, const U& b) {
  return a / b;
}

}  // namespace assay
