#include "conformance/scenarios/files.h"

#include <map>

#include "conformance/corrupt/corruption.h"
#include "conformance/files/file.h"
#include "conformance/files/some_inputs.h"
#include "conformance/sandbox/file_in_memory.h"
#include "conformance/scenarios/expectation.h"

namespace assay::scenarios {
namespace {

using corrupt::Attempt;
using corrupt::Expected;

constexpr std::size_t most_alike = 4;  // per program: copies that break the same rule first, or that break none

Bytes contents(const std::filesystem::path& path) {
  const File file = files::open_file(path);
  return {file.bytes.begin(), file.bytes.end()};
}

std::vector<File> files_of(const std::vector<Bytes>& all) {
  std::vector<File> files;
  for (const Bytes& one : all) files.push_back(borrowed(one));
  return files;
}

// -- a scenario ----------------------------------------------------------------------------------------------------

struct InMemory {
  explicit InMemory(const corrupt::Files& files) : program(files.file) {
    for (const Bytes& one : files.data) data.push_back(std::make_unique<sandbox::FileInMemory>(one));
  }
  testee::LoadSettings settings() const {
    testee::LoadSettings settings{program.path(), {}};
    for (const auto& one : data) settings.data.push_back(one->path());
    return settings;
  }
  sandbox::FileInMemory program;
  std::vector<std::unique_ptr<sandbox::FileInMemory>> data;
};

std::string rule_of(const Attempt& a) { return a.expectation.faults.empty() ? "" : a.expectation.faults.front().rule; }

// The outputs that the reference computes from the changed file. A copy that has equal meaning for all calls that were
// tried may still differ for this one.
hosts::ProgramCall as_the_reference_has_it(const corrupt::Files& files, hosts::ProgramCall right) {
  if (!right.fails.empty()) return right;
  hosts::Host reference(hosts::valid_program(borrowed(files.file), files_of(files.data)));
  right.outputs = reference.call(right.method, right.inputs);
  return right;
}

// The steps of a scenario: load the file and call it.
std::vector<Step> steps(const Attempt& a, const hosts::ProgramCall& right) {
  if (a.expectation.expected == Expected::accepted) return {load(), call(as_the_reference_has_it(a.files, right))};
  Step called{.method = right.method, .inputs = right.inputs, .valid = false};
  if (a.expectation.expected == Expected::refused) called.judge = is_refused(concat("a file that breaks ", rule_of(a)));
  return {{.what = Step::Do::load, .valid = false}, std::move(called)};
}

// `call` is the first call of the program that the file was made from.
void add(std::vector<Scenario>& all, const std::string& made_of, Attempt attempt,
         const std::shared_ptr<const hosts::ProgramCall>& call) {
  const bool is_valid = attempt.expectation.expected == Expected::accepted;
  const std::string rule = rule_of(attempt);
  Scenario s{.id = concat("files/", made_of, ':', attempt.name), .kind = ScenarioKind::files, .valid = is_valid};
  s.group = concat(name(s.kind), ' ',
                   !rule.empty() ? rule
                   : is_valid    ? "that say the same"
                                 : "that say something else");
  s.rule = rule;
  if (!is_valid) s.slices = {"invalid"};
  s.script = [call, kept = std::make_shared<const Attempt>(std::move(attempt))] {
    const auto files = std::make_shared<const InMemory>(kept->files);
    return Script{files->settings(), steps(*kept, *call), files};
  };
  all.push_back(std::move(s));
}

// -- selection -----------------------------------------------------------------------------------------------------

corrupt::Corruptions corruptions(const RecordedProgram& program) {
  std::vector<Bytes> data;
  for (const auto& file : program.calls.data) data.push_back(contents(file));
  return corrupt::Corruptions(contents(program.file), std::move(data), 1);
}

// Attempts are alike if they break the same rule and have the same expected result.
std::string kind_of(const Attempt& a) { return concat(corrupt::prefix(a.expectation.expected), rule_of(a)); }

// A call with inputs that the program accepts.
hosts::ProgramCall some_call(const Bytes& program, const std::vector<Bytes>& data) {
  hosts::ProgramCall call;
  call.method = "forward";
  const auto loaded = LoadedProgram::load(borrowed(program), files_of(data));
  if (!loaded) return call;
  auto method = loaded->method(call.method);
  if (!method) return call;
  for (auto& input : files::some_inputs(*method)) call.inputs.push_back(input.value_or(Value()));
  return call;
}

}  // namespace

void add_changed_files(std::vector<Scenario>& all, const Recorded& program) {
  std::map<std::string, std::vector<Attempt>> alike;
  corruptions(*program).each([&](const Attempt& a) { return alike[kind_of(a)].push_back(a), true; });
  const auto call = std::make_shared<const hosts::ProgramCall>(program->calls.calls.front());
  for (auto& [kind, attempts] : alike)
    for (std::size_t i = 0, n = std::min(most_alike, attempts.size()); i < n; ++i)
      add(all, program->name, std::move(attempts[i * attempts.size() / n]), call);
}

// A program that keeps a rule may still use features that a runtime need not support.
void add_cases_of_rules(std::vector<Scenario>& all) {
  std::shared_ptr<const hosts::ProgramCall> call;
  corrupt::each_case([&](const Attempt& a) {
    const bool keeps = a.name == a.control;
    const bool is_program = format::file_kind(a.files.file) == &format::program_kind;
    if (keeps && !is_program) call.reset();
    if (keeps && is_program) call = std::make_shared<const hosts::ProgramCall>(some_call(a.files.file, a.files.data));
    Attempt attempt = a;
    if (keeps) attempt.expectation.expected = Expected::either;
    if (call) add(all, "rules", std::move(attempt), call);
    return true;
  });
}

}  // namespace assay::scenarios
