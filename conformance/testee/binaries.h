#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay {

// A binary by its file's name and a digest of its bytes: what was judged is what is timed where both are equal.
using Digests = std::vector<std::pair<std::string, std::string>>;

std::string digest_of_file(const std::filesystem::path& file);  // in 16 digits

// Of those binaries that the process has loaded and whose names are among `names`.
Digests digests_of_loaded(std::span<const std::string> names);

// The names of the binaries that the process has loaded and whose names begin so.
std::vector<std::string> loaded_binaries(std::string_view beginning);

// The file of a binary that the process has loaded; empty: it has not.
std::filesystem::path loaded_file(std::string_view name);

// Of those words of a command that are files, the first of them as a shell finds it: by names such as "file mine.py",
// which are nobody else's.
Digests digests_of_command(std::span<const std::string> words);

inline constexpr const char* executable = "executable";  // the name of the process's own

}  // namespace assay
