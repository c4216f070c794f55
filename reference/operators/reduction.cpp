#include "operators/reduction.gen.h"

#include <cmath>

namespace assay {
namespace {

template <class T>
std::pair<T, Int> first_largest(std::span<const T> x) {
  std::size_t at = 0;
  for (std::size_t k = 1; k < x.size(); ++k)
    if (x[at] == x[at] && !(x[k] <= x[at])) at = k;
  return {x[at], static_cast<Int>(at)};
}

}  // namespace

Real operators::sum(std::span<const Real> x) {
  Real total = 0;
  for (Real v : x) total += v;
  return total;
}

Int operators::sum(std::span<const Int> x) {
  Int total = 0;
  for (Int v : x) total = wrapping_add(total, v);
  return total;
}

std::pair<Real, Int> operators::max(std::span<const Real> x) { return first_largest(x); }
std::pair<Int, Int> operators::max(std::span<const Int> x) { return first_largest(x); }

}  // namespace assay
