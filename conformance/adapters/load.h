#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

#include "conformance/testee/engine.h"
#include "conformance/testee/library.h"
#include "conformance/testee/runtime.h"

namespace assay {

// Testees in modules: shared libraries that export assay_kernel_library_v1, assay_runtime or assay_engine. Each
// function takes the testee's name, for messages, and the file of its module. Each throws Fault with rule "testee" if
// the file is missing or cannot be loaded; load_library also throws as make_c_library does.
std::unique_ptr<KernelLibrary> load_library(std::string_view testee, const std::filesystem::path& module);
std::unique_ptr<Runtime> load_runtime(std::string_view testee,
                                      const std::filesystem::path& module);  // Null if there is none.
// The module and its libraries resolve names among themselves before they look into the process.
std::unique_ptr<Engine> load_engine(std::string_view testee, const std::filesystem::path& module);

// ExecuTorch's official kernels, its official runtime with or without XNNPACK, and the same runtime as an engine to
// time. One module in `folder` has all three.
enum class Xnnpack : bool { no, yes };
std::unique_ptr<KernelLibrary> load_executorch_library(const std::filesystem::path& folder);
std::unique_ptr<Runtime> load_executorch_runtime(const std::filesystem::path& folder, Xnnpack xnnpack = Xnnpack::no);
std::unique_ptr<Engine> load_executorch_engine(const std::filesystem::path& folder);

}  // namespace assay
