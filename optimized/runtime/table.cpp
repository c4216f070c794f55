#include "optimized/runtime/table.h"

#include <algorithm>

namespace assay::optimized {

const Kernel* find_kernel(const Call& call) {
  for (const KernelRow& row : std::ranges::equal_range(kernel_table(), call.roles->name, {}, &KernelRow::op))
    if (row.kernel->accepts(call)) return row.kernel;
  return nullptr;
}

}  // namespace assay::optimized
