#pragma once

#include <span>
#include <vector>

#include "conformance/defects/predicate.h"

namespace assay {

// A call that was judged: whether it fails in the way that is to be explained.
struct Example {
  const Features* features;
  bool fails;
};

// The predicates that separate the failing examples from the others, each in the fewest words: what it takes to say
// them and the exceptions that they leave is least (the principle of minimum description length, Rissanen 1978). Each
// covers failing examples that those before it do not, and little else while there is such a predicate.
std::vector<Predicate> explain(std::span<const Example> examples);

}  // namespace assay
