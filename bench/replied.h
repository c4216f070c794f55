#pragma once

#include "conformance/testee/library.h"
#include "reference/fault.h"

namespace assay::bench {

// Runs f and returns the exception that it throws as a reply.
template <class F>
Reply replied(F f) {
  try {
    f();
    return {};
  } catch (const Fault& fault) {
    return {fault.outcome, fault.message};
  }
}

}  // namespace assay::bench
