#include "command/runtime.h"

#include <chrono>

#include "conformance/contract/read_contract.h"
#include "conformance/scenarios/plan.h"

namespace assay::command {
namespace {

std::vector<scenarios::Scenario> planned_for(const RuntimeRequest& r, const cases::Corpus& corpus,
                                             const contract::Contract& contract, const testee::Runtime& runtime) {
  return scenarios::plan_scenarios(programs_beside(golden_folder(r.golden)), corpus, contract, &runtime, r.programs);
}

const Registered registered_runtime(
    {"runtime",
     Group::judging,
     "Judges a runtime: loads programs, calls their methods, and compares the results with the expected results",
     define_judging<RuntimeRun>,
     {{"assay runtime executorch --html report.html", "judges the official runtime"},
      {"assay runtime -- ./my_runtime",
       "judges a runtime in another program or on a device (doc/test_your_runtime.md)"},
      {"assay runtime --programs 'recorded/*' -- python3 mine.py", "judges only the cases of recorded programs"}},
     true});

}  // namespace

Deciding RuntimeRun::add_options(Options& options, RuntimeRequest& r) {
  return {
      options
          .add("--programs", r.programs,
               "Judges only cases whose program, operator or id matches one of PATTERNS, such as "
               "'dynamic_*,aten::add*' or 'recorded/*'")
          .value("PATTERNS")
          .check([](const std::string& given) { return given.empty() ? "an empty pattern names no program" : ""; }),
  };
}

RuntimeRun::RuntimeRun(RuntimeRequest& request)
    : JudgingRun(request),
      request_(request),
      runtime_(open_program_runner(request.run.testee)),
      contract_(contract::contract_of(request.run.testee)),
      corpus_(golden_folder(request.golden)),
      stage_(planned_for(request, corpus_, contract_, *runtime_), *runtime_,
             sandbox::time_limit_of(std::chrono::seconds(request.timeout), runtime_->is_remote(), &watch_interrupts()),
             request.workers) {
  request_.run.subject = "kind";
  plan(stage_.blocks());
}

verdict::Facts RuntimeRun::own_settings() const {
  verdict::Facts facts = facts_of_testee(runtime_->name(), runtime_->facts(), runtime_->binaries());
  facts.insert(facts.begin() + 2, {"suite", "runtime"});
  facts.push_back({"programs", request_.programs.empty() ? "all" : request_.programs});
  return facts;
}

void RuntimeRun::add_findings(RunLog& log, bool) {
  for (verdict::Defect& d : defects_.found()) {
    d.command = verdict::repro_line(d.smallest, unless_usual(request_.run.testee));
    log.add(d);
  }
}

}  // namespace assay::command
