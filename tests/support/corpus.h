#pragma once

#include "conformance/cases/case.h"
#include "golden.h"

namespace assay {

// The recorded calls of all operators. The tests of a program share them.
inline const cases::Corpus& corpus() {
  static const cases::Corpus recorded(golden_folder() / "operators");
  return recorded;
}

}  // namespace assay
