#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include "conformance/hosts/calls.h"
#include "conformance/scenarios/scenario.h"

namespace assay {

// A program that the official exporter made, with calls and what eager PyTorch gave.
struct RecordedProgram {
  std::string name;
  std::filesystem::path file;
  ValidProgram program;
  ProgramCalls calls;  // each has a method, and the inputs lie as it declares them

  const pte::ExecutionPlan& plan(const ProgramCall& call) const { return *program.plan(call.method); }
  LoadSettings settings() const { return {file, calls.data}; }
};
using Recorded = std::shared_ptr<const RecordedProgram>;

// Those of a folder, by name: golden/programs. Throws Fault where one cannot be read or is not valid.
std::vector<Recorded> recorded_programs(const std::filesystem::path& folder);

// Steps of scripts.
Step load(std::size_t instance = 0);
Step unload(std::size_t instance = 0);
Step call(const ProgramCall& call, std::size_t instance = 0);  // gives what is expected of it
Step refused_call(std::string method, std::vector<Value> inputs, const char* why);

// A scenario in which a call is refused and others are answered.
Scenario with_refusal(const Recorded& program, ScenarioKind kind, const std::string& what, std::vector<Step> steps);

// Scenarios of a program: each adds those that it allows.
void add_sequences(std::vector<Scenario>& all, const Recorded& program);  // recorded, reload, instances, arenas
void add_request(std::vector<Scenario>& all, const Recorded& program, const std::string& request);
void add_sizes(std::vector<Scenario>& all, const Recorded& program);
void add_wrong_inputs(std::vector<Scenario>& all, const Recorded& program);

}  // namespace assay
