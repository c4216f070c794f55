#pragma once

#include <memory>
#include <string>

#include "conformance/testees/runtime.h"

namespace assay {

// assay's own optimized runtime, with the reference as its fallback, for an instruction set; empty: the machine's best.
std::unique_ptr<Runtime> make_optimized_runtime(const std::string& instruction_set = "");

}  // namespace assay
