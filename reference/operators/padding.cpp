#include "operators/padding.gen.h"

#include <algorithm>

namespace assay {
namespace {

// The index in `self` for an index in the result: `inside(i, last)` maps an index along a dimension to 0 ... last.
template <class F>
Dims padded(const Dims& out, const Dims& sizes, const Ints& padding, F inside) {
  Dims in = out;
  for (std::size_t k = 0; 2 * k < padding.size(); ++k) {
    const Int d = sizes.size() - 1 - static_cast<Int>(k);
    in[d] = inside(out[d] - padding[2 * k], sizes[d] - 1);
  }
  return in;
}

}  // namespace

Dims operators::reflect(const Dims& out, const Dims& sizes, const Ints& padding) {
  return padded(out, sizes, padding, [](Int i, Int last) { return i < 0 ? -i : i > last ? 2 * last - i : i; });
}

Dims operators::replicate(const Dims& out, const Dims& sizes, const Ints& padding) {
  return padded(out, sizes, padding, [](Int i, Int last) { return std::clamp<Int>(i, 0, last); });
}

}  // namespace assay
