#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iostream>
#include <memory>

#include "command/command.h"
#include "command/libraries.h"
#include "conformance/files/file.h"
#include "conformance/reproduce/reproduction.h"
#include "conformance/runner/blame.h"
#include "conformance/runner/case_runner.h"
#include "conformance/scenarios/plan.h"
#include "conformance/scenarios/stage.h"
#include "conformance/text/json.h"
#include "conformance/text/printable.h"
#include "conformance/verdict/record.h"
#include "conformance/wire/address.h"
#include "reference/fault.h"

namespace assay::command {
namespace {

struct CaseCommand {
  std::string id, testee = usual_testee, contract, golden, as, file;
  bool json = false, thorough = false;
  int repeat = 1;
};

constexpr std::chrono::seconds time_limit{60};

void print_verdict(const verdict::Record& r) {
  std::cout << "verdict    " << verdict::name(r.verdict)
            << (r.failure == verdict::Class::none ? "" : concat(" (", verdict::name(r.failure), ")"));
  if (r.distance && *r.distance > 0 && std::isfinite(*r.distance))
    std::cout << fmt::format(", {:.3g} of the bound", *r.distance);
  std::cout << (r.message.empty() ? "" : ": " + text::printable(r.message)) << '\n';
  std::cout << fmt::format("tier       {}: {}\n", verdict::name(verdict::tier_of(r)),
                           verdict::row(verdict::tier_of(r)).sentence);
  std::cout << fmt::format("slices     {}{}\n", fmt::join(r.slices, ", "), r.promised ? "" : "; not promised");
}

void print_rule(const Operator& op, const verdict::Record& r) {
  std::cout << "formula    " << op.math << '\n';
  for (const Rule& rule : op.rules)
    if (rule.id == r.rule) std::cout << "rule       " << rule.id << ": " << rule.sentence << '\n';
  if (!r.bound.empty())
    std::cout << "bound      " << r.bound << ", " << r.rule << '\n';
  else if (!r.rule.empty())
    std::cout << "held to    " << r.rule << '\n';
}

void print(const cases::Case& c, const verdict::Record& r) {
  std::cout << "case       " << r.case_id << '\n' << "schema     " << c.op->schema << '\n';
  std::cout << fmt::format("made from  recorded call {:08x} ({})", c.id.call, c.recorded.origin);
  for (const cases::Mutation& m : c.id.mutations) std::cout << ", " << cases::to_text(m);
  std::cout << '\n';
  for (const verdict::NamedText& input : r.inputs) std::cout << fmt::format("{:<10} {}\n", input.name, input.text);
  for (const verdict::NamedText& out : r.outs) std::cout << fmt::format("{:<10} given as {}\n", out.name, out.text);
  print_rule(*c.op, r);
  std::cout << "expected   " << r.expected << '\n' << "got        " << r.got << '\n';
  print_verdict(r);
}

// The library that the written file must use, as words of a shell; empty for the official kernels. A script in Python
// finds its kernels in the official package, and neither form can use another kind of testee.
std::string library_of(const CaseCommand& request, reproduce::ReproductionKind kind) {
  constexpr std::string_view registered = "executorch:";
  if (kind == reproduce::ReproductionKind::bpte || kind == reproduce::ReproductionKind::json ||
      request.testee == usual_testee)
    return {};
  if (kind == reproduce::ReproductionKind::cpp && request.testee.starts_with(registered))
    return wire::quoted({std::filesystem::absolute(request.testee.substr(registered.size())).lexically_normal()});
  throw Fault(Outcome::unsupported, "case.as",
              concat(request.as, " would show the official kernels, not ", request.testee,
                     ": bpte and json are files for any testee"));
}

int write_reproduction(const CaseCommand& request, const cases::Case& c) {
  const auto kind =
      std::ranges::find(reproduce::reproduction_kinds(), request.as, &reproduce::ReproductionRow::name)->kind;
  const std::string made = reproduce::reproduction(c, kind, library_of(request, kind));
  if (request.file.empty())
    std::cout << made;
  else
    files::write_file(request.file, std::as_bytes(std::span(made)));
  return exit_code(Outcome::ok);
}

template <class Print>
int shown(const CaseCommand& request, const verdict::Record& r, Print print) {
  if (request.json)
    std::cout << text::line_of(verdict::to_json(r)) << '\n';
  else
    print(r);
  return verdict::is_failure(r.verdict) ? answers_differ : exit_code(Outcome::ok);
}

// The verdict on a case that is made several times in one process: all answers must be that of the first.
verdict::Record judge_repeated(runner::CaseRunner& case_runner, const cases::CaseId& id, int times) {
  verdict::Record r = case_runner.run_alone(id, runner::Detail::all).record;
  if (times == 1) return r;
  const std::vector<std::string> ids(static_cast<std::size_t>(times), cases::to_text(id));
  const std::vector<runner::Judged> seen = case_runner.children().run(ids).judged;  // ends at a call that crashes
  const auto other = std::ranges::find_if(seen, [&](const runner::Judged& j) { return j.answer != seen[0].answer; });
  if (other == seen.end() && seen.size() == ids.size()) return r;
  r = runner::not_repeatable(std::move(r));
  r.message = fmt::format("call {} in one process is answered otherwise than call 1", other - seen.begin() + 1);
  return r;
}

void print(const verdict::Record& r) {
  std::cout << "case       " << r.case_id << '\n';
  for (const verdict::NamedText& step : r.inputs) std::cout << fmt::format("step {:<5} {}\n", step.name, step.text);
  print_verdict(r);
}

// A case of assay runtime: steps of a scenario.
int show_scenario(const CaseCommand& request) {
  if (!request.as.empty())
    throw Fault(Outcome::unsupported, "case.as", "what is done with a program cannot be written as a file yet");
  const auto runtime = open_program_runner(request.testee);
  const contract::Contract contract = open_contract(request.contract, request.testee);
  const std::filesystem::path golden = golden_folder(request.golden);
  const cases::Corpus corpus(golden);
  scenarios::Stage stage(
      scenarios::plan_scenarios(programs_beside(golden), corpus, contract, runtime.get(), request.id), *runtime,
      sandbox::time_limit_of(time_limit, runtime->is_remote()));
  return shown(request, stage.judge_alone(request.id).record, [](const verdict::Record& r) { print(r); });
}

int show_case(const CaseCommand& request) {
  if (request.id.find('/') != std::string::npos) return show_scenario(request);
  const cases::CaseId id = cases::case_id_from(request.id);
  const cases::Corpus corpus(golden_folder(request.golden), id.operator_name);
  const cases::Case c = corpus.make(id);
  if (!request.as.empty()) return write_reproduction(request, c);
  const std::unique_ptr<testee::KernelLibrary> library = open_library(request.testee, corpus);
  const contract::Contract contract = open_contract(request.contract, request.testee);
  runner::CaseRunner case_runner(corpus, *library, contract, sandbox::time_limit_of(time_limit, library->is_remote()),
                                 1, request.thorough);
  return shown(request, judge_repeated(case_runner, id, request.repeat),
               [&](const verdict::Record& r) { print(c, r); });
}

void define_case(Options& options) {
  const auto r = std::make_shared<CaseCommand>();
  options
      .add("ID", r->id,
           "The id of the case, as a report shows it, such as aten::add.out#7f3a91c2~dtype:0:5:0 for a call, or "
           "recorded/kv_cache for a program")
      .required();
  options.add("--testee", r->testee, "Runs the case on TESTEE; the kinds of testees are listed below")
      .value("TESTEE")
      .shows_default();
  options.add("--contract", r->contract, contract_help).value("CONTRACT");
  options.flag("--thorough", r->thorough, thorough_help);
  options
      .add("--repeat", r->repeat,
           "Makes the call N times in one process; the case fails if an answer differs from the first")
      .value("N")
      .within(1, 1000)
      .shows_default();
  options.add("--golden", r->golden, golden_help).value("FOLDER");
  const Option json = options.flag("--json", r->json, "Prints the record as JSON");
  std::vector<std::string> kinds;
  for (const reproduce::ReproductionRow& row : reproduce::reproduction_kinds()) kinds.emplace_back(row.name);
  const Option as =
      options
          .add("--as", r->as,
               "Writes the case as a file of this form, for use without assay; the forms are listed below")
          .one_of(kinds)
          .excludes(json);
  options.add("-o", r->file, "Writes the file of --as to FILE; default: standard output").value("FILE").needs(as);
  options.details(concat(runner_kinds, "\n\nForms of --as:\n", reproduce::describe_reproductions(),
                         "\nExit codes:\n  0  the case passes, or the file was written\n  1  the case fails"));
  options.action([r] { return show_case(*r); });
}

const Registered registered_case({"case",
                                  Group::judging,
                                  "Runs one case and shows it in full",
                                  define_case,
                                  {{"assay case 'aten::add.out#4321b778'", "runs a case on the official kernels"},
                                   {"assay case 'aten::add.out#4321b778' --testee reference",
                                    "runs the case on another testee"},
                                   {"assay case 'aten::add.out#4321b778' --as python -o add.py && python3 add.py",
                                    "writes a script that shows the case without assay, and runs it"}},
                                  true});

}  // namespace
}  // namespace assay::command
