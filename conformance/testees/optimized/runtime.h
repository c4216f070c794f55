#pragma once

#include <memory>

#include "conformance/testees/optimized/testee.h"
#include "conformance/testees/runtime.h"

namespace assay {

// assay's own optimized runtime, with the reference as its fallback.
std::unique_ptr<Runtime> make_optimized_runtime(const OptimizedTestee& testee = {});

}  // namespace assay
