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
  std::size_t excluded = 0;  // combinations that no valid call has, as far as the search can tell
  std::size_t missing = 0;   // the other combinations of values that occur alone
  std::size_t tried = 0;     // calls that were tried for the combinations that are not covered
};

struct Covering {
  std::vector<CaseId> cases;  // the made calls
  Coverage coverage;
};

// Looks for calls that the reference answers and that have combinations which no recorded call has. It mutates recorded
// calls, and goes on from each call that has a new combination. A combination counts as excluded in three cases:
// - It contradicts itself: no tensor has it.
// - Rules exclude it: four answered calls have all its values but one, a change of this one makes each of them break a
//   rule, and no call that was tried with the combination is answered.
// - It contains an excluded pair.
Covering covering_of(const Corpus& corpus, const RecordedCalls& calls);

// `cases` with shorter tensors where that changes no feature, without the cases all of whose combinations occur in the
// recorded calls, in `beside` and in the cases that remain. The longest cases are dropped first. Ordered by id.
std::vector<CaseId> thinned(const Corpus& corpus, const RecordedCalls& calls, const std::vector<CaseId>& cases,
                            const std::vector<CaseId>& beside);

}  // namespace assay::cases
