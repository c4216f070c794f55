#pragma once

#include <string_view>
#include <vector>

#include "conformance/verdict/record.h"

namespace assay {

/// What the reader should know about a run: versions, seed, date, machine. Shown in the given order.
using Facts = std::vector<NamedText>;

/// The fields of a header line, none of an empty one. Throws std::invalid_argument where it is no header.
Facts facts_of_header(std::string_view line);

}  // namespace assay
