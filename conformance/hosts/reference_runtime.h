#pragma once

#include <memory>

#include "conformance/testee/runtime.h"

namespace assay::hosts {

// The reference behind the interface of a runtime under test.
std::unique_ptr<testee::Runtime> make_reference_runtime();

}  // namespace assay::hosts
