#pragma once

#include <optional>

#include "conformance/files/compare.h"
#include "conformance/hosts/program_at_path.h"
#include "conformance/testee/engine.h"

namespace assay::bench {

// A call that is timed. It is the first of the calls that come with the program (hosts::calls_given_with), else a call
// with random inputs.
struct Subject {
  testee::EngineSettings settings;  // how the program is loaded; `program` is the file that the user named
  hosts::ProgramAtPath program;     // what an engine loads in place of that file, unless it has a file of its own
  std::string inputs_from;          // a sentence that tells where the inputs come from
  std::vector<Value> inputs;
  std::optional<std::vector<Value>> expected;
  files::Tolerance tolerance{1e-4, 1e-5};  // the tolerance of recorded programs of float32
};

// Throws Fault if the program is not valid, or if it needs an input that cannot be generated.
Subject subject_of(const std::filesystem::path& program);

}  // namespace assay::bench
