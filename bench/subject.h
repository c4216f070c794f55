#pragma once

#include <optional>

#include "conformance/files/compare.h"
#include "conformance/testee/engine.h"

namespace assay::bench {

// A call that is timed: that of the file calls.json beside the program, else one with random inputs.
struct Subject {
  EngineSettings settings;  // of the program
  std::string inputs_from;  // in words
  std::vector<Value> inputs;
  std::optional<std::vector<Value>> expected;
  Tolerance tolerance{1e-4, 1e-5};  // as recorded programs of float32 have it
};

// Throws Fault where the program is not valid, and where it wants what cannot be made up.
Subject subject_of(const std::filesystem::path& program);

}  // namespace assay::bench
