#include "conformance/testees/load.h"

#include <dlfcn.h>

#include "conformance/testees/reference_library.h"
#include "reference/fault.h"

namespace assay {
namespace {

template <class... Parts>
[[noreturn]] void fail(const Parts&... sentence) { throw Fault(Outcome::invalid, "library", text(sentence...)); }

}  // namespace

std::unique_ptr<KernelLibrary> load_library(std::string_view name, const std::filesystem::path& folder) {
  if (name == "reference") return std::make_unique<ReferenceLibrary>();
  if (name != "executorch") fail("there is no kernel library \"", name, "\": known are reference and executorch");

  const std::filesystem::path path = folder / text("libassay_", name, ".so");
  if (!std::filesystem::exists(path)) fail("the kernel library ", name, " needs ", path.string(), ", which is missing: tools/conform fetches and builds it");
  // Never closed: kernels stay registered for the life of the process.
  void* module = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!module) fail("the kernel library ", name, " cannot be loaded: ", dlerror());
  const auto make = reinterpret_cast<MakeKernelLibrary>(dlsym(module, "assay_kernel_library"));
  if (!make) fail(path.string(), " is no kernel library: it does not export assay_kernel_library");
  return std::unique_ptr<KernelLibrary>(make());
}

}  // namespace assay
