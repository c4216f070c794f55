#pragma once

#include <executorch/extension/tensor/tensor_ptr.h>
#include <executorch/runtime/core/evalue.h>

#include <vector>

#include "reference/value.h"

namespace assay::executorch_kernels {

// A value as an input of a method. A tensor stands for the value's own bytes, and stays in `held`. Throws Fault
// (unsupported) for a list or string.
executorch::runtime::EValue input(Value& value, std::vector<executorch::extension::TensorPtr>& held);

// An output of a method, copied.
Value output(const executorch::runtime::EValue& value);

}  // namespace assay::executorch_kernels
