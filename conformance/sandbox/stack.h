#pragma once

#include <algorithm>

#include "reference/operator.h"

namespace assay::sandbox {

// The number of an operator's arguments that a host puts on its stack: the first ones, which the schema's text has.
inline std::size_t stacked(const Operator& op) {
  const auto added =
      std::ranges::count_if(op.arguments, [](const SchemaArgument& a) { return a.mutated || a.is_out_number(); });
  return op.arguments.size() - static_cast<std::size_t>(added);
}

}  // namespace assay::sandbox
