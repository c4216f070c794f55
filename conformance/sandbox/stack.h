#pragma once

#include <algorithm>

#include "reference/operator.h"

namespace assay {

// How many of an operator's arguments are on a host's stack, as the first of them: those of the schema's own text.
inline std::size_t stacked(const Operator& op) {
  const auto added =
      std::ranges::count_if(op.arguments, [](const SchemaArgument& a) { return a.mutated || a.is_out_number(); });
  return op.arguments.size() - static_cast<std::size_t>(added);
}

}  // namespace assay
