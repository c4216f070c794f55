#pragma once

#include <functional>
#include <vector>

#include "conformance/cases/case.h"

namespace assay {

// A call at the boundary of a rule; its out arguments are None unless the rule is about one.
struct BoundaryCall {
  const Rule* rule;
  bool outside;  // it breaks the rule; else it is valid, and a step away from one that does
  std::vector<Value> arguments;
};

// An integer of a call that can be another: an argument, an entry or the length of a list, a size, a number of
// dimensions or the first element of a tensor. `set` says whether it can be that one.
struct Line {
  Int start;
  std::function<bool(std::vector<Value>&, Int)> set;
};
std::vector<Line> lines_of(const Operator& op, const std::vector<Value>& arguments, std::size_t argument);

// For each rule that a change of a recorded valid call breaks: calls just outside and just inside of it. An integer (an
// argument, an entry or the length of a list, a size, a number of dimensions, an index) is taken to where one more
// breaks the rule and one less does not; of a dtype every other one is tried; of what has no order one that breaks it.
std::vector<BoundaryCall> boundary_calls(const Corpus& corpus, const RecordedCalls& calls);

}  // namespace assay
