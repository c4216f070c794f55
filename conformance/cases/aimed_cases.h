#pragma once

#include <vector>

#include "conformance/cases/case.h"

namespace assay::cases {

// Calls with properties that kernels branch on, and that few recorded calls and no other made calls have: so many of
// each that the cause of a failure can be told.
std::vector<CaseId> aimed_cases(const Corpus& corpus, const RecordedCalls& calls);

}  // namespace assay::cases
