#pragma once

#include <set>
#include <string>

namespace assay {

// A list of expected failures: the first word of each line is a case id, the rest its reason; '#' begins a comment
// line. A listed case that passes must leave the list. Faults: malformed, when the file cannot be read.
std::set<std::string> known_failures(const std::string& file);

}  // namespace assay
