#pragma once

#include <filesystem>
#include <memory>

#include "conformance/testee/runtime.h"

namespace assay {

// A runtime that answers as one did elsewhere, of which this file has the results: spec/runtime_suite.md says what it
// is. Throws Fault (malformed, "results").
std::unique_ptr<Runtime> make_results(const std::filesystem::path& file);

}  // namespace assay
