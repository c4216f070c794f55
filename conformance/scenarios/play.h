#pragma once

#include "conformance/runner/judged.h"
#include "conformance/scenarios/scenario.h"

namespace assay::scenarios {

// What wrong outputs show about their cause.
struct Sign {
  std::string_view words;  // begin the message of the step
  std::string_view does;   // as Defect::does
};
namespace sign {
inline constexpr Sign reversed{"the outputs are in reverse order", "give the outputs of a call in reverse order"};
inline constexpr Sign former_results{"the outputs are those of the call before",
                                     "give again the results of the call before"};
inline constexpr Sign other_output{"an output has the elements of another output",
                                   "give the elements of one output as those of another"};
inline constexpr Sign lost_state{"the outputs are those of a method without its state",
                                 "lose the state of a method from call to call"};
inline constexpr Sign lost_beside{"the outputs are those of a method that lost its state when another was called",
                                  "lose the state of a method when another method is called"};
inline constexpr Sign first_value{"the outputs are those of the inputs that were set first",
                                  "keep the first value of an input that is set again"};
}  // namespace sign
inline constexpr const Sign* signs[] = {&sign::reversed,   &sign::former_results, &sign::other_output,
                                        &sign::lost_state, &sign::lost_beside,    &sign::first_value};

// Plays a scenario on a runtime, which may crash. Each step is written to standard error before it runs, so that the
// last line of a process that died names the step.
runner::Judged play(const Scenario& scenario, testee::Runtime& runtime, runner::Detail detail);

// The judgement of a scenario in which the runtime died.
runner::Judged lost(const Scenario& scenario, std::string_view testee, const sandbox::TaskResult& death);

}  // namespace assay::scenarios
