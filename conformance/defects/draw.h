#pragma once

#include <deque>
#include <functional>
#include <random>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "conformance/cases/case.h"
#include "conformance/features/features.h"

namespace assay {

// Calls of an operator that nobody has made yet, drawn from its recorded calls and from given ones by changing them.
class Drawer {
 public:
  // The corpus outlives it.
  Drawer(const Corpus& corpus, const RecordedCalls& calls, std::uint64_t seed);

  void know(const CaseId& id) { known_.insert(to_text(id)); }  // it is not drawn

  // At most `count` calls with wanted features that were not drawn before, fewer where they are hard to find; most of
  // them close to `near`.
  std::vector<CaseId> draw(std::size_t count, std::span<const CaseId> near,
                           const std::function<bool(const Features&)>& wanted);

 private:
  struct Made {
    CaseId id;
    Features features;
    bool drawn = false;
  };
  CaseId changed(std::span<const CaseId> near);
  Int below(std::size_t n) { return static_cast<Int>(random_() % n); }

  const Corpus& corpus_;
  const RecordedCalls& calls_;
  std::mt19937_64 random_;
  std::set<std::string> known_;
  std::deque<Made> made_;  // to make a call takes longer than to look at it again
};

// The features of a case. Throws Fault as Corpus::make does.
Features features_of(const Corpus& corpus, const CaseId& id);

}  // namespace assay
