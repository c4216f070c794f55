#pragma once

#include <ostream>

#include "conformance/verdict/facts.h"
#include "conformance/verdict/summary.h"

namespace assay::report {

// Writes a comment for a pull request in GitHub's Markdown: for each testee the headline, its most serious defects
// within the contract, at most 50, and the number of those left out.
void write_markdown(std::ostream& out, const verdict::Summary& summary, const verdict::Facts& facts);

}  // namespace assay::report
