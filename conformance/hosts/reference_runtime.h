#pragma once

#include <memory>

#include "conformance/testee/runtime.h"

namespace assay {

// The reference behind the interface of a runtime under test.
std::unique_ptr<Runtime> make_reference_runtime();

}  // namespace assay
