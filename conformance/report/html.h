#pragma once

#include <ostream>

#include "conformance/verdict/facts.h"
#include "conformance/verdict/summary.h"

namespace assay::report {

// Writes one self-contained HTML file. The summary is embedded in it as JSON.
void write_html(std::ostream& out, const verdict::Summary& summary, const verdict::Facts& facts);

}  // namespace assay::report
