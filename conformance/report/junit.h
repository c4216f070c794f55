#pragma once

#include <ostream>

#include "conformance/verdict/facts.h"
#include "conformance/verdict/summary.h"

namespace assay {

// JUnit XML: for each testee a suite of the run with its facts, and one for each operator, whose test cases are its
// defects and one for all cases that pass. What does not count for the exit code is skipped, with the reason.
void write_junit(std::ostream& out, const Summary& summary, const Facts& facts);

}  // namespace assay
