#pragma once

#include "conformance/testee/library.h"
#include "reference/fault.h"

namespace assay::bench {

// Runs f; what it throws is the reply.
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
