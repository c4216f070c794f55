#pragma once

#include <filesystem>

namespace assay {

// Finds a folder of the command's data. It is looked for in the executable's folder, in the working folder and in all
// folders above them, each time directly (as in a checkout) and below share/assay; then below share/assay of the
// installation prefixes. Returns empty if it is not found.
std::filesystem::path find_folder(const std::filesystem::path& path);

// The same, but throws Fault (malformed, with the given rule) if the folder is not found; the message lists the places.
std::filesystem::path folder_of(const std::filesystem::path& path, const char* rule);

}  // namespace assay
