#include "conformance/scenarios/recorded_program.h"

#include <algorithm>

#include "conformance/files/file.h"
#include "conformance/scenarios/expectation.h"

namespace assay::scenarios {
namespace {

namespace fs = std::filesystem;

Recorded read(const fs::path& folder) {
  const fs::path file = folder / "program.pte";
  hosts::ProgramCalls calls = hosts::read_calls(folder / "calls.json");
  const ValidProgram program = hosts::valid_program(files::open_file(file), files::open_data_files(calls.data));
  return std::make_shared<const RecordedProgram>(
      recorded_program(folder.filename().string(), file, program, std::move(calls)));
}

}  // namespace

RecordedProgram recorded_program(std::string name, fs::path file, const ValidProgram& program,
                                 hosts::ProgramCalls calls) {
  const hosts::Host host(program);
  for (hosts::ProgramCall& call : calls.calls) {
    if (call.method.empty()) call.method = host.default_method();
    call.inputs = hosts::adapted(host.plan(call.method), std::move(call.inputs));
  }
  return {std::move(name), std::move(file), program, std::move(calls)};
}

std::vector<Recorded> recorded_programs(const fs::path& folder) {
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(folder))
    if (fs::exists(entry.path() / "calls.json")) folders.push_back(entry.path());
  std::ranges::sort(folders);
  std::vector<Recorded> all;
  for (const fs::path& one : folders) all.push_back(read(one));
  return all;
}

Step load(std::size_t instance) { return {.what = Step::Do::load, .instance = instance, .judge = is_answered()}; }

Step unload(std::size_t instance) { return {.what = Step::Do::unload, .instance = instance}; }

Step call(const hosts::ProgramCall& call, std::size_t instance) {
  Step step{.instance = instance, .method = call.method, .inputs = call.inputs};
  if (!call.fails.empty())
    step.judge = is_refused(concat("rule ", call.fails));
  else
    step.judge = call.outputs ? gives(*call.outputs, call.tolerance) : is_answered();
  return step;
}

Step refused_call(std::string method, std::vector<Value> inputs, const char* why) {
  return {.method = std::move(method), .inputs = std::move(inputs), .valid = false, .judge = is_refused(why)};
}

Scenario with_refusal(const Recorded& program, ScenarioKind kind, const std::string& what, std::vector<Step> steps) {
  Scenario s{.id = concat(name(kind), '/', program->name, ':', what), .kind = kind, .valid = false};
  s.slices = {"invalid"};
  s.script = [program, steps = std::move(steps)] { return Script{program->settings(), steps}; };
  return s;
}

}  // namespace assay::scenarios
