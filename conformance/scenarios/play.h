#pragma once

#include "conformance/runner/judged.h"
#include "conformance/scenarios/scenario.h"

namespace assay::scenarios {

// Begins the message of a call whose outputs are right, but in reverse order.
inline constexpr std::string_view reversed_outputs = "the outputs are in reverse order";

// Plays a scenario on a runtime, which may crash. Each step is written to standard error before it runs, so that the
// last line of a process that died names the step.
runner::Judged play(const Scenario& scenario, testee::Runtime& runtime, runner::Detail detail);

// The judgement of a scenario in which the runtime died.
runner::Judged lost(const Scenario& scenario, std::string_view testee, const sandbox::TaskResult& death);

}  // namespace assay::scenarios
