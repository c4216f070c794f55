#pragma once

#include <algorithm>
#include <functional>
#include <iterator>
#include <optional>
#include <random>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "conformance/cases/case.h"
#include "conformance/contract/contract.h"
#include "conformance/features/features.h"

namespace assay {

// A case and what can be said of its call.
struct DescribedCase {
  CaseId id;
  Features features;
  Promise promise;
};

// Promised calls of an operator that nobody has made yet, drawn from its recorded calls and from given ones by changing
// them.
class Drawer {
 public:
  // The corpus and the contract outlive it.
  Drawer(const Corpus& corpus, const Contract& contract, const RecordedCalls& calls);

  // The features of a case, whose call is not drawn. Throws Fault as Corpus::make does.
  Features know(const CaseId& id);

  // At most `count` calls with wanted features that were not drawn before and that differ from one another and from all
  // that are known, fewer where they are hard to find; most of them close to `near`.
  std::vector<DescribedCase> draw(std::size_t count, std::span<const CaseId> near,
                                  const std::function<bool(const Features&)>& wanted);
  void put_back(std::vector<DescribedCase> unused) { std::ranges::move(unused, std::back_inserter(left_)); }

 private:
  CaseId changed(std::span<const CaseId> near);
  const std::vector<Mutation>& kept_outs(const CaseId& recorded);
  std::optional<DescribedCase> made_first(CaseId id);
  std::uint64_t digest_of(std::span<const Value> arguments) const;
  Int below(std::size_t n) { return static_cast<Int>(random_() % n); }

  const Corpus& corpus_;
  const Contract& contract_;
  const RecordedCalls& calls_;
  std::mt19937_64 random_;
  std::unordered_set<std::string> tried_;                               // ids
  std::unordered_set<std::uint64_t> mutated_;                           // digests of calls as they were mutated
  std::unordered_set<std::uint64_t> made_;                              // and as a host makes them
  std::unordered_map<std::uint32_t, std::vector<Mutation>> kept_outs_;  // of recorded calls
  std::vector<DescribedCase> left_;  // not drawn yet: to make a call takes longer than to look at it again
};

}  // namespace assay
