#pragma once

#include <filesystem>

namespace assay {

// The folder of the command's data with this path. It is looked for in the executable's folder, in the working folder,
// and in the folders above them, where a checkout has it or share/assay is; then in share/assay of the installation
// prefixes. Empty: not found.
std::filesystem::path find_folder(const std::filesystem::path& path);

// The same, but throws Fault (malformed, with the given rule) where it is not found; the message lists the places.
std::filesystem::path folder_of(const std::filesystem::path& path, const char* rule);

}  // namespace assay
