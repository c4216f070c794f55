#pragma once

#include <fstream>
#include <stdexcept>
#include <string>

#include "conformance/verdict/run_file.h"
#include "reference/fault.h"

namespace assay::command {

// Reads the run that `assay kernels -o FILE` wrote. Throws Fault (malformed) with the file's name: run.file if it
// cannot be read, run.line with the number of a wrong line, run.empty if it has no line, run.counts if the counts do
// not add up.
inline verdict::RunFile open_run(const std::string& file) {
  std::ifstream lines(file);
  if (!lines) throw Fault(Outcome::malformed, "run.file", concat(file, " cannot be read"));
  try {
    verdict::RunFile run = verdict::read_run(lines);
    if (run.header.empty() && run.records.empty())
      throw Fault(Outcome::malformed, "run.empty", concat(file, " has no line of a run"));
    if (const std::string wrong = verdict::miscounted(run); !wrong.empty())
      throw Fault(Outcome::malformed, "run.counts", concat(file, ": ", wrong));
    return run;
  } catch (const std::invalid_argument& error) {
    throw Fault(Outcome::malformed, "run.line", concat(file, ", ", error.what()));
  }
}

}  // namespace assay::command
