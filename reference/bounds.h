#pragma once

#include "reference/array.h"
#include "reference/dtype.h"

namespace assay {

// Absolute values, of which a number that is not finite bounds nothing: which infinities and NaN come of its products
// depends on how those of the parts are put together.
template <class T>
Array<Complex> bounds(const Array<T>& x) {
  Array<Complex> y(x.sizes);
  std::ranges::transform(x.data, y.data.begin(),
                         [](const T& v) { return std::isfinite(std::abs(v)) ? std::abs(v) : endless; });
  return y;
}

}  // namespace assay
