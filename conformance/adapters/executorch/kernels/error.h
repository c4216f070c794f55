#pragma once

#include <executorch/runtime/core/error.h>
#include <kernel_library.h>

namespace assay::executorch_kernels {

inline assay_kernel_outcome outcome_of(executorch::runtime::Error error) {
  using executorch::runtime::Error;
  switch (error) {
    case Error::Ok:
      return ASSAY_KERNEL_OK;
    case Error::NotSupported:
    case Error::NotImplemented:
    case Error::OperatorMissing:
      return ASSAY_KERNEL_UNSUPPORTED;
    case Error::MemoryAllocationFailed:
    case Error::OutOfResources:
      return ASSAY_KERNEL_EXHAUSTED;
    // ExecuTorch's kernels report a bad index with the same error as a bad shape.
    default:
      return ASSAY_KERNEL_INVALID;
  }
}

}  // namespace assay::executorch_kernels
