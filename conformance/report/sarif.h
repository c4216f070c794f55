#pragma once

#include <ostream>

#include "conformance/verdict/facts.h"
#include "conformance/verdict/summary.h"

namespace assay {

// SARIF 2.1.0 (OASIS): for each testee a run, whose rules are classes of failures and whose results are defects, at
// the entries of the operators that have them. The tier of a defect is its level; what was listed as expected is
// suppressed.
void write_sarif(std::ostream& out, const Summary& summary, const Facts& facts);

}  // namespace assay
