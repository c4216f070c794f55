#pragma once

#include <optional>
#include <vector>

#include "reference/runtime/runtime.h"

namespace assay {

// Plausible inputs of a method: tensors of the declared sizes with small numbers, which are also valid as indices; for
// other inputs, the value in the program. Returns nothing if the tensor is too large to be generated.
std::vector<std::optional<Value>> some_inputs(const Method& method);

}  // namespace assay
