#pragma once

#include <memory>

#include "conformance/testees/runtime.h"

namespace assay {

// assay's own optimized runtime, with the reference as its fallback unless `deployable`.
std::unique_ptr<Runtime> make_optimized_runtime(bool deployable = false);

}  // namespace assay
