#pragma once

#include <memory>
#include <string_view>

#include "conformance/testee/runtime.h"

namespace assay {

// A command that runs one call of a program and ends, as the official executor_runner does, behind the interface of a
// runtime: spec/runtime_suite.md, "Level 0". Throws Fault (invalid, testee) where the line names no command.
std::unique_ptr<Runtime> make_runner_runtime(std::string_view command_line);

}  // namespace assay
