#pragma once

#include <optional>
#include <span>
#include <vector>

#include "conformance/defects/predicate.h"

namespace assay::defects {

// A judged call, and whether it fails in the way that is to be explained.
struct Example {
  const features::Features* features;
  bool fails;
  std::optional<std::size_t> neighbour = {};  // the position of an example that differs in one argument
};

// Finds predicates that separate the failing examples from the passing ones. Each predicate has the least description
// length: the length of its words plus that of the exceptions that it leaves (the principle of minimum description
// length, Rissanen 1978). Each predicate covers failing examples that its predecessors do not cover, and few
// passing examples if that is possible. No predicate has more than `most_conditions` literals. Facts that calls share
// by chance, such as "self has different numbers", are in none; a fact that a neighbour shows to decide alone is
// preferred.
std::vector<Predicate> explain(std::span<const Example> examples, std::size_t most_conditions = 2);

// Whether a literal is about numbers that many calls with a mistake have, though the kernel does not look at them.
bool is_often_by_chance(const Literal& literal);

// The most telling facts that all failing examples share and at most half of the passing ones: at most
// `most_conditions`. They are certain, but need not be the cause.
Predicate shared(std::span<const Example> examples, std::size_t most_conditions);

}  // namespace assay::defects
