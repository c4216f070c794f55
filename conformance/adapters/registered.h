#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "conformance/testee/library.h"

namespace assay::adapters {

// Loads the kernels that the library at `file` registers with ExecuTorch's macros, as the testee `name`. Throws as
// open_with_adapter() and make_c_library() do, and Fault with rule "testee" if the library registers nothing.
std::unique_ptr<testee::KernelLibrary> load_registered(const std::string& name, const std::filesystem::path& file);

}  // namespace assay::adapters
