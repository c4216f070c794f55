#pragma once

#include <utility>

#include "reference/program/rule.h"

namespace assay {

// Returns the value, or throws the first of the faults. Its message states how many more there are.
template <class T>
T value_or_throw(Result<T> result) {
  if (result) return std::move(*result.value);
  Fault first = std::move(result.faults.front());
  if (const std::uint64_t more = result.faults.size() - 1 + result.more; more > 0)
    first.message += text(" (and ", more, " more: assay check shows them)");
  throw first;
}

}  // namespace assay
