#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/cases/recorded.h"
#include "reference/operator.h"

// Calls that distinguish a mutant of an entry from the entry.
namespace assay::mutation {

using Arguments = std::vector<Value>;

// The result of checking a call by the rules of an operator while a mutant is switched on.
struct RulesAnswer {
  // Whether a rule refuses the call; a call that takes all memory does not count as refused.
  bool refused;
  std::string rule;  // the broken rule
  // The results that the entry promises if no outs are given. They have no bytes.
  std::vector<Tensor> results;
  bool operator==(const RulesAnswer& other) const;
};
RulesAnswer ask_rules(const Operator& op, Arguments arguments);

// Small recorded calls, and calls that are one or a few changes away from recorded valid calls: with other dtypes, with
// other conditions, at the limits of rules. Also calls around the calls that break a rule. Eager PyTorch has all their
// dtypes. No call occurs twice. Small calls come first.
std::vector<Arguments> calls_around(const Operator& op, const std::vector<RecordedCall>& recorded);

// The most calls that are recorded with eager PyTorch for one mutant. Eager PyTorch may answer some calls that the
// entry forbids.
inline constexpr std::size_t most_telling = 6;

// The findings about a mutant from calls that are not recorded. The object is in shared memory.
struct Evidence {
  // The number of calls in `at` that distinguish the mutant from the entry: one refuses the call and the other accepts
  // it, they promise different results, or the process ends.
  std::size_t telling = 0;
  std::array<std::size_t, most_telling + 1> at = {};  // these calls, followed by the call that is tried
  // The number of accepted calls with the same results as the entry gives.
  int valid = 0;
  // The number of calls with the dtype that the mutant adds or removes.
  int with_dtype = 0;
  // The number of calls with that dtype that an earlier rule refuses.
  int refused_before = 0;
  int masked = 0;                // the number of calls that another rule refuses instead
  std::array<char, 64> by = {};  // the id of the first of these other rules
};

// Makes the calls, beginning with the calls of `first`, until `wanted` calls distinguish the mutant from the original.
// Requires that the mutant is switched on. It may be in `rule`, and it may add `dtype` to a set or remove it. `answers`
// are the answers of the original entry.
void search(const Operator& op, const Rule* rule, std::optional<DType> dtype, const std::vector<Arguments>& calls,
            const std::vector<RulesAnswer>& answers, const std::vector<std::size_t>& first, std::size_t wanted,
            Evidence& evidence);

}  // namespace assay::mutation
