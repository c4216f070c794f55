#pragma once

#include <string>

#include "bench/measure.h"
#include "conformance/verdict/run_file.h"

namespace assay::bench {

// The verdict of the conformance suite on the binaries that were timed.
struct Judged {
  bool passes = false;
  std::string sentence;
  std::string verdicts = {};  // the digest of the run's verdicts, as spec/verdicts.md defines it
};

// Takes the verdict of the first run that judged binaries with exactly these bytes.
Judged judged(const Measurement& measured, const std::vector<RunFile>& runs);

}  // namespace assay::bench
