#pragma once

#include "reference/fault.h"

namespace assay::testee {

// Throws Fault (invalid, testee): the testee does not exist or cannot be used, for the reason that `sentence` states.
template <class... Parts>
[[noreturn]] void no_testee(const Parts&... sentence) {
  throw Fault(Outcome::invalid, "testee", concat(sentence...));
}

}  // namespace assay::testee
