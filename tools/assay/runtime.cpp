#include <fmt/format.h>

#include <chrono>
#include <memory>

#include "conformance/contract/read_contract.h"
#include "conformance/runner/shard.h"
#include "conformance/scenarios/defects.h"
#include "conformance/scenarios/plan.h"
#include "conformance/scenarios/stage.h"
#include "tools/assay/libraries.h"
#include "tools/assay/machine.h"
#include "tools/assay/run_log.h"
#include "tools/assay/subcommands.h"

namespace assay {
namespace {

struct Request {
  RunRequest run;
  std::string programs, golden;
  int workers = 2, timeout = 20;
};

Facts settings(const Request& request, const Runtime& runtime, const std::string& digest) {
  Facts facts = facts_of_testee(runtime.name(), runtime.facts(), runtime.binaries());
  facts.insert(facts.begin() + 2, {"suite", "runtime"});
  facts.push_back({"programs", request.programs.empty() ? "all" : request.programs});
  facts.push_back({"timeout", fmt::format("{} s{}", request.timeout, runtime.is_remote() ? "" : " of processor time")});
  facts.push_back({"digest", digest});
  facts.push_back({"machine", machine()});
  return facts;
}

int judge_runtime(Request& request) {
  const auto runtime = open_program_runner(request.run.testee);
  const Contract contract = contract_of(request.run.testee);
  const std::filesystem::path golden = golden_folder(request.golden);
  const Corpus corpus(golden);
  std::vector<Scenario> scenarios =
      plan_scenarios(programs_beside(golden), corpus, contract, runtime->requests(), request.programs);
  const Patience patience = patience_of(std::chrono::seconds(request.timeout), runtime->is_remote(), &leave_gently());
  std::vector<std::string> ids;
  for (const Scenario& scenario : scenarios) ids.push_back(scenario.id);
  Stage stage(std::move(scenarios), *runtime, patience, request.workers);
  RunLog log(request.run, settings(request, *runtime, suite_digest(std::move(ids))), stage.size());
  ScenarioDefects defects;
  log.begin();
  try {
    stage.judge([&](Record r) {
      defects.add(r);
      log.add(std::move(r));
    });
  } catch (const Interrupted&) {
  }
  for (Defect& d : defects.found()) {
    d.command = repro_line(d.smallest, request.run.testee == usual_testee ? "" : request.run.testee);
    log.add(d);
  }
  log.finish();
  return log.verdict("each program that it was to run it refused as unsupported");
}

}  // namespace

void add_runtime(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("runtime", "Judges a runtime by programs and what is done with them");
  const auto r = std::make_shared<Request>();
  r->run.subject = "kind";
  command->add_option("TESTEE", r->run.testee, runtime_help)->required();
  command
      ->add_option(
          "--programs", r->programs,
          "Only cases of programs and operators that match, such as 'dynamic_*,aten::add*', or with these ids, "
          "such as 'recorded/*'")
      ->check(
          [](const std::string& given) { return given.empty() ? "an empty pattern names no program" : std::string(); });
  command->add_option("--workers", r->workers, "Processors that cases run on")
      ->capture_default_str()
      ->check(CLI::Range(1, 256));
  command
      ->add_option("--timeout", r->timeout,
                   "Seconds of processor time that one case may take; of the wall, where a testee is another process")
      ->capture_default_str()
      ->check(CLI::Range(1, 3600));
  command->add_option("--golden", r->golden,
                      "Folder of recorded calls, beside which are recorded programs [golden/operators of the checkout "
                      "or installation]");
  add_run_options(*command, r->run);
  command->footer(
      "spec/runtime_suite.md says what the cases are. Exit code 0: no failure but the known ones, 1: other failures, "
      "or "
      "a known one passed, 5: nothing was judged, as no program was run.\n\nExamples:\n  assay runtime executorch "
      "--html "
      "report.html\n  assay runtime --programs 'recorded/*' -- python3 mine.py");
  command->callback([r, &exit_code] { exit_code = judge_runtime(*r); });
}

}  // namespace assay
