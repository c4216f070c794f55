#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "conformance/cases/case.h"

namespace assay {

// `count` mutated calls of an operator, drawn from its recorded calls. The same seed gives the same cases, independent
// of the other operators of the run.
std::vector<CaseId> generated_cases(const RecordedCalls& calls, std::uint64_t seed, std::size_t count);

// Searches for a simpler case that fails like a given case. It undoes mutations one by one and simplifies the rest.
// Call answer() for each candidate before the next.
class Shrinking {
 public:
  explicit Shrinking(const CaseId& failing);
  ~Shrinking();
  Shrinking(Shrinking&&) noexcept;
  std::optional<CaseId> next();     // the next candidate; none if there is no simpler case
  void answer(bool fails_as_well);  // whether the last candidate fails in the same way

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace assay
