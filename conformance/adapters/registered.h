#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "conformance/testee/library.h"

namespace assay {

// The kernels that the library at `file` registers with ExecuTorch's macros, as the testee that was asked for by this
// name, by an adapter that is compiled on first use and kept in the user's cache. The ExecuTorch package is that of the
// libexecutorch.so which the library loads; else the folder that ASSAY_EXECUTORCH names in the environment; else that
// which python3 imports. Throws Fault with rule "testee" where a file, a package or a compiler is missing, where the
// library cannot be loaded, or registers nothing; else as make_c_library does.
std::unique_ptr<KernelLibrary> load_registered(const std::string& name, const std::filesystem::path& file);

}  // namespace assay
