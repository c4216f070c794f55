#include "reference/words/rules.h"

#include <utility>

namespace assay {
namespace rules {

void quantizes_rows(TensorArgument scales, TensorArgument zero_points, TensorArgument codes) {
  Dims rows = codes->sizes;
  rows[rows.size() - 1] = 1;
  for (const auto& [parameter, dtype] : {std::pair(scales, DType::float32), std::pair(zero_points, DType::int8)}) {
    require(static_cast<bool>(parameter), parameter.name, " is None, but ", codes.name, " are codes");
    require(parameter->dtype == dtype && parameter->sizes == rows, parameter.name, " is ", describe(*parameter.value),
            ", but must be ", dtype, " ", rows);
  }
}

void has_hadamard_matrix(TensorArgument tensor) {
  const Int n = tensor->sizes[tensor->rank() - 1];
  const auto power = [](Int k) { return (k & (k - 1)) == 0; };
  require(power(n) || (n % 28 == 0 && power(n / 28)), tensor.name, " has rows of ", n,
          " elements, but that must be a power of two or 28 times one");
}

}  // namespace rules
}  // namespace assay
