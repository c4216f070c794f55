#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "conformance/cases/case.h"

namespace assay {

// `count` mutated calls of an operator, drawn from its recorded calls. The same seed gives the same cases, whatever
// other operators are run.
std::vector<CaseId> generated_cases(const RecordedCalls& calls, std::uint64_t seed, std::size_t count);

// Searches a simpler case that fails as a given one does: mutations are taken back one by one, what remains is made
// simpler. Give it the answer to each candidate before asking for the next.
class Shrinking {
 public:
  explicit Shrinking(const CaseId& failing);
  ~Shrinking();
  Shrinking(Shrinking&&) noexcept;
  std::optional<CaseId> next();     // the next candidate, none when there is no simpler one
  void answer(bool fails_as_well);  // to the last candidate

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace assay
