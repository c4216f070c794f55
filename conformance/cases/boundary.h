#pragma once

#include <functional>
#include <vector>

#include "conformance/cases/case.h"

namespace assay {

// A call at the boundary of a rule. Its out arguments are None unless the rule is about an out.
struct BoundaryCall {
  const Rule* rule;
  bool outside;  // whether it breaks the rule; if not, it is valid and one step away from a call that breaks the rule
  std::vector<Value> arguments;
};

// An integer of a call that can be changed: an argument, an entry or the length of a list, a size, the number of
// dimensions or the first element of a tensor. `set` returns whether the call can have that value.
struct Line {
  Int start;
  std::function<bool(std::vector<Value>&, Int)> set;
};
std::vector<Line> lines_of(const Operator& op, const std::vector<Value>& arguments, std::size_t argument);

// The calls just inside and just outside of each rule that a change of a recorded valid call breaks. An integer (an
// argument, an entry or the length of a list, a size, a number of dimensions, an index) is moved to where one more
// breaks the rule and one less does not. Every other dtype is tried. For unordered values one is found that breaks the
// rule.
std::vector<BoundaryCall> boundary_calls(const Corpus& corpus, const RecordedCalls& calls);

}  // namespace assay
