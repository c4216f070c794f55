#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

namespace assay {

// A binary by its file's name and a digest of its bytes: what was judged is what is timed where both are equal.
using Digests = std::vector<std::pair<std::string, std::string>>;

// Of those binaries that the process has loaded and whose names are among `names`.
Digests digests_of_loaded(std::span<const std::string> names);

inline constexpr const char* executable = "executable";  // the name of the process's own

}  // namespace assay
