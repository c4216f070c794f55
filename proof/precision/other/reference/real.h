#pragma once

#include <type_traits>

#include "proof/precision/number.h"

// Found before the reference's own header of this name.
namespace assay {

using Real = precision::Number;

template <class T>
using Sum = std::conditional_t<std::is_integral_v<T>, T, precision::Sum<T>>;

}  // namespace assay
