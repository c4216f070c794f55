#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/engines.h"
#include "bench/subject.h"
#include "conformance/files/compare.h"
#include "conformance/testee/binaries.h"

namespace assay::bench {

struct Effort {
  double seconds = 10;     // for the runs that alternate, and again for the bursts
  double most_of_one = 2;  // an engine whose first run takes more of them runs once
  unsigned seed = 1;       // the seed of the order in which engines are timed
};

// What one engine needed for one program. Times are in seconds.
struct Measurement {
  std::string contender, version;
  Digests binaries;
  Reply failure;  // ok where there is none; else what follows it is not known
  double load = 0, first = 0;
  // The most bytes while it was loaded and ran for the first time, beyond the bytes in use before.
  std::optional<Int> memory;
  bool once = false;
  // The times of alternating runs; all engines have equally many, except engines that fail or run once.
  std::vector<double> alternating;
  std::vector<double> bursts;
  std::vector<EngineStep> steps;  // where it tells of them: the median of each over several runs, in their order
  // The outputs of the first run, compared with the expected outputs or else with those of the first engine.
  std::vector<Comparison> outputs;
};

// Runs a call on several engines in this process. All of them are loaded one after the other and run once. Then they
// alternate: in each round every engine runs once, in random order, so that none finds its data in a cache. Then they
// take turns in bursts: an engine runs by itself, again and again, and its first run in a burst does not count. At
// last each runs step by step. `make` makes an engine of its name.
std::vector<Measurement> measure(const Subject& subject, std::span<const Contender> contenders, const Effort& effort,
                                 const std::function<std::unique_ptr<Engine>(const std::string&)>& make);

// How many times as long `other` took as `ours`, for each round; of one that ran once, that run by our median.
std::vector<double> ratios(const Measurement& ours, const Measurement& other);

}  // namespace assay::bench
