#include "proof/mutation/eager.h"

#include <utility>

namespace assay::mutation {

std::vector<RecordedCalls> recorded_in(std::span<const std::string> folders) {
  std::vector<RecordedCalls> all;
  for (const std::string& folder : folders)
    for (RecordedCalls& calls : RecordedCalls::read_all(recorded_files(folder))) all.push_back(std::move(calls));
  return all;
}

Reaction reaction_of(const RecordedCall& recorded) {
  Reaction eager;
  eager.outcome = recorded.refused ? Outcome::invalid : Outcome::ok;
  eager.outs = recorded.results, eager.has_values = recorded.has_values;
  return eager;
}

bool is_right(const Operator& op, const RecordedCall& recorded, const Expectation& expected, const Reaction& reaction) {
  const Verdict verdict = judge(op, recorded.arguments, expected, reaction).verdict;
  return verdict == Verdict::pass || verdict == Verdict::quality;
}

}  // namespace assay::mutation
