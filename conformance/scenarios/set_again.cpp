#include <algorithm>

#include "conformance/files/same.h"
#include "conformance/scenarios/expectation.h"
#include "conformance/scenarios/recorded_program.h"

// Inputs that are set again without selecting the method again: before its first execution, and between executions.
namespace assay::scenarios {
namespace {

using Calls = std::vector<hosts::ProgramCall>;

// The first call of the same method that has other inputs; null if there is none.
const hosts::ProgramCall* with_other_inputs(const Calls& calls, const hosts::ProgramCall& one) {
  const auto found = std::ranges::find_if(calls, [&](const hosts::ProgramCall& other) {
    return other.method == one.method && other.fails.empty() &&
           !std::ranges::equal(other.inputs, one.inputs, files::same);
  });
  return found == calls.end() ? nullptr : &*found;
}

// A runtime that keeps the first inputs gives the results of `first` in each call.
std::vector<Step> steps_of(const Calls& calls, const hosts::ProgramCall& first) {
  std::vector<Step> steps{load(), {.what = Step::Do::select, .method = first.method, .inputs = first.inputs}};
  for (const hosts::ProgramCall& one : calls) {
    Step& step = steps.emplace_back(call(one));
    if (one.method != first.method) break;
    step.what = Step::Do::execute;
    if (first.outputs) step.stale = gives(*first.outputs, first.tolerance);
  }
  return steps;
}

}  // namespace

void add_set_again(std::vector<Scenario>& all, const Recorded& program) {
  const Calls& calls = program->calls.calls;
  const hosts::ProgramCall* first = calls.empty() ? nullptr : with_other_inputs(calls, calls.front());
  if (!first) return;
  Scenario s{.id = concat(name(ScenarioKind::set_again), '/', program->name), .kind = ScenarioKind::set_again};
  s.script = [program, first] { return Script{program->settings(), steps_of(program->calls.calls, *first)}; };
  all.push_back(std::move(s));
}

}  // namespace assay::scenarios
