#pragma once

#include <vector>

#include "conformance/cases/case.h"
#include "conformance/judge/judge.h"
#include "reference/budget.h"

namespace assay::cases {

// A call as a host makes it, with outs, and the reference's answer.
struct HostCall {
  std::vector<Value> arguments;
  judge::Expectation expected;

  bool valid() const { return expected.answer.outcome == Outcome::ok; }
};

// The outs of a mutated call are those that the reference makes, or the recorded ones if the reference refuses. Whether
// the call is valid may depend on its outs, so the reference is asked again with them. Cases are small and many are
// made concurrently: a mutated case that exceeds `limits` is beyond the reference's limits.
HostCall host_call(const Case& c, const Budget::Limits& limits = {.bytes = Int{1} << 26});

}  // namespace assay::cases
