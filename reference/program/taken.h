#pragma once

#include <utility>

#include "reference/program/rule.h"

// From results and refusals to exceptions, for code that reports a fault by throwing it.
namespace assay {

// Returns the value, or throws the first of the faults.
template <class T>
T taken(Result<T> result) {
  if (!result) throw std::move(result.faults.front());
  return std::move(*result);
}

// Throws the fault of a request that was refused.
inline void require_done(Refusal refused) {
  if (refused) throw *std::move(refused);
}

}  // namespace assay
