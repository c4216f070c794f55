#pragma once

#include <ostream>

#include "conformance/verdict/facts.h"
#include "conformance/verdict/summary.h"

namespace assay::report {

// Writes JUnit XML. Each testee has one suite for the run, with its facts, and one suite for each operator. The test
// cases of an operator are its defects, and one for all cases that pass. A defect that does not count for the exit code
// is skipped, with the reason.
void write_junit(std::ostream& out, const verdict::Summary& summary, const verdict::Facts& facts);

}  // namespace assay::report
