#pragma once

#include <filesystem>

namespace assay {

// A folder of that path above the executable or above the working folder, as a checkout has it, or in share/assay, as
// an installation does; empty where there is none.
std::filesystem::path folder_above(const std::filesystem::path& path);

}  // namespace assay
