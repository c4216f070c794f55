#include "conformance/contract/draft.h"

#include <iostream>
#include <memory>

#include "command/command.h"
#include "command/libraries.h"
#include "command/run_log.h"
#include "conformance/cases/host_call.h"
#include "conformance/contract/read_contract.h"
#include "conformance/runner/suite.h"
#include "reference/fault.h"

namespace assay::command {
namespace {

struct ContractCommand {
  std::string testee, golden;
  runner::SuiteOptions suite;
};

int draft_contract(const ContractCommand& request) {
  using namespace std::chrono_literals;
  const cases::Corpus corpus(golden_folder(request.golden));
  const std::unique_ptr<testee::KernelLibrary> library = open_library(request.testee, corpus);
  const contract::Contract everything = contract::read_contract("everything");
  runner::CaseRunner case_runner(corpus, *library, everything, sandbox::time_limit_of(20s, library->is_remote()));
  contract::Draft draft{std::string(library->name())};
  runner::judge_blocks(case_runner, runner::plan_blocks(corpus, request.suite, library->recorded_only()),
                       std::min(request.suite.workers, library->most_at_once()), [&](const verdict::Record& record) {
                         const cases::Case c = corpus.make(cases::case_id_from(record.case_id));
                         draft.add(*c.op, cases::host_call(c), record);
                       });
  draft.write(std::cout);
  return exit_code(Outcome::ok);
}

void define_contract(Options& options) {
  const auto r = std::make_shared<ContractCommand>();
  options.add("TESTEE", r->testee, testee_help).required();
  options.add("--operators", r->suite.operators, "Calls only operators that match PATTERNS, as in assay kernels")
      .value("PATTERNS");
  options.add("--mutations", r->suite.mutations, "Makes N mutated calls of each operator")
      .value("N")
      .within(0, 1'000'000)
      .shows_default();
  add_workers(options, r->suite.workers);
  options.add("--golden", r->golden, golden_help).value("FOLDER");
  options.details(
      concat("The contract is YAML (spec/contracts.md). It promises all calls that are like the calls that the testee "
             "answered, even\nif an answer was wrong. Remove the calls that the testee need not answer, and state the "
             "source of each promise.\n\n",
             testee_kinds));
  options.action([r] { return draft_contract(*r); });
}

const Registered registered_contract(
    {"contract",
     Group::judging,
     "Writes a first contract for a testee, which promises the calls that the testee accepts",
     define_contract,
     {{"assay contract executorch --operators 'add*' > draft.yaml", "writes a first contract for some operators"},
      {"assay kernels executorch --operators 'add*' --contract draft.yaml", "judges the testee by the contract"}},
     true});

}  // namespace
}  // namespace assay::command
