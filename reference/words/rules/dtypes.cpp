#include <cmath>

#include "reference/words/rules.h"
#include "reference/words/rules/expression.h"

namespace assay {

std::string words::names(DTypeSet set) {
  std::string list;
  for (Int n = 0; n < 32; ++n)
    if (const auto d = dtype_numbered(n); d && set & sets::of(*d))
      list += (list.empty() ? "" : ", ") + std::string(info(*d).name);
  return list;
}

std::string words::names(std::initializer_list<std::string_view> words) {
  std::string list;
  for (std::string_view w : words) list += (list.empty() ? "\"" : ", \"") + std::string(w) + '"';
  return list;
}

void rules::limit_fits(Argument<Scalar> limit, DType dtype) {
  if (!is_integer(dtype)) return scalar_fits(limit, dtype);
  const Real v = std::trunc(real(limit.value));
  require(v >= least_integer(dtype) && v <= largest_integer(dtype), limit.name, " is ", limit.value,
          ", which is no limit of ", dtype);
}

}  // namespace assay
