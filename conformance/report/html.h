#pragma once

#include <ostream>
#include <vector>

#include "conformance/report/summary.h"

namespace assay {

/// What the reader should know about the run: versions, seed, date, machine. Shown in the given order.
using Facts = std::vector<NamedText>;

/// One HTML file that needs nothing else. The summary is embedded in it as JSON.
void write_html(std::ostream& out, const Summary& summary, const Facts& facts);

}  // namespace assay
