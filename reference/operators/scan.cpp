#include "operators/scan.gen.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace assay {
namespace {

constexpr bool comes_first(Int a, Int b, bool largest) { return largest ? a > b : a < b; }
bool comes_first(Real a, Real b, bool largest) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(largest ? a : b) && !std::isnan(largest ? b : a);
  return largest ? a > b : a < b;
}

template <class T>
void first_of(std::span<const T> x, std::span<T> values, std::span<Int> indices, bool largest) {
  std::vector<std::size_t> order(x.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return comes_first(x[a], x[b], largest); });
  for (std::size_t k = 0; k < values.size(); ++k) values[k] = x[order[k]], indices[k] = static_cast<Int>(order[k]);
}

}  // namespace

void operators::cumsum(std::span<const Real> x, std::span<Real> y) { std::partial_sum(x.begin(), x.end(), y.begin()); }
void operators::cumsum(std::span<const Int> x, std::span<Int> y) { std::partial_sum(x.begin(), x.end(), y.begin(), wrapping_add); }

void operators::topk(std::span<const Real> x, std::span<Real> values, std::span<Int> indices, bool largest) { first_of(x, values, indices, largest); }
void operators::topk(std::span<const Int> x, std::span<Int> values, std::span<Int> indices, bool largest) { first_of(x, values, indices, largest); }

}  // namespace assay
