#pragma once

#include <ostream>

#include "conformance/verdict/facts.h"
#include "conformance/verdict/summary.h"

namespace assay {

// A comment for a pull request, in Markdown as GitHub has it: for each testee the headline and its most serious
// defects of the contract, at most 50, and how many are left out.
void write_markdown(std::ostream& out, const Summary& summary, const Facts& facts);

}  // namespace assay
