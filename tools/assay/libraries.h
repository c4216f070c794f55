#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "conformance/cases/case.h"
#include "conformance/contract/contract.h"
#include "conformance/testees/library.h"

namespace assay {

// The folder of recorded calls: the given one, else golden/operators above the executable or the working folder. Throws
// Fault (malformed, "calls.folder") where there is none.
std::filesystem::path golden_folder(const std::string& given);

// "reference", "eager" (as recorded in the corpus) or a library whose module stands beside the executable.
std::unique_ptr<KernelLibrary> open_library(const std::string& name, const Corpus& corpus);
std::unique_ptr<KernelLibrary> open_library(const std::string& name);  // but "eager"

// The contract that is asked for by name or file, or, where none is, that of the library.
Contract open_contract(const std::string& asked_for, const std::string& library);
inline constexpr const char* contract_help =
    "What the library promises: a file, or a name in conformance/contracts [that of the library, or everything]";

}  // namespace assay
