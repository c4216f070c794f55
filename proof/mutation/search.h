#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/cases/recorded.h"
#include "reference/operator.h"

// Calls that tell a mutant of an entry from the entry.
namespace assay::mutation {

using Arguments = std::vector<Value>;

// What the rules of an operator, with the mutant that is switched on, give for a call.
struct RulesAnswer {
  // Whether a rule refuses the call; a call that takes all memory does not count as refused.
  bool refused;
  std::string rule;             // the broken rule
  std::vector<Tensor> results;  // the results that are promised where no outs are given, without bytes
  bool operator==(const RulesAnswer& other) const;
};
RulesAnswer ask_rules(const Operator& op, Arguments arguments);

// Small recorded calls, and calls that are one or a few changes away from recorded valid calls: with other dtypes, with
// other conditions, at the limits of rules. Also calls around those that break a rule. Eager has all their dtypes. No
// call is there twice; small calls come first.
std::vector<Arguments> calls_around(const Operator& op, const std::vector<RecordedCall>& recorded);

// The most calls that are recorded with eager PyTorch for one mutant. Eager PyTorch may answer some calls that the
// entry forbids.
inline constexpr std::size_t most_telling = 6;

// What is found of a mutant on calls that are not recorded. It lies in shared memory.
struct Evidence {
  std::size_t telling = 0;  // how many of `at` tell the mutant from the entry: one refuses them and the other accepts
                            // them, they promise different results, or the process ends
  std::array<std::size_t, most_telling + 1> at = {};  // these calls; behind them the call that is tried
  int valid = 0;                                      // calls that are accepted, with the same results as by the entry
  int with_dtype = 0;                                 // calls with the dtype that the mutant adds or removes
  // The number of calls with that dtype that an earlier rule refuses.
  int refused_before = 0;
  int masked = 0;                // the number of calls that another rule refuses instead
  std::array<char, 64> by = {};  // the first of these other rules
};

// Makes the calls, beginning with the calls of `first`, until `wanted` calls distinguish the mutant from the original.
// Requires that the mutant is switched on. It may be in `rule`, and it may add `dtype` to a set or remove it. `answers`
// are the answers of the original entry.
void search(const Operator& op, const Rule* rule, std::optional<DType> dtype, const std::vector<Arguments>& calls,
            const std::vector<RulesAnswer>& answers, const std::vector<std::size_t>& first, std::size_t wanted,
            Evidence& evidence);

}  // namespace assay::mutation
