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
  double most_of_one = 2;  // an engine whose first run takes more seconds runs only once
  unsigned seed = 1;       // the seed of the order in which engines are timed
};

// The times and the memory of one engine for one program. Times are in seconds.
struct Measurement {
  std::string contender, version;
  testee::Digests binaries;
  // What measured the times, if the engine computes outside of this process; else empty.
  std::string clock;
  bool counts_time = true;  // false if the clock of an emulator counts instructions
  testee::Reply failure;    // ok if the engine did not fail; else the members below are not known
  double load = 0, first = 0;
  // The most bytes while it was loaded and ran for the first time, beyond the bytes in use before. For an engine
  // outside of this process: the most bytes that it reported.
  std::optional<Int> memory;
  bool once = false;
  // The times of alternating runs; all engines have equally many, except engines that fail or run once.
  std::vector<double> alternating;
  // The times of runs in bursts. Of short runs, each time is the mean of several.
  std::vector<double> bursts;
  // If the engine reports its steps: the median time of each step over several runs, in the order of the steps.
  std::vector<testee::EngineStep> steps;
  // The outputs of the first run, compared with the expected outputs or else with those of the first engine.
  std::vector<files::Comparison> outputs;
};

// Runs a call on several engines in this process. All of them are loaded one after the other and run once. Then they
// alternate: in each round every engine runs once, in random order, so that none finds its data in a cache. Then they
// take turns in bursts: an engine runs by itself, again and again, and its first run in a burst does not count. At last
// each runs step by step. `make` makes an engine from its name.
std::vector<Measurement> measure(const Subject& subject, std::span<const Contender> contenders, const Effort& effort,
                                 const std::function<std::unique_ptr<testee::Engine>(const std::string&)>& make);

// For each round, the time of `other` divided by the time of `ours`. If `other` ran only once, the time of that run
// divided by the median of `ours`. Empty if one of them was not measured in time.
std::vector<double> ratios(const Measurement& ours, const Measurement& other);

}  // namespace assay::bench
