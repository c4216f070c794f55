#include <iostream>
#include <memory>

#include "command/command.h"
#include "command/libraries.h"
#include "command/output_file.h"
#include "conformance/contract/read_contract.h"
#include "conformance/files/file.h"
#include "conformance/scenarios/plan.h"
#include "conformance/scenarios/written_suite.h"
#include "conformance/text/json.h"
#include "version.h"

namespace assay::command {
namespace {

struct SuiteCommand {
  std::string output, programs, golden;
};

int write_suite(const SuiteCommand& request) {
  const std::filesystem::path golden = golden_folder(request.golden), folder = request.output;
  const cases::Corpus corpus(golden);
  const contract::Contract contract = contract::contract_of("reference");
  const auto scenarios =
      scenarios::plan_scenarios(programs_beside(golden), corpus, contract, nullptr, request.programs);
  files::make_folder(folder);
  OutputFile manifest((folder / "manifest.jsonl").string());
  const text::Json header{{"suite", "runtime"}, {"assay", version}, {"cases", scenarios.size()}};
  manifest.stream() << text::line_of(text::Json{{"header", header}}) << '\n';
  scenarios::WrittenSuite suite(folder, manifest.stream());
  for (const scenarios::Scenario& scenario : scenarios) suite.add(scenario);
  manifest.finish();
  std::cout << scenarios.size() << " cases in " << folder.string() << '\n';
  return exit_code(Outcome::ok);
}

void define_suite(Options& options) {
  const auto r = std::make_shared<SuiteCommand>();
  options.add("-o,--output", r->output, "Writes the files to FOLDER").required().value("FOLDER");
  options.add("--programs", r->programs, "Writes only cases that match PATTERNS, as in assay runtime")
      .value("PATTERNS");
  options.add("--golden", r->golden, golden_help).value("FOLDER");
  options.details(
      "manifest.jsonl has a line for each case, with the program, the steps, and the expected result of each step. "
      "Your runtime\nwrites its results to a file, and assay runtime results:FILE judges this file. "
      "spec/runtime_suite.md defines both files.");
  options.action([r] { return write_suite(*r); });
}

const Registered registered_suite({"suite",
                                   Group::judging,
                                   "Writes the cases of assay runtime as files, for a runtime that assay cannot call",
                                   define_suite,
                                   {{"assay suite -o suite", "writes all cases"},
                                    {"assay runtime results:mine.jsonl -o run.jsonl && assay report run.jsonl",
                                     "judges the results that your runtime wrote to mine.jsonl"}}});

}  // namespace
}  // namespace assay::command
