#include "conformance/adapters/load.h"

#include <dlfcn.h>

#include "conformance/adapters/c_library.h"
#include "conformance/testee/binaries.h"
#include "conformance/testee/no_testee.h"

namespace assay {
namespace {

// The object that the module exports as `symbol`, or null. `flags` are flags of dlopen.
void* find_exported(std::string_view testee, const std::filesystem::path& module, const char* symbol,
                    int flags = RTLD_NOW | RTLD_LOCAL) {
  if (!std::filesystem::exists(module))
    no_testee("the testee ", testee, " needs ", module.string(), ", which is missing");
  // The module is never closed, because kernels stay registered for the life of the process.
  void* handle = dlopen(module.c_str(), flags);
  if (!handle) no_testee("the testee ", testee, " cannot be loaded: ", dlerror());
  return dlsym(handle, symbol);
}

// Flags with which a module resolves names in its own libraries before those of the process. Sanitizers do not allow
// RTLD_DEEPBIND.
constexpr int own_names = RTLD_NOW | RTLD_LOCAL | (ASSAY_WATCHED_HEAP ? RTLD_DEEPBIND : 0);

template <class Make>
Make exported(std::string_view testee, const std::filesystem::path& module, const char* symbol,
              int flags = RTLD_NOW | RTLD_LOCAL) {
  if (void* found = find_exported(testee, module, symbol, flags)) return reinterpret_cast<Make>(found);
  no_testee(testee, " is not a testee for this command: it does not export ", symbol);
}

const assay_kernel_library* table_of(std::string_view testee, const std::filesystem::path& module) {
  return exported<decltype(&assay_kernel_library_v1)>(testee, module, "assay_kernel_library_v1")();
}

std::unique_ptr<Runtime> runtime_exported(std::string_view testee, const std::filesystem::path& module,
                                          const char* symbol) {
  void* make = find_exported(testee, module, symbol);
  return std::unique_ptr<Runtime>(make ? reinterpret_cast<MakeRuntime>(make)() : nullptr);
}

constexpr std::string_view executorch = "executorch";

std::filesystem::path executorch_module(const std::filesystem::path& folder) {
  const std::filesystem::path module = folder / "libassay_executorch.so";
  if (std::filesystem::exists(module)) return module;
  no_testee("the testee ", executorch, " needs ", module.string(),
            ", which is missing: in a checkout, tools/conform builds it; elsewhere, name a library of kernels, "
            "executorch:./lib.so");
}

}  // namespace

std::unique_ptr<KernelLibrary> load_library(std::string_view testee, const std::filesystem::path& module) {
  return make_c_library(table_of(testee, module), {module.filename()});
}

std::unique_ptr<Runtime> load_runtime(std::string_view testee, const std::filesystem::path& module) {
  return runtime_exported(testee, module, "assay_runtime");
}

std::unique_ptr<Engine> load_engine(std::string_view testee, const std::filesystem::path& module) {
  return std::unique_ptr<Engine>(exported<MakeEngine>(testee, module, "assay_engine", own_names)());
}

std::unique_ptr<KernelLibrary> load_executorch_library(const std::filesystem::path& folder) {
  const assay_kernel_library* table = table_of(executorch, executorch_module(folder));
  return make_c_library(table, loaded_binaries("libexecutorch"));
}

std::unique_ptr<Runtime> load_executorch_runtime(const std::filesystem::path& folder, Xnnpack xnnpack) {
  const char* symbol = xnnpack == Xnnpack::yes ? "assay_runtime_xnnpack" : "assay_runtime";
  return runtime_exported(executorch, executorch_module(folder), symbol);
}

std::unique_ptr<Engine> load_executorch_engine(const std::filesystem::path& folder) {
  return load_engine(executorch, executorch_module(folder));
}

}  // namespace assay
