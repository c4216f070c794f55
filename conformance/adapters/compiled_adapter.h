#pragma once

#include <filesystem>
#include <string>
#include <vector>

// Shared libraries that register something with ExecuTorch, and adapters to what they register.
namespace assay::adapters {

// Opens the library at `file` as the testee `name`, and the adapter that is compiled from `sources`, files of
// conformance/adapters/executorch. Returns the handle of the adapter. The adapter is compiled on first use and kept in
// the user's cache. The ExecuTorch package is the one whose libexecutorch.so the library loads; else the folder in the
// environment variable ASSAY_EXECUTORCH; else the package that python3 imports. Throws Fault with rule "testee" if a
// file, a package or a compiler is missing, or if the library cannot be loaded.
void* open_with_adapter(const std::string& name, const std::filesystem::path& file,
                        const std::vector<std::string>& sources);

std::filesystem::path executorch_runtime();  // the file of the runtime that such a library uses

}  // namespace assay::adapters
