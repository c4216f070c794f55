#pragma once

#include <functional>
#include <vector>

#include "conformance/defects/cause.h"
#include "conformance/verdict/defect.h"

namespace assay::defects {

// Derives the defects behind the judged cases of a run, most serious first. Operators that fail alike for the same
// predicate share a defect. With a case runner, predicates are tested with new calls and the smallest failing calls are
// searched for; without one, only the given cases are used, and the smallest call is known only by its id. `begun` is
// called with the name of every operator that is examined. Throws Interrupted.
std::vector<verdict::Defect> defects_of(runner::CaseRunner* case_runner, const cases::Corpus& corpus,
                                        std::vector<JudgedCase> cases, int workers,
                                        const std::function<void(std::string_view op)>& begun);

}  // namespace assay::defects
