#pragma once

#include <filesystem>

namespace assay {

// The folder of that path that belongs to the command: in or above the executable's folder or the working folder, as a
// checkout has it, or in share/assay there or of the prefix of an installation. Empty where there is none.
std::filesystem::path find_folder(const std::filesystem::path& path);

// The same, where there must be one. Throws Fault (malformed, with the given rule) that says where it was looked for.
std::filesystem::path folder_of(const std::filesystem::path& path, const char* rule);

}  // namespace assay
