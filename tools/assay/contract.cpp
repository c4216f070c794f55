#include "conformance/contract/draft.h"

#include <iostream>
#include <memory>

#include "conformance/cases/host_call.h"
#include "conformance/contract/read_contract.h"
#include "conformance/runner/suite.h"
#include "reference/fault.h"
#include "tools/assay/libraries.h"
#include "tools/assay/subcommands.h"

namespace assay {
namespace {

struct ContractCommand {
  std::string testee, golden;
  SuiteOptions suite;
};

int draft_contract(const ContractCommand& request) {
  using namespace std::chrono_literals;
  const Corpus corpus(golden_folder(request.golden));
  const std::unique_ptr<KernelLibrary> library = open_library(request.testee, corpus);
  const Contract everything = read_contract("everything");
  Laboratory laboratory(corpus, *library, everything, patience_of(20s, library->is_remote()));
  Draft draft{std::string(library->name())};
  judge_blocks(laboratory, plan_blocks(corpus, request.suite, library->recorded_only()),
               std::min(request.suite.workers, library->most_at_once()), [&](const Record& record) {
                 const Case c = corpus.make(case_id_from(record.case_id));
                 draft.add(*c.op, host_call(c), record);
               });
  draft.write(std::cout);
  return exit_code(Outcome::ok);
}

}  // namespace

void add_contract(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("contract", "Drafts the contract of a library from the calls that it accepts");
  const auto r = std::make_shared<ContractCommand>();
  command->add_option("TESTEE", r->testee, testee_help)->required();
  command->add_option("--operators", r->suite.operators, "Only operators that match, as of assay kernels");
  command->add_option("--mutations", r->suite.mutations, "Mutated calls for each operator")
      ->capture_default_str()
      ->check(CLI::Range(0, 1'000'000));
  command->add_option("--workers", r->suite.workers, "Children that run cases at the same time")
      ->capture_default_str()
      ->check(CLI::Range(1, 256));
  command->add_option("--golden", r->golden,
                      "Folder of recorded calls [golden/operators of the checkout or installation]");
  command->footer(
      "The draft is YAML, to be read, sourced and narrowed by somebody who knows the library: it says what is "
      "answered, "
      "not what is right.\n\nExample:\n  assay contract executorch --operators 'add*' > draft.yaml\n  assay kernels "
      "executorch --operators 'add*' --contract draft.yaml");
  command->callback([r, &exit_code] { exit_code = draft_contract(*r); });
}

}  // namespace assay
