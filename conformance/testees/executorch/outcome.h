#pragma once

#include <executorch/runtime/core/error.h>

#include "conformance/testees/executorch/log.h"
#include "conformance/testees/library.h"
#include "reference/fault.h"

namespace assay::executorch_kernels {

inline Outcome outcome_of(executorch::runtime::Error error) {
  using executorch::runtime::Error;
  switch (error) {
    case Error::Ok:
      return Outcome::ok;
    case Error::NotSupported:
    case Error::NotImplemented:
    case Error::OperatorMissing:
      return Outcome::unsupported;
    case Error::MemoryAllocationFailed:
    case Error::OutOfResources:
      return Outcome::exhausted;
    // Its kernels report a bad index as they report a bad shape.
    default:
      return Outcome::invalid;
  }
}

// The error with what was logged since log::clear().
inline Reply reply_of(executorch::runtime::Error error) {
  return {outcome_of(error), error == executorch::runtime::Error::Ok
                                 ? std::string()
                                 : text(executorch::runtime::to_string(error), ": ", log::errors())};
}

}  // namespace assay::executorch_kernels
