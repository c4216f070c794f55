#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "conformance/cases/recorded.h"
#include "reference/call.h"

// What the recorded calls of an operator cover, and a few calls that are good examples.
namespace assay {

struct CallExample {
  std::uint32_t digest = 0;
  RecordedCall call;
  Answer answer;  // the reference's, to a call that eager refused
};

struct CallCoverage {
  Int calls = 0, refused = 0;
  std::set<std::string> dtypes, layouts;  // the dtypes and layouts of tensors in the calls that eager answered
  Int largest_result = 0;                 // the number of elements of the largest result tensor
  std::map<std::string, Int, std::less<>>
      rules;  // the number of calls that eager refused, by the rule that the reference names

  // For each of the `kinds` most frequent combinations of dtypes: the shortest call that eager answered; then the
  // shortest with a NaN or an infinity; then for each rule the shortest call that eager refused, the rules of the entry
  // first, in its order.
  std::vector<CallExample> examples;
};

CallCoverage call_coverage(const RecordedCalls& calls, std::size_t kinds = 3);

}  // namespace assay
