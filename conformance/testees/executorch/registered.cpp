#include <executorch/runtime/kernel/operator_registry.h>

#include "conformance/testees/executorch/registry.h"
#include "conformance/testees/load.h"

// Kernels that somebody else's library registered, without those of the release.
namespace {

const std::size_t already = executorch::runtime::get_registered_kernels().size();  // when this module is loaded

}

extern "C" __attribute__((visibility("default"))) assay::KernelLibrary* assay_registered_kernels(const char* name,
                                                                                                 const char* file) {
  return assay::executorch_kernels::make_registry(name, {file}, already);
}
