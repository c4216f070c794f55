#include "reference/words/rules.h"

#include <algorithm>
#include <cmath>

#include "reference/numerics/distance.h"
#include "reference/words/indexing.h"
#include "reference/words/shapes.h"
#include "reference/words/terms.h"

namespace assay::conditions {

bool one_of(Argument<Scalar> scalar, std::initializer_list<Scalar> literals) {
  return std::ranges::any_of(
      literals, [&](const Scalar& l) { return is_bool(l) == is_bool(scalar.value) && real(l) == real(scalar.value); });
}

bool keeps_innermost(Argument<const Ints*> dims, TensorArgument tensor) {
  if (tensor->count() <= 1) return true;
  Int innermost = tensor->rank() - 1;
  while (tensor->sizes[tensor->dim_order[innermost]] == 1) --innermost;
  return std::ranges::none_of(*dims.value,
                              [&](Int d) { return wrap_dim(d, tensor->rank()) == tensor->dim_order[innermost]; });
}

bool fills_mask(TensorArgument values, Argument<const Tensors*> indices, Argument<bool> accumulate) {
  const auto given = std::ranges::count_if(*indices.value, [](const auto& t) { return t.has_value(); });
  const bool masked = std::ranges::any_of(*indices.value, [](const auto& t) { return t && is_mask(*t); });
  return !accumulate.value && given == 1 && masked && values->count() == 1;
}

bool selects_nothing(TensorArgument self, TensorArgument mask) {
  return empty(self) || std::ranges::none_of(read<Int>(*mask.value).data, [](Int marked) { return marked != 0; });
}

bool names_no_row(TensorArgument indices, Argument<Int> rows, Argument<Int> without) {
  return std::ranges::none_of(read<Int>(*indices.value).data,
                              [&](Int i) { return i >= 0 && i < rows.value && i != without.value; });
}

}  // namespace assay::conditions
