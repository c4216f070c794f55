#pragma once

#include <optional>
#include <vector>

#include "reference/runtime/runtime.h"

namespace assay {

// What any caller would give a method: tensors of the declared sizes with small numbers, which may be indices; else the
// value in the program. None: the tensor is too large to be worth it.
std::vector<std::optional<Value>> some_inputs(const Method& method);

}  // namespace assay
