#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

#include "conformance/testees/library.h"
#include "conformance/testees/runtime.h"

namespace assay {

// The kernel library of that name: "reference", or one whose module libassay_<name>.so stands in `folder`, which is the
// executable's own. Throws Fault with rule "library" where there is none or it cannot be loaded.
std::unique_ptr<KernelLibrary> load_library(std::string_view name, const std::filesystem::path& folder);

// The runtime of that name, from the same module. Throws Fault with rule "runtime".
std::unique_ptr<Runtime> load_runtime(std::string_view name, const std::filesystem::path& folder);

// What a module exports as assay_kernel_library: makes the library, which the caller owns.
using MakeKernelLibrary = KernelLibrary* (*)();

}  // namespace assay
