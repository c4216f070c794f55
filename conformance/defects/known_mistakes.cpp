#include <algorithm>

#include "conformance/defects/foretold.h"

namespace assay::defects {

std::vector<Hypothesis> known_mistakes(const Operator& op) {
  std::vector<Hypothesis> all;
  for (auto* some :
       {mistakes_of_arguments, mistakes_of_dtypes, mistakes_of_results, mistakes_of_arithmetic, mistakes_of_softmax,
        mistakes_of_norms, mistakes_of_indices, mistakes_of_windows, mistakes_of_reductions, mistakes_of_copies,
        mistakes_of_products, mistakes_of_quantization, mistakes_of_any_kernel})
    std::ranges::move(some(op), std::back_inserter(all));
  return all;
}

}  // namespace assay::defects
