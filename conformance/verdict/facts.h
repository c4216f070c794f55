#pragma once

#include <string_view>
#include <vector>

#include "conformance/verdict/record.h"

namespace assay::verdict {

// Facts about a run that the reader needs: versions, seed, date, machine. They are shown in this order.
using Facts = std::vector<NamedText>;

// The fields of a header line; none for an empty line. Throws std::invalid_argument if the line is not a header.
Facts facts_of_header(std::string_view line);

}  // namespace assay::verdict
