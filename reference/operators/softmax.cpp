#include "operators/softmax.gen.h"

#include <cmath>
#include <limits>

namespace assay {

// y[i] = exp(x[i]) / sum_j exp(x[j]), both scaled by exp(-max x) so that no term overflows.
void operators::softmax(std::span<const Real> x, std::span<Real> y) {
  Real top = -std::numeric_limits<Real>::infinity(), total = 0;
  for (Real v : x) top = std::fmax(top, v);
  for (std::size_t i = 0; i < x.size(); ++i) total += y[i] = std::exp(x[i] - top);
  for (Real& v : y) v /= total;
}

}  // namespace assay
