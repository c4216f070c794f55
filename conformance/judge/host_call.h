#pragma once

#include <vector>

#include "conformance/cases/case.h"
#include "conformance/judge/judge.h"

namespace assay {

// A call as a host makes it, with outs, and what the reference says to it.
struct HostCall {
  std::vector<Value> arguments;
  Expectation expected;

  bool valid() const { return expected.answer.outcome == Outcome::ok; }
};

// Outs that a mutated call leaves open are as the reference makes them, as recorded where it refuses. Whether the call
// is valid may depend on them, so the reference is asked again with those.
HostCall host_call(const Case& c);

}  // namespace assay
