#pragma once

#include <vector>

#include "conformance/cases/case.h"

namespace assay::cases {

// Calls of an operator that quantizes floating numbers, in which the numbers lie halfway between two codes: with odd,
// even and negative zero points, for each dtype of codes. Only there it shows in which direction a kernel rounds, and
// whether it rounds before it adds the zero point. Other operators have no such calls.
std::vector<CaseId> half_cases(const Corpus& corpus, const RecordedCalls& calls);

}  // namespace assay::cases
