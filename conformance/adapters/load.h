#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

#include "conformance/testee/engine.h"
#include "conformance/testee/library.h"
#include "conformance/testee/runtime.h"

namespace assay {

// Testees in modules: shared libraries that export assay_kernel_library_v1, assay_runtime or assay_engine. Each
// function takes the testee's name, for messages, and the file of its module. Throw Fault with rule "testee" where the
// file is missing or cannot be loaded; load_library also throws as make_c_library does.
std::unique_ptr<KernelLibrary> load_library(std::string_view testee, const std::filesystem::path& module);
std::unique_ptr<Runtime> load_runtime(std::string_view testee, const std::filesystem::path& module);  // null: none
// The module's names and those of its libraries do not mix with those of the process.
std::unique_ptr<Engine> load_engine(std::string_view testee, const std::filesystem::path& module);

// ExecuTorch's official kernels, its official runtime, with or without its XNNPACK, and that runtime to be timed: the
// module of all three is in `folder`.
enum class Xnnpack : bool { no, yes };
std::unique_ptr<KernelLibrary> load_executorch_library(const std::filesystem::path& folder);
std::unique_ptr<Runtime> load_executorch_runtime(const std::filesystem::path& folder, Xnnpack xnnpack = Xnnpack::no);
std::unique_ptr<Engine> load_executorch_engine(const std::filesystem::path& folder);

}  // namespace assay
