#pragma once

#include <vector>

#include "conformance/cases/case.h"
#include "conformance/judge/judge.h"
#include "reference/budget.h"

namespace assay {

// A call as a host makes it, with outs, and what the reference says to it.
struct HostCall {
  std::vector<Value> arguments;
  Expectation expected;

  bool valid() const { return expected.answer.outcome == Outcome::ok; }
};

// Outs that a mutated call leaves open are as the reference makes them, as recorded where it refuses. Whether the call
// is valid may depend on them, so the reference is asked again with those. Cases are small, and many are made at the
// same time: a mutated one that asks for more is beyond the reference's limits.
HostCall host_call(const Case& c, const Budget::Limits& limits = {.bytes = Int{1} << 26});

}  // namespace assay
