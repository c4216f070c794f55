#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "conformance/testee/library.h"

namespace assay::adapters {

// Loads the kernels that the library at `file` registers with ExecuTorch's macros, as the testee `name`. The adapter to
// them is compiled on first use and kept in the user's cache. The ExecuTorch package is the one whose libexecutorch.so
// the library loads; else the folder in the environment variable ASSAY_EXECUTORCH; else the package that python3
// imports. Throws Fault with rule "testee" if a file, a package or a compiler is missing, or if the library cannot be
// loaded or registers nothing. Else throws as make_c_library does.
std::unique_ptr<testee::KernelLibrary> load_registered(const std::string& name, const std::filesystem::path& file);

}  // namespace assay::adapters
