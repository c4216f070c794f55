#pragma once

#include <memory>
#include <optional>

#include "conformance/cases/case.h"

namespace assay {

// Searches for a simpler case that fails like a given case. It undoes mutations one by one and simplifies the rest.
// Requires that answer() is called for each candidate before the next candidate is requested.
class Shrinker {
 public:
  explicit Shrinker(const CaseId& failing);
  ~Shrinker();
  Shrinker(Shrinker&&) noexcept;
  std::optional<CaseId> next();     // the next candidate; none if there is no simpler case
  void answer(bool fails_as_well);  // whether the last candidate fails in the same way

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace assay
