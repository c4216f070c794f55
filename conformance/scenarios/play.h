#pragma once

#include "conformance/runner/judged.h"
#include "conformance/scenarios/scenario.h"

namespace assay {

// Plays a scenario on a runtime, which may crash. Each step is told on standard error before it is done, so that the
// last words of a process that died say where.
Judged play(const Scenario& scenario, Runtime& runtime, Detail detail);

// The verdict on a scenario that the runtime did not survive.
Judged lost(const Scenario& scenario, std::string_view testee, const TaskResult& death);

}  // namespace assay
