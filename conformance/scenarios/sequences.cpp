#include <algorithm>

#include "conformance/hosts/host.h"
#include "conformance/scenarios/expectation.h"
#include "conformance/scenarios/recorded_program.h"

// Scenarios that repeat recorded calls, run them on several instances, and share arenas between methods.
namespace assay::scenarios {
namespace {

using Calls = std::vector<hosts::ProgramCall>;

void append(std::vector<Step>& steps, const Calls& calls) {
  for (const hosts::ProgramCall& one : calls) steps.push_back(call(one));
}

std::vector<Step> recorded(const Calls& calls) {
  std::vector<Step> steps{load()};
  append(steps, calls);
  return steps;
}

std::vector<Step> reloaded(const Calls& calls) {
  std::vector<Step> steps = recorded(calls);
  steps.push_back(unload()), steps.push_back(load());
  append(steps, calls);
  return steps;
}

// The second instance is loaded after the first was called, and stays loaded after the first is unloaded.
std::vector<Step> by_turns(const Calls& calls) {
  std::vector<Step> steps{load(0), call(calls.front(), 0), load(1)};
  for (std::size_t i = 1; i < calls.size(); ++i) {
    steps.push_back(call(calls[i - 1], 1));
    steps.push_back(call(calls[i], 0));
  }
  steps.push_back(unload(0));
  steps.push_back(call(calls.back(), 1));
  return steps;
}

Scenario scenario(const Recorded& program, ScenarioKind kind, std::vector<Step> (*steps)(const Calls&),
                  bool share_arenas = false) {
  Scenario s{.id = concat(name(kind), '/', program->name), .kind = kind};
  s.script = [=] {
    testee::LoadSettings settings = program->settings();
    settings.share_arenas = share_arenas;
    return Script{std::move(settings), steps(program->calls.calls)};
  };
  return s;
}

bool same_tensor(const Value& a, const Value& b) {
  const Tensor *x = std::get_if<Tensor>(&a), *y = std::get_if<Tensor>(&b);
  return !x || !y || (x->sizes == y->sizes && x->bytes == y->bytes);
}

// Methods may share their planned memories unless one of them overwrites the state of another. The reference decides.
bool may_share_arenas(const RecordedProgram& program) {
  if (format::size_of(program.program->tables().execution_plan()) < 2) return false;
  hosts::Host apart(program.program), sharing(program.program, {.share_arenas = true});
  return std::ranges::all_of(program.calls.calls, [&](const hosts::ProgramCall& call) {
    return std::ranges::equal(apart.call(call.method, call.inputs), sharing.call(call.method, call.inputs),
                              same_tensor);
  });
}

}  // namespace

void add_request(std::vector<Scenario>& all, const Recorded& program, const std::string& request) {
  Scenario s{.id = concat(name(ScenarioKind::requests), '/', request), .kind = ScenarioKind::requests};
  s.script = [program, request] {
    const hosts::ProgramCall& call = program->calls.calls.front();
    Step step{.what = Step::Do::ask, .method = call.method, .inputs = call.inputs, .request = request};
    step.judge = is_answered();
    return Script{program->settings(), {std::move(step)}};
  };
  all.push_back(std::move(s));
}

void add_sequences(std::vector<Scenario>& all, const Recorded& program) {
  if (program->calls.calls.empty()) return;
  all.push_back(scenario(program, ScenarioKind::recorded, recorded));
  all.push_back(scenario(program, ScenarioKind::reload, reloaded));
  all.push_back(scenario(program, ScenarioKind::instances, by_turns));
  if (may_share_arenas(*program)) all.push_back(scenario(program, ScenarioKind::arenas, recorded, true));
}

}  // namespace assay::scenarios
