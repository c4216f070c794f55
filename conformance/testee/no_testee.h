#pragma once

#include "reference/fault.h"

namespace assay {

// Throws the Fault of a testee that cannot be had, with one sentence.
template <class... Parts>
[[noreturn]] void no_testee(const Parts&... sentence) {
  throw Fault(Outcome::invalid, "testee", text(sentence...));
}

}  // namespace assay
