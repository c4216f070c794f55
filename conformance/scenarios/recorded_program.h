#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include "conformance/hosts/calls.h"
#include "conformance/scenarios/scenario.h"

namespace assay::scenarios {

// A program from the official exporter, with calls and the results of eager PyTorch.
struct RecordedProgram {
  std::string name;
  std::filesystem::path file;
  ValidProgram program;
  hosts::ProgramCalls calls;  // each call has a method, and its inputs have the layout that the method declares

  const pte::ExecutionPlan& plan(const hosts::ProgramCall& call) const { return *program.plan(call.method); }
  testee::LoadSettings settings() const { return {file, calls.data}; }
};
using Recorded = std::shared_ptr<const RecordedProgram>;

// A program with these calls, of which each gets a method and the layouts that the method declares.
RecordedProgram recorded_program(std::string name, std::filesystem::path file, const ValidProgram& program,
                                 hosts::ProgramCalls calls);

// The recorded programs of a folder such as golden/programs, sorted by name. Throws Fault if a program cannot be read
// or is not valid.
std::vector<Recorded> recorded_programs(const std::filesystem::path& folder);

// Steps of scripts.
Step load(std::size_t instance = 0);
Step unload(std::size_t instance = 0);
Step call(const hosts::ProgramCall& call, std::size_t instance = 0);  // its judge expects the recorded results
Step refused_call(std::string method, std::vector<Value> inputs, const char* why);

// A scenario in which one call is refused and the other calls are answered.
Scenario with_refusal(const Recorded& program, ScenarioKind kind, const std::string& what, std::vector<Step> steps);

// Scenarios of a program. Each function adds the scenarios that the program allows.
void add_sequences(std::vector<Scenario>& all, const Recorded& program);  // recorded, reload, instances, arenas
void add_request(std::vector<Scenario>& all, const Recorded& program, const std::string& request);
void add_sizes(std::vector<Scenario>& all, const Recorded& program);
void add_wrong_inputs(std::vector<Scenario>& all, const Recorded& program);
void add_dim_orders(std::vector<Scenario>& all, const Recorded& program);
void add_set_again(std::vector<Scenario>& all, const Recorded& program);

}  // namespace assay::scenarios
