#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "conformance/runner/case_runner.h"

namespace assay {

struct SuiteOptions {
  std::string operators;        // a pattern, see matches(); empty: all
  std::uint64_t seed = 1;       // of the mutations
  std::size_t mutations = 100;  // mutated calls for each operator
  int workers = 2;              // processors that cases run on
  std::optional<std::uint64_t> shuffle;
  bool thorough = false;  // calls are made under harder circumstances, too
};

// The blocks of a run: of each operator its recorded calls, a case that breaks each rule and mutated calls, each case
// once, ordered by id. Shuffled, the same blocks and the same cases in each come in another order.
std::vector<Block> plan_blocks(const Corpus& corpus, const SuiteOptions& options, bool recorded_only);

// The blocks of listed cases, each once.
std::vector<Block> blocks_of(const std::set<std::string>& ids);

}  // namespace assay
