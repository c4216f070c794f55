#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "outcome.gen.h"
#include "reference/value.h"
#include "tools/numbers/manner.h"

namespace assay::numbers {

// A number of 106 bits or more as the sum of two.
struct Pair {
  double high, low;
};

// What the formulas say to a call when they are read in another arithmetic.
struct Evaluation {
  Outcome outcome;
  Met met;
  std::vector<Value> arguments;  // those of the call, with the results in the place of its out arguments
  std::vector<std::vector<Pair>>
      unrounded;  // for each out the numbers before their rounding; none where they are exact
};

// Evaluates a call of an operator of that name, whose arguments follow its schema. Not to be asked by two threads at
// once. It stands in a library of its own: inside, the reference's Real is another, outside it is double.
[[gnu::visibility("default")]] Evaluation evaluate(std::string_view operator_name, std::span<const Value> arguments,
                                                   const Manner& manner);

}  // namespace assay::numbers
