#include "proof/mutation/eager.h"

#include <utility>

namespace assay::mutation {

std::vector<cases::RecordedCalls> recorded_in(std::span<const std::string> folders) {
  std::vector<cases::RecordedCalls> all;
  for (const std::string& folder : folders)
    for (cases::RecordedCalls& calls : cases::RecordedCalls::read_all(cases::recorded_files(folder)))
      all.push_back(std::move(calls));
  return all;
}

judge::Reaction reaction_of(const cases::RecordedCall& recorded) {
  judge::Reaction eager;
  eager.outcome = recorded.refused ? Outcome::invalid : Outcome::ok;
  eager.outs = recorded.results, eager.has_values = recorded.has_values;
  return eager;
}

bool is_right(const Operator& op, const cases::RecordedCall& recorded, const judge::Expectation& expected,
              const judge::Reaction& reaction) {
  const verdict::Verdict verdict = judge::judge(op, recorded.arguments, expected, reaction).verdict;
  return verdict == verdict::Verdict::pass || verdict == verdict::Verdict::quality;
}

}  // namespace assay::mutation
