#pragma once

#include <algorithm>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "conformance/cases/case.h"
#include "conformance/contract/contract.h"
#include "conformance/features/features.h"
#include "conformance/sandbox/child.h"

namespace assay::defects {

// The limits of a drawn call: memory and work of the reference, and time of the testee. They are small because many
// calls are made.
inline constexpr Budget::Limits small_call{.bytes = Int{1} << 18, .work = Int{1} << 22};
inline sandbox::TimeLimit hurried(sandbox::TimeLimit of_a_case) {
  of_a_case.processor /= 100, of_a_case.wall /= 100;
  return of_a_case;
}

// A case with the features of its call.
struct DescribedCase {
  cases::CaseId id;
  features::Features features;
  contract::Promise promise;
  std::shared_ptr<const cases::HostCall> call;
};

// Draws new promised calls of an operator by changing its recorded calls and given calls. No call is drawn twice.
class Drawer {
 public:
  // The corpus and the contract outlive the drawer.
  Drawer(const cases::Corpus& corpus, const contract::Contract& contract, const cases::RecordedCalls& calls);

  // Registers a case, so that its call is not drawn, and returns its features. Throws Fault as Corpus::make does.
  features::Features know(const cases::Case& made, const cases::HostCall& call);

  // At most `count` new promised calls that differ from a case in one argument. Up to a third of them have plain
  // numbers in place of special ones; the others change each argument about equally often.
  std::vector<DescribedCase> neighbours(const cases::CaseId& of, std::size_t count);

  // At most `count` new promised calls with wanted features that differ from a case in one argument.
  std::vector<DescribedCase> changed_in_one(const cases::CaseId& of, std::size_t count,
                                            const std::function<bool(const features::Features&)>& wanted);

  // Draws at most `count` calls with wanted features, most of them close to `near`. The calls differ from one another,
  // from all earlier draws and from all registered cases. Returns fewer calls if they are hard to find.
  std::vector<DescribedCase> draw(std::size_t count, std::span<const cases::CaseId> near,
                                  const std::function<bool(const DescribedCase&)>& wanted);
  void put_back(std::vector<DescribedCase> unused) { std::ranges::move(unused, std::back_inserter(left_)); }

 private:
  cases::CaseId changed(std::span<const cases::CaseId> near);
  const std::vector<cases::Mutation>& kept_outs(const cases::CaseId& recorded);
  std::optional<DescribedCase> made_first(cases::CaseId id);
  std::uint64_t digest_of(std::span<const Value> arguments) const;
  Int below(std::size_t n) { return static_cast<Int>(random_() % n); }

  const cases::Corpus& corpus_;
  const contract::Contract& contract_;
  const cases::RecordedCalls& calls_;
  std::mt19937_64 random_;
  std::unordered_set<std::string> tried_;                                      // ids of cases
  std::unordered_set<std::uint64_t> mutated_;                                  // digests of calls after their mutations
  std::unordered_set<std::uint64_t> made_;                                     // digests of calls as a host makes them
  std::unordered_map<std::uint32_t, std::vector<cases::Mutation>> kept_outs_;  // by recorded call
  std::vector<DescribedCase> left_;  // made but not drawn yet; making a call costs more than checking it again
};

}  // namespace assay::defects
