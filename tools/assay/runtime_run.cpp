#include "tools/assay/runtime_run.h"

#include <algorithm>
#include <chrono>

#include "conformance/contract/read_contract.h"
#include "conformance/scenarios/plan.h"
#include "tools/assay/addresses.h"
#include "tools/assay/libraries.h"
#include "tools/assay/machine.h"
#include "tools/assay/subcommands.h"

namespace assay {
namespace {

std::vector<Scenario> planned_for(const RuntimeRequest& r, const Corpus& corpus, const Contract& contract,
                                  const Runtime& runtime) {
  return plan_scenarios(programs_beside(golden_folder(r.golden)), corpus, contract, runtime.requests(), r.programs);
}

Ids all_of(const std::vector<Ids>& blocks) {
  Ids all;
  for (const Ids& block : blocks) all.insert(all.end(), block.begin(), block.end());
  return all;
}

}  // namespace

RuntimeRun::RuntimeRun(RuntimeRequest& request)
    : request_(request),
      runtime_(open_program_runner(request.run.testee)),
      contract_(contract_of(request.run.testee)),
      corpus_(golden_folder(request.golden)),
      stage_(planned_for(request, corpus_, contract_, *runtime_), *runtime_,
             time_limit_of(std::chrono::seconds(request.timeout), runtime_->is_remote(), &leave_gently()),
             request.workers),
      blocks_(stage_.blocks()),
      digest_(suite_digest(all_of(blocks_))) {
  const std::optional<Shard>& shard = request.part.shard;
  request_.run.subject = "kind", request_.run.is_part = shard.has_value();
  if (shard) std::erase_if(blocks_, [&](const Ids& block) { return !shard->has(block); });
}

std::size_t RuntimeRun::planned() const { return all_of(blocks_).size(); }

Facts RuntimeRun::settings(const std::string& machine) const {
  Facts facts = facts_of_testee(runtime_->name(), runtime_->facts(), runtime_->binaries());
  facts.insert(facts.begin() + 2, {"suite", "runtime"});
  facts.push_back({"programs", request_.programs.empty() ? "all" : request_.programs});
  facts.push_back(timeout_fact(request_.timeout, runtime_->is_remote()));
  facts.push_back(addresses_fact());
  facts.push_back({"digest", digest_});
  facts.push_back({"machine", machine});
  add_facts(facts, request_.part);
  return facts;
}

int RuntimeRun::judge() {
  RunLog log(request_.run, settings(machine()), planned());
  return run(take_judged(request_.part, request_.run.jsonl, log.header(), blocks_), log);
}

int RuntimeRun::merge(const std::vector<ShardFile>& shards) {
  require_alike(shards, settings(machine()));
  std::vector<Record> records = in_order_of(all_of(blocks_), shards);
  RunLog log(request_.run, settings(machines_of(shards)), planned());
  blocks_.clear();
  return run(std::move(records), log);
}

int RuntimeRun::run(std::vector<Record> earlier, RunLog& log) {
  ScenarioDefects defects;
  const auto add = [&](Record r) {
    defects.add(r);
    log.add(std::move(r));
  };
  log.begin();
  std::ranges::for_each(earlier, add);
  try {
    stage_.judge(blocks_, add);
  } catch (const Interrupted&) {
  }
  if (!request_.part.shard)
    for (Defect& d : defects.found()) {
      d.command = repro_line(d.smallest, unless_usual(request_.run.testee));
      log.add(d);
    }
  log.finish();
  return log.verdict("each program that it was to run it refused as unsupported");
}

}  // namespace assay
