#pragma once

#include <cstdint>
#include <vector>

#include "conformance/cases/case.h"

namespace assay {

// `count` mutated calls of an operator, drawn from its recorded calls. The same seed gives the same cases, independent
// of the other operators of the run.
std::vector<CaseId> generated_cases(const RecordedCalls& calls, std::uint64_t seed, std::size_t count);

}  // namespace assay
