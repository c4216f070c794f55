#include "conformance/adapters/registered.h"

#include <dlfcn.h>

#include "conformance/adapters/c_library.h"
#include "conformance/adapters/compiled_adapter.h"
#include "conformance/testee/no_testee.h"

namespace assay::adapters {

std::unique_ptr<testee::KernelLibrary> load_registered(const std::string& name, const std::filesystem::path& file) {
  void* const adapter =
      open_with_adapter(name, file, {"kernels/adapter.cpp", "kernels/call_stack.cpp", "kernels/log.cpp"});
  const auto table = reinterpret_cast<decltype(&assay_kernel_library_v1)>(dlsym(adapter, "assay_kernel_library_v1"));
  auto library = make_c_library(table(), {file.filename()}, concat("executorch:", file.filename().string()));
  if (library->kernels().empty())
    testee::no_testee(
        file.string(), " registers no kernels with ", executorch_runtime().string(),
        ": of kernels that an ExecuTorch of their own is linked with, assay_executorch_testee of CMake makes a testee");
  return library;
}

}  // namespace assay::adapters
