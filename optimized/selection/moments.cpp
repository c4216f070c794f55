#include "optimized/selection/moments.h"

namespace assay::optimized {
namespace {

// Several sums at once wait less for each other.
template <class Term>
double sum_of(const float* x, const Nest& nest, Term term) {
  double sums[4] = {};
  const int last = nest.loops - 1;
  each_row(nest, 1, [&](const std::ptrdiff_t* at, std::ptrdiff_t n) {
    const std::ptrdiff_t stride = nest.stride[0][last];
    const float* row = x + at[0];
    std::ptrdiff_t i = 0;
    for (; i + 4 <= n; i += 4)
      for (std::ptrdiff_t k = 0; k < 4; ++k) sums[k] += term(static_cast<double>(row[(i + k) * stride]));
    for (; i < n; ++i) sums[0] += term(static_cast<double>(row[i * stride]));
  });
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

}  // namespace

Moments moments(const float* x, const Nest& nest) {
  std::ptrdiff_t n = nest.loops > 0;
  for (int d = 0; d < nest.loops; ++d) n *= nest.count[d];
  const double mean = sum_of(x, nest, [](double v) { return v; }) / static_cast<double>(n);
  return {mean, sum_of(x, nest, [mean](double v) { return (v - mean) * (v - mean); })};
}

}  // namespace assay::optimized
