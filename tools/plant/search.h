#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/cases/recorded.h"
#include "reference/operator.h"

namespace assay {

// What the reference, as it is now, says to a call, by its rules.
struct Saying {
  bool refused;                 // by a rule; what takes all memory is not
  std::string rule;             // that is broken
  std::vector<Tensor> results;  // promised where no outs are given, without bytes
  bool operator==(const Saying& other) const;
};
Saying say(const Operator& op, std::vector<Value> arguments);

// Calls around recorded valid ones, a change or a few away from them, and small recorded ones, none of them twice,
// small ones first: of those, too, in which other conditions hold, at the limits that rules state, and of every dtype;
// and around calls that break a rule. Eager has all their dtypes.
std::vector<std::vector<Value>> calls_around(const Operator& op, const std::vector<RecordedCall>& recorded);

// Calls that eager is asked for a fault, at most: it may answer some as the entry forbids.
inline constexpr std::size_t most_tellers = 6;

// What is seen of a fault on calls that are not recorded, in memory that is shared with the child that looks.
struct Sight {
  std::size_t told = 0;  // how many of `at` tell: the reference with the fault refuses or accepts them, or
                         // promises other results, against that without; or the process ends there
  std::array<std::size_t, most_tellers + 1> at = {};  // those, and behind them the one that is looked at
  int valid = 0;                                      // calls that it answers as without the fault
  int having = 0;                                     // calls with the dtype that the fault is in
  int before = 0;                                     // those of them that an earlier rule refuses
  int masked = 0;                                     // calls for which it only names another rule
  std::array<char, 64> by = {};                       // that rule or earlier one, the first of them
};

// Looks until as many calls tell as are wanted; `said` is what is said to each call without the fault, which is there
// now: in this rule where it is in one, in this dtype where it is in a set. Calls of `first` are looked at before the
// others.
void look(const Operator& op, const Rule* rule, std::optional<DType> dtype,
          const std::vector<std::vector<Value>>& calls, const std::vector<Saying>& said,
          const std::vector<std::size_t>& first, std::size_t wanted, Sight& sight);

}  // namespace assay
