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

// A case with the features of its call.
struct DescribedCase {
  CaseId id;
  Features features;
  Promise promise;
};

// Draws new promised calls of an operator by changing its recorded calls and given calls. No call is drawn twice.
class Drawer {
 public:
  // The corpus and the contract outlive the drawer.
  Drawer(const Corpus& corpus, const Contract& contract, const RecordedCalls& calls);

  // Registers a case, so that its call is not drawn, and returns its features. Throws Fault as Corpus::make does.
  Features know(const Case& made, const HostCall& call);

  // At most `count` new promised calls that differ from a case in one argument, of each argument about as many.
  std::vector<DescribedCase> neighbours(const CaseId& of, std::size_t count);

  // Draws at most `count` calls with wanted features, most of them close to `near`. The calls differ from one another,
  // from all earlier draws and from all registered cases. Returns fewer calls if they are hard to find.
  std::vector<DescribedCase> draw(std::size_t count, std::span<const CaseId> near,
                                  const std::function<bool(const DescribedCase&)>& wanted);
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
  std::unordered_set<std::string> tried_;                               // ids of cases
  std::unordered_set<std::uint64_t> mutated_;                           // digests of calls after their mutations
  std::unordered_set<std::uint64_t> made_;                              // digests of calls as a host makes them
  std::unordered_map<std::uint32_t, std::vector<Mutation>> kept_outs_;  // by recorded call
  std::vector<DescribedCase> left_;  // made but not drawn yet; making a call costs more than checking it again
};

}  // namespace assay
