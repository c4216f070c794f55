#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "conformance/cases/case.h"
#include "conformance/testees/library.h"

namespace assay {

// The folder of recorded calls: the given one, else golden/operators above the executable or the working folder. Throws
// Fault (malformed, "calls.folder") where there is none.
std::filesystem::path golden_folder(const std::string& given);

// "reference", "eager" (as recorded in the corpus) or a library whose module stands beside the executable.
std::unique_ptr<KernelLibrary> open_library(const std::string& name, const Corpus& corpus);
std::unique_ptr<KernelLibrary> open_library(const std::string& name);  // but "eager"

}  // namespace assay
