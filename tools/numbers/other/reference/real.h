#pragma once

#include <type_traits>

#include "tools/numbers/number.h"

// Found before the reference's own header of this name.
namespace assay {

using Real = numbers::Number;

template <class T>
using Sum = std::conditional_t<std::is_integral_v<T>, T, numbers::Sum<T>>;

}  // namespace assay
