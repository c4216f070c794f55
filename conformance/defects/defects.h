#pragma once

#include <functional>
#include <vector>

#include "conformance/defects/cause.h"
#include "conformance/report/defect.h"

namespace assay {

// From the judged cases of a run the defects behind them, most serious first: operators that fail alike for the same
// predicate share one. Each comes with the smallest call that was found. `done` hears of every operator that is
// finished. Throws Interrupted.
std::vector<Defect> defects_of(Laboratory& laboratory, const Corpus& corpus, std::vector<Seen> cases, int workers,
                               const std::function<void(std::string_view op)>& done);

}  // namespace assay
