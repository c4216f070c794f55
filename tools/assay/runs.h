#pragma once

#include <fstream>
#include <stdexcept>
#include <string>

#include "conformance/report/run_file.h"
#include "reference/fault.h"

namespace assay {

// The run that `assay kernels -o FILE` wrote. Throws Fault (malformed) with the file and the line.
inline RunFile open_run(const std::string& file) {
  std::ifstream lines(file);
  if (!lines) throw Fault(Outcome::malformed, "run.file", text(file, " cannot be read"));
  try {
    return read_run(lines);
  } catch (const std::invalid_argument& error) {
    throw Fault(Outcome::malformed, "run.line", text(file, ", ", error.what()));
  }
}

}  // namespace assay
