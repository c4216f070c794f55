#include "conformance/testees/executorch/binaries.h"
#include "conformance/testees/executorch/registry.h"
#include "conformance/testees/load.h"

// The kernels of an ExecuTorch release, which register when this module is loaded.
extern "C" __attribute__((visibility("default"))) assay::KernelLibrary* assay_kernel_library() {
  return assay::executorch_kernels::make_registry("executorch", assay::executorch_kernels::package_binaries());
}
