#pragma once

#include <string>
#include <vector>

#include "conformance/testees/library.h"

namespace assay::executorch_kernels {

// The kernels that are in ExecuTorch's registry by now, but for the first so many, under this name; the binaries that
// they come from. The caller owns it.
KernelLibrary* make_registry(std::string name, std::vector<std::string> binaries, std::size_t without = 0);

}  // namespace assay::executorch_kernels
