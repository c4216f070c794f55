#pragma once

#include <span>
#include <vector>

#include "conformance/defects/predicate.h"

namespace assay::defects {

// A judged call, and whether it fails in the way that is to be explained.
struct Example {
  const features::Features* features;
  bool fails;
};

// Finds predicates that separate the failing examples from the passing ones. Each predicate has the least description
// length: the length of its words plus that of the exceptions that it leaves (the principle of minimum description
// length, Rissanen 1978). Each predicate covers failing examples that its predecessors do not cover, and few
// passing examples if that is possible.
std::vector<Predicate> explain(std::span<const Example> examples);

}  // namespace assay::defects
