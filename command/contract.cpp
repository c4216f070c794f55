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
  CaseRunner case_runner(corpus, *library, everything, time_limit_of(20s, library->is_remote()));
  Draft draft{std::string(library->name())};
  judge_blocks(case_runner, plan_blocks(corpus, request.suite, library->recorded_only()),
               std::min(request.suite.workers, library->most_at_once()), [&](const Record& record) {
                 const Case c = corpus.make(case_id_from(record.case_id));
                 draft.add(*c.op, host_call(c), record);
               });
  draft.write(std::cout);
  return exit_code(Outcome::ok);
}

void define_contract(Options& options) {
  const auto r = std::make_shared<ContractCommand>();
  options.add("TESTEE", r->testee, testee_help).required();
  options.add("--operators", r->suite.operators, "Only operators that match, as of assay kernels");
  options.add("--mutations", r->suite.mutations, "Mutated calls for each operator")
      .shows_default()
      .within(0, 1'000'000);
  add_workers(options, r->suite.workers);
  options.add("--golden", r->golden, golden_help);
  options.details(
      "The draft is YAML. Somebody who knows the library should read it, give sources and narrow it: it says what is\n"
      "answered, not what is right.");
  options.action([r] { return draft_contract(*r); });
}

const Registered registered_contract(
    {"contract",
     Group::judging,
     "Drafts the contract of a library from the calls that it accepts",
     define_contract,
     {{"assay contract executorch --operators 'add*' > draft.yaml", "what the library accepts"},
      {"assay kernels executorch --operators 'add*' --contract draft.yaml", "judge the library by it"}},
     true});

}  // namespace
}  // namespace assay
