#pragma once

#include <functional>
#include <vector>

#include "conformance/defects/cause.h"
#include "conformance/verdict/defect.h"

namespace assay {

// From the judged cases of a run the defects behind them, most serious first: operators that fail alike for the same
// predicate share one. In the laboratory the predicates are tried and the smallest calls looked for; without one the
// cases must do, and the smallest call is known by its id alone. `begun` hears of every operator that is looked into.
// Throws Interrupted.
std::vector<Defect> defects_of(CaseRunner* case_runner, const Corpus& corpus, std::vector<JudgedCase> cases,
                               int workers, const std::function<void(std::string_view op)>& begun);

}  // namespace assay
