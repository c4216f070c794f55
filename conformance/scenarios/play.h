#pragma once

#include "conformance/runner/judged.h"
#include "conformance/scenarios/scenario.h"

namespace assay {

// Plays a scenario on a runtime, which may crash. Each step is written to standard error before it runs, so that the
// last line of a process that died names the step.
Judged play(const Scenario& scenario, Runtime& runtime, Detail detail);

// The judgement of a scenario in which the runtime died.
Judged lost(const Scenario& scenario, std::string_view testee, const TaskResult& death);

}  // namespace assay
