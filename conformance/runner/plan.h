#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "conformance/runner/case_runner.h"

namespace assay {

struct SuiteOptions {
  std::string operators;        // a pattern, see matches(); empty means all operators
  std::uint64_t seed = 1;       // the seed of the mutations
  std::size_t mutations = 100;  // the number of mutated calls for each operator
  int workers = 2;              // the number of processors that cases run on
  std::optional<std::uint64_t> shuffle;
  bool thorough = false;  // calls are repeated under harder conditions
};

// The blocks of a run. Each operator has its recorded calls, a case that breaks each rule, and mutated calls; each case
// occurs once, ordered by id. `shuffled`: the same blocks with the same cases, in another order.
std::vector<Block> plan_blocks(const Corpus& corpus, const SuiteOptions& options, bool recorded_only);

// The blocks of the listed cases; each case occurs once.
std::vector<Block> blocks_of(const std::set<std::string>& ids);

}  // namespace assay
