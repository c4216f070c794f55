#pragma once

#include <filesystem>

namespace assay {

// The folder golden/ of the source tree.
std::filesystem::path golden_folder();

}  // namespace assay
