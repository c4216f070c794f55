#pragma once

#include <string>
#include <vector>

#include "conformance/cases/case.h"

namespace assay::cases {

// How many combinations of values of CallFeatures occur in the answered calls of an operator: pairs of values, or
// triples for operators that branch on these.
struct Coverage {
  std::size_t at_once = 2;   // the number of features in a combination
  std::size_t recorded = 0;  // combinations in the recorded calls
  std::size_t covered = 0;   // combinations in these calls and in those that were made
  std::size_t possible = 0;  // combinations of values that occur alone. Many of them break a rule
  std::size_t tried = 0;     // calls that were tried for the combinations that are missing
};

struct Covering {
  std::vector<CaseId> cases;  // the made calls
  Coverage coverage;
};

// Looks for calls that the reference answers and that have combinations which no recorded call has. It mutates recorded
// calls, and goes on from each call that has a new combination.
Covering covering_of(const Corpus& corpus, const RecordedCalls& calls);

// `cases` with shorter tensors where that changes no feature, without the cases all of whose combinations occur in the
// recorded calls, in `beside` and in the cases that remain. The longest cases are dropped first. Ordered by id.
std::vector<CaseId> thinned(const Corpus& corpus, const RecordedCalls& calls, const std::vector<CaseId>& cases,
                            const std::vector<CaseId>& beside);

}  // namespace assay::cases
