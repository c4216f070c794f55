#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay {

// Binaries by file name, each with a digest of its bytes. A run and a benchmark with equal digests used the same
// binary.
using Digests = std::vector<std::pair<std::string, std::string>>;

std::string digest_of_file(const std::filesystem::path& file);  // 16 hexadecimal digits

// The digests of the binaries that the process has loaded and whose names are in `names`.
Digests digests_of_loaded(std::span<const std::string> names);

// The names of the binaries that the process has loaded and that begin with `beginning`.
std::vector<std::string> loaded_binaries(std::string_view beginning);

// The file of a binary that the process has loaded; empty if it is not loaded.
std::filesystem::path loaded_file(std::string_view name);

// Digests of the files among the words of a command, under names such as "file mine.py". No loaded binary has such a
// name. The first word is looked up in PATH, as a shell does.
Digests digests_of_command(std::span<const std::string> words);

inline constexpr const char* executable = "executable";  // the name of this process's own binary

}  // namespace assay
