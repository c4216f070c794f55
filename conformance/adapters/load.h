#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

#include "conformance/testee/engine.h"
#include "conformance/testee/library.h"
#include "conformance/testee/runtime.h"

namespace assay {

// The kernel library of a testee: "reference", "executorch", whose module stands in `folder`, the executable's own,
// "executorch:PATH" of a library that registers kernels, the path of a module that has the C interface, or the address
// of an end that speaks the protocol. Throws Fault with rule "testee" where there is none or it cannot be loaded, else
// as make_c_library does.
std::unique_ptr<KernelLibrary> load_library(std::string_view name, const std::filesystem::path& folder);

// The runtime of a testee, from the same module; null where it has kernels alone. Throws Fault likewise.
std::unique_ptr<Runtime> load_runtime(std::string_view name, const std::filesystem::path& folder);

// An engine of a testee, from the same module, whose names and those of its libraries are its own.
std::unique_ptr<Engine> load_engine(std::string_view name, const std::filesystem::path& folder);

}  // namespace assay
