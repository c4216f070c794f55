#pragma once

#include <executorch/extension/tensor/tensor_ptr.h>
#include <executorch/runtime/core/evalue.h>

#include <vector>

#include "reference/value.h"

namespace assay::executorch_kernels {

// Makes an input of a method from a value. A tensor refers to the value's own bytes; `held` keeps it alive. Throws
// Fault (unsupported) for a list or string.
executorch::runtime::EValue input(Value& value, std::vector<executorch::extension::TensorPtr>& held);

// Copies an output of a method.
Value output(const executorch::runtime::EValue& value);

}  // namespace assay::executorch_kernels
