#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "conformance/cases/recorded.h"
#include "reference/call.h"

// What the recorded calls of an operator try, and the few of them that show most.
namespace assay {

struct CallExample {
  std::uint32_t digest = 0;
  RecordedCall call;
  Answer answer;  // the reference's, to a call that eager refused
};

struct CallCoverage {
  Int calls = 0, refused = 0;
  std::set<std::string> dtypes, layouts;          // of the tensors of calls that eager answered
  Int largest_result = 0;                         // elements of one tensor
  std::map<std::string, Int, std::less<>> rules;  // how many calls eager refused for which the reference names the rule

  // Of calls that eager answered, the shortest for each of the `kinds` combinations of dtypes that most calls have, and
  // the shortest with a NaN or an infinity; then the shortest that eager refused for each rule, those of the entry
  // first, in its order.
  std::vector<CallExample> examples;
};

CallCoverage call_coverage(const RecordedCalls& calls, std::size_t kinds = 3);

}  // namespace assay
