#pragma once

#include <filesystem>
#include <memory>

#include "conformance/testee/runtime.h"

namespace assay::scenarios {

// A runtime that replays results which were recorded on another machine. The file holds the results;
// spec/runtime_suite.md defines its format. Throws Fault (malformed, "results").
std::unique_ptr<testee::Runtime> make_results(const std::filesystem::path& file);

}  // namespace assay::scenarios
