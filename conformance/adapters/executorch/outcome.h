#pragma once

#include "conformance/adapters/executorch/kernels/error.h"
#include "conformance/adapters/executorch/kernels/log.h"
#include "conformance/testee/library.h"
#include "reference/fault.h"

namespace assay::executorch_kernels {

// The reply for an error, with what was logged since log::clear().
inline testee::Reply reply_of(executorch::runtime::Error error) {
  return {static_cast<Outcome>(outcome_of(error)),
          error == executorch::runtime::Error::Ok ? std::string()
                                                  : concat(executorch::runtime::to_string(error), ": ", log::errors())};
}

}  // namespace assay::executorch_kernels
