#pragma once

#include <optional>

#include "conformance/files/compare.h"
#include "conformance/testee/engine.h"

namespace assay::bench {

// A call that is timed. It is taken from the file calls.json beside the program; if there is none, it has random
// inputs.
struct Subject {
  EngineSettings settings;  // how the program is loaded
  std::string inputs_from;  // a sentence that tells where the inputs come from
  std::vector<Value> inputs;
  std::optional<std::vector<Value>> expected;
  Tolerance tolerance{1e-4, 1e-5};  // the tolerance of recorded programs of float32
};

// Throws Fault if the program is not valid, or if it needs an input that cannot be generated.
Subject subject_of(const std::filesystem::path& program);

}  // namespace assay::bench
