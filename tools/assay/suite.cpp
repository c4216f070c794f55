#include <iostream>
#include <memory>

#include "conformance/contract/read_contract.h"
#include "conformance/files/file.h"
#include "conformance/scenarios/plan.h"
#include "conformance/scenarios/written_suite.h"
#include "conformance/text/json.h"
#include "tools/assay/libraries.h"
#include "tools/assay/output_file.h"
#include "tools/assay/subcommands.h"
#include "version.h"

namespace assay {
namespace {

struct SuiteCommand {
  std::string output, programs, golden;
};

void write_suite(const SuiteCommand& request) {
  const std::filesystem::path golden = golden_folder(request.golden), folder = request.output;
  const Corpus corpus(golden);
  const Contract contract = contract_of("reference");
  const auto scenarios = plan_scenarios(programs_beside(golden), corpus, contract, {}, request.programs);
  make_folder(folder);
  OutputFile manifest((folder / "manifest.jsonl").string());
  const Json header{{"suite", "runtime"}, {"assay", version}, {"cases", scenarios.size()}};
  manifest.stream() << line_of(Json{{"header", header}}) << '\n';
  WrittenSuite suite(folder, manifest.stream());
  for (const Scenario& scenario : scenarios) suite.add(scenario);
  manifest.finish();
  std::cout << scenarios.size() << " cases in " << folder.string() << '\n';
}

}  // namespace

void add_suite(CLI::App& app, int&) {
  CLI::App* command =
      app.add_subcommand("suite", "Writes the cases of assay runtime as files, for who runs them elsewhere");
  const auto r = std::make_shared<SuiteCommand>();
  command->add_option("-o,--output", r->output, "The folder")->required()->type_name("FOLDER");
  command->add_option("--programs", r->programs, "Only cases that match, as of assay runtime");
  command->add_option("--golden", r->golden,
                      "Folder of recorded calls [golden/operators of the checkout or installation]");
  command->footer(
      "manifest.jsonl has a line for each case: its program, its steps, and what is to come of each. "
      "spec/runtime_suite.md "
      "says what these are, and what a file of results is, which is judged here by assay runtime results:FILE.\n\n"
      "Example:\n  assay suite -o suite\n  assay runtime results:mine.jsonl -o run.jsonl && assay report run.jsonl");
  command->callback([r] { write_suite(*r); });
}

}  // namespace assay
