#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "conformance/runner/case_runner.h"

namespace assay::runner {

struct SuiteOptions {
  std::string operators;        // a pattern, see matches(); empty means all operators
  std::uint64_t seed = 1;       // the seed of the mutations
  std::size_t mutations = 100;  // the number of mutated calls for each operator; 0: neither these nor made cases
  int workers = 2;              // the number of processors that cases run on
  std::optional<std::uint64_t> shuffle;
  bool thorough = false;  // calls are repeated under harder conditions
};

// The blocks of a run. Each operator has its recorded calls, a case that breaks each rule, mutated calls, and made
// cases (Corpus::made_cases); each case occurs once, ordered by id. `shuffled`: the same blocks with the same cases, in
// another order.
// `has` tells which operators a run without a pattern judges; null: all.
std::vector<Block> plan_blocks(const cases::Corpus& corpus, const SuiteOptions& options, bool recorded_only,
                               const std::function<bool(const Operator&)>& has = {});

// The blocks of the listed cases; each case occurs once.
std::vector<Block> blocks_of(const std::set<std::string>& ids);

}  // namespace assay::runner
