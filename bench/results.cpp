#include "bench/results.h"

#include <algorithm>
#include <functional>
#include <map>

namespace assay::bench {
namespace {

double median(const std::vector<double>& values) { return spread_of(values).median; }

// The ratio of the times in bursts. Empty for an engine that ran only once.
std::optional<double> ratio_of_bursts(const Measurement& ours, const Measurement& other) {
  if (ours.bursts.empty() || other.bursts.empty()) return std::nullopt;
  return median(other.bursts) / median(ours.bursts);
}

bool both_run(const Measurement& ours, const Measurement& other) {
  return ours.failure.outcome == Outcome::ok && other.failure.outcome == Outcome::ok && !ratios(ours, other).empty();
}

// The smallest of them, the fastest engine's.
void keep_least(std::optional<double>& least, double ratio) { least = std::min(least.value_or(ratio), ratio); }

}  // namespace

std::vector<Race> races(const Results& results) {
  if (results.programs.empty()) return {};
  std::vector<Race> all;
  for (const Measurement& engine : results.programs.front().engines) all.push_back({engine.contender, {}, {}});
  Race best{"the best of them", {}, {}};
  for (const ProgramResult& program : results.programs) {
    std::optional<double> alternating, bursts;
    const Measurement& ours = program.engines.front();
    for (std::size_t i = 1; i < program.engines.size(); ++i) {
      const Measurement& other = program.engines[i];
      if (!both_run(ours, other)) continue;
      all[i].alternating.push_back(median(ratios(ours, other)));
      keep_least(alternating, all[i].alternating.back());
      if (const auto ratio = ratio_of_bursts(ours, other)) {
        all[i].bursts.push_back(*ratio);
        keep_least(bursts, *ratio);
      }
    }
    if (alternating) best.alternating.push_back(*alternating);
    if (bursts) best.bursts.push_back(*bursts);
  }
  all.erase(all.begin());
  if (all.size() > 1) all.push_back(best);
  return all;
}

std::vector<OperatorTime> operator_times(const Measurement& measurement) {
  std::map<std::pair<std::string, std::string>, OperatorTime> all;
  for (const testee::EngineStep& step : measurement.steps) {
    OperatorTime& time = all[{step.op, step.kernel}];
    time.op = step.op, time.kernel = step.kernel;
    ++time.steps, time.seconds += step.seconds;
  }
  std::vector<OperatorTime> sorted;
  for (auto& [key, time] : all) sorted.push_back(std::move(time));
  std::ranges::stable_sort(sorted, std::greater(), &OperatorTime::seconds);
  return sorted;
}

}  // namespace assay::bench
