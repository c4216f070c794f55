#pragma once

#include <ostream>

#include "bench/judged.h"
#include "bench/measure.h"
#include "bench/statistics.h"
#include "conformance/text/json.h"

namespace assay::bench {

struct ProgramResult {
  std::string program, inputs_from;
  Tolerance tolerance;
  std::vector<Measurement> engines;  // the first is the one under test
  std::vector<Judged> judged;        // the verdict on each engine; empty if none was requested
};

struct Results {
  std::string processor, date;
  std::vector<int> processors;  // one a thread
  Effort effort;
  std::vector<ProgramResult> programs;
};

// How many times as long another engine takes as the one under test, over all programs that both run.
struct Race {
  std::string other;                        // "the best of them" for the fastest of each program
  std::vector<double> alternating, bursts;  // the medians of each program
};
std::vector<Race> races(const Results& results);

// All steps of a run that do the same operator by the same kernel.
struct OperatorTime {
  std::string op, kernel;
  std::size_t steps = 0;
  double seconds = 0;
};
// Sorted by time, longest first. Empty for an engine that does not report its steps.
std::vector<OperatorTime> operator_times(const Measurement& measurement);

void write_text(std::ostream& out, const Results& results);
Json to_json(const Results& results);
void write_html(std::ostream& out, const Results& results);  // one self-contained file

}  // namespace assay::bench
