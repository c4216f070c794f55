#pragma once

#include <string>

#include "bench/measure.h"
#include "conformance/verdict/run_file.h"

namespace assay::bench {

// What the conformance suite says of the binaries whose time was taken.
struct Judged {
  bool passes = false;
  std::string sentence;
  std::string verdicts = {};  // the digest of the run's, as spec/verdicts.md has it
};

// By the first of the runs that judged exactly these bytes.
Judged judged(const Measurement& measured, const std::vector<RunFile>& runs);

}  // namespace assay::bench
