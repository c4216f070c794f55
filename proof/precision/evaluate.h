#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "outcome.gen.h"
#include "proof/precision/manner.h"
#include "reference/value.h"

namespace assay::precision {

// A number of at least 106 bits, as the sum of two doubles.
struct Pair {
  double high, low;
};

// The results of a call whose formulas are evaluated in another arithmetic.
struct Evaluation {
  Outcome outcome;
  Met met;
  std::vector<Value> arguments;  // the arguments of the call, with the results in place of its outs
  // For each out, the numbers before they are rounded. Empty if they are exact.
  std::vector<std::vector<Pair>> unrounded;
};

// Evaluates a call of the operator of that name, whose arguments follow its schema. Not thread-safe. It is in a library
// of its own, in which Real of the reference is a Number; outside, Real is double.
[[gnu::visibility("default")]] Evaluation evaluate(std::string_view operator_name, std::span<const Value> arguments,
                                                   const Manner& manner);

}  // namespace assay::precision
