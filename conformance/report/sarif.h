#pragma once

#include <ostream>

#include "conformance/verdict/facts.h"
#include "conformance/verdict/summary.h"

namespace assay::report {

// Writes SARIF 2.1.0 (OASIS). Each testee has a run. Its rules are classes of failures, and its results are defects,
// located at the entries of their operators. The tier of a defect determines its level. Expected failures are
// suppressed.
void write_sarif(std::ostream& out, const verdict::Summary& summary, const verdict::Facts& facts);

}  // namespace assay::report
