#pragma once

#include <memory>
#include <string_view>

#include "conformance/testee/runtime.h"

namespace assay {

// A runtime that starts a command for each call of a program, as for the official executor_runner:
// spec/runtime_suite.md, "Level 0". Throws Fault (invalid, testee) if the line names no command.
std::unique_ptr<Runtime> make_command_runtime(std::string_view command_line);

}  // namespace assay
