#include "conformance/testees/load.h"

#include <dlfcn.h>

#include "conformance/testees/reference_library.h"
#include "reference/fault.h"

namespace assay {
namespace {

// What the module of this name, libassay_<name>.so in `folder`, exports as `symbol`.
void* exported(std::string_view name, const std::filesystem::path& folder, const char* symbol,
               const std::string& rule) {
  const auto fail = [&](const auto&... sentence) { throw Fault(Outcome::invalid, rule, text(sentence...)); };
  if (name != "executorch") fail("there is no ", rule, " \"", name, "\": known are reference and executorch");
  const std::filesystem::path path = folder / text("libassay_", name, ".so");
  if (!std::filesystem::exists(path))
    fail("the ", rule, " ", name, " needs ", path.string(), ", which is missing: tools/conform fetches and builds it");
  // Never closed: kernels stay registered for the life of the process.
  void* module = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!module) fail("the ", rule, " ", name, " cannot be loaded: ", dlerror());
  void* found = dlsym(module, symbol);
  if (!found) fail(path.string(), " has no ", rule, ": it does not export ", symbol);
  return found;
}

}  // namespace

std::unique_ptr<KernelLibrary> load_library(std::string_view name, const std::filesystem::path& folder) {
  if (name == "reference") return std::make_unique<ReferenceLibrary>();
  return std::unique_ptr<KernelLibrary>(
      reinterpret_cast<MakeKernelLibrary>(exported(name, folder, "assay_kernel_library", "library"))());
}

std::unique_ptr<Runtime> load_runtime(std::string_view name, const std::filesystem::path& folder) {
  return std::unique_ptr<Runtime>(reinterpret_cast<MakeRuntime>(exported(name, folder, "assay_runtime", "runtime"))());
}

}  // namespace assay
