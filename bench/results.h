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
  std::vector<int> processors;  // one processor for each thread
  Effort effort;
  std::vector<ProgramResult> programs;
};

// The time of another engine divided by the time of the engine under test, over all programs that both run.
struct Race {
  // The other engine; "the best of them" means the fastest engine for each program.
  std::string other;
  std::vector<double> alternating, bursts;  // the medians for each program
};
std::vector<Race> races(const Results& results);

// All steps of a run that compute the same operator by the same kernel.
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
