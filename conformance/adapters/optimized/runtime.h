#pragma once

#include <memory>

#include "conformance/adapters/optimized/testee.h"
#include "conformance/testee/runtime.h"

namespace assay::adapters {

// assay's optimized runtime. The reference words its refusals.
std::unique_ptr<testee::Runtime> make_optimized_runtime(const OptimizedTestee& testee = {});

}  // namespace assay::adapters
