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
#include "conformance/runner/case_runner.h"
#include "conformance/scenarios/plan.h"
#include "conformance/scenarios/stage.h"
#include "conformance/verdict/record.h"
#include "reference/fault.h"

namespace assay {
namespace {

struct CaseCommand {
  std::string id, testee = usual_testee, contract, golden, as, file;
  bool json = false, thorough = false;
};

constexpr std::chrono::seconds time_limit{60};

void print_verdict(const Record& r) {
  std::cout << "verdict    " << name(r.verdict) << (r.failure == Class::none ? "" : text(" (", name(r.failure), ")"));
  if (r.distance && *r.distance > 0 && std::isfinite(*r.distance))
    std::cout << fmt::format(", {:.3g} of the bound", *r.distance);
  std::cout << (r.message.empty() ? "" : ": " + r.message) << '\n';
  std::cout << fmt::format("tier       {}: {}\n", name(tier_of(r)), row(tier_of(r)).sentence);
  std::cout << fmt::format("slices     {}{}\n", fmt::join(r.slices, ", "), r.promised ? "" : "; not promised");
}

void print_rule(const Operator& op, const Record& r) {
  std::cout << "formula    " << op.math << '\n';
  for (const Rule& rule : op.rules)
    if (rule.id == r.rule) std::cout << "rule       " << rule.id << ": " << rule.sentence << '\n';
  if (!r.bound.empty())
    std::cout << "bound      " << r.bound << ", " << r.rule << '\n';
  else if (!r.rule.empty())
    std::cout << "held to    " << r.rule << '\n';
}

void print(const Case& c, const Record& r) {
  std::cout << "case       " << r.case_id << '\n' << "schema     " << c.op->schema << '\n';
  std::cout << fmt::format("made from  recorded call {:08x} ({})", c.id.call, c.recorded.origin);
  for (const Mutation& m : c.id.mutations) std::cout << ", " << to_text(m);
  std::cout << '\n';
  for (const NamedText& input : r.inputs) std::cout << fmt::format("{:<10} {}\n", input.name, input.text);
  for (const NamedText& out : r.outs) std::cout << fmt::format("{:<10} given as {}\n", out.name, out.text);
  print_rule(*c.op, r);
  std::cout << "expected   " << r.expected << '\n' << "got        " << r.got << '\n';
  print_verdict(r);
}

int write_reproduction(const CaseCommand& request, const Case& c) {
  const auto kind = std::ranges::find(reproduction_kinds(), request.as, &ReproductionRow::name)->kind;
  const std::string made = reproduction(c, kind);
  if (request.file.empty())
    std::cout << made;
  else
    write_file(request.file, std::as_bytes(std::span(made)));
  return exit_code(Outcome::ok);
}

template <class Print>
int shown(const CaseCommand& request, const Record& r, Print print) {
  if (request.json)
    std::cout << to_json_line(r) << '\n';
  else
    print(r);
  return is_failure(r.verdict) ? answers_differ : exit_code(Outcome::ok);
}

void print(const Record& r) {
  std::cout << "case       " << r.case_id << '\n';
  for (const NamedText& step : r.inputs) std::cout << fmt::format("step {:<5} {}\n", step.name, step.text);
  print_verdict(r);
}

// A case of assay runtime: steps of a scenario.
int show_scenario(const CaseCommand& request) {
  if (!request.as.empty())
    throw Fault(Outcome::unsupported, "case.as", "what is done with a program cannot be written as a file yet");
  const auto runtime = open_program_runner(request.testee);
  const Contract contract = open_contract(request.contract, request.testee);
  const std::filesystem::path golden = golden_folder(request.golden);
  const Corpus corpus(golden);
  Stage stage(plan_scenarios(programs_beside(golden), corpus, contract, runtime->requests(), request.id), *runtime,
              time_limit_of(time_limit, runtime->is_remote()));
  return shown(request, stage.judge_alone(request.id).record, [](const Record& r) { print(r); });
}

int show_case(const CaseCommand& request) {
  if (request.id.find('/') != std::string::npos) return show_scenario(request);
  const CaseId id = case_id_from(request.id);
  const Corpus corpus(golden_folder(request.golden), id.operator_name);
  const Case c = corpus.make(id);
  if (!request.as.empty()) return write_reproduction(request, c);
  const std::unique_ptr<KernelLibrary> library = open_library(request.testee, corpus);
  const Contract contract = open_contract(request.contract, request.testee);
  CaseRunner case_runner(corpus, *library, contract, time_limit_of(time_limit, library->is_remote()), 1,
                         request.thorough);
  return shown(request, case_runner.run_alone(id, Detail::all).record, [&](const Record& r) { print(c, r); });
}

void define_case(Options& options) {
  const auto r = std::make_shared<CaseCommand>();
  options
      .add("ID", r->id,
           "The id of the case in a report, such as aten::add.out#7f3a91c2~dtype:0:5:0, or recorded/kv_cache of assay "
           "runtime")
      .required();
  options.add("--testee", r->testee, "Runs the case on TESTEE; the kinds of testees are listed below")
      .value("TESTEE")
      .shows_default();
  options.add("--contract", r->contract, contract_help).value("CONTRACT");
  options.flag("--thorough", r->thorough, thorough_help);
  options.add("--golden", r->golden, golden_help).value("FOLDER");
  const Option json = options.flag("--json", r->json, "Prints the record as JSON");
  std::vector<std::string> kinds;
  for (const ReproductionRow& row : reproduction_kinds()) kinds.emplace_back(row.name);
  const Option as =
      options.add("--as", r->as, "Writes a file that shows the case without assay; the forms are listed below")
          .one_of(kinds)
          .excludes(json);
  options.add("-o", r->file, "Writes the file of --as to FILE; default: standard output").value("FILE").needs(as);
  options.details(text(runner_kinds, "\n\nForms of --as:\n", describe_reproductions(),
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
}  // namespace assay
