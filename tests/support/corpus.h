#pragma once

#include "conformance/cases/case.h"

namespace assay {

// The recorded calls of all operators. The tests of a program share them.
inline const cases::Corpus& corpus() {
  static const cases::Corpus recorded(ASSAY_GOLDEN);
  return recorded;
}

}  // namespace assay
