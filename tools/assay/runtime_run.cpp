#include "tools/assay/runtime_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "conformance/contract/read_contract.h"
#include "conformance/scenarios/plan.h"
#include "conformance/testees/wire/address.h"
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
             patience_of(std::chrono::seconds(request.timeout), runtime_->is_remote(), &leave_gently()),
             request.workers),
      blocks_(stage_.blocks()),
      digest_(suite_digest(all_of(blocks_))) {
  request_.run.subject = "kind", request_.run.is_part = request.shard.has_value();
  if (request.shard) std::erase_if(blocks_, [&](const Ids& block) { return !request.shard->has(block); });
}

std::size_t RuntimeRun::planned() const { return all_of(blocks_).size(); }

Facts RuntimeRun::settings(const std::string& machine) const {
  Facts facts = facts_of_testee(runtime_->name(), runtime_->facts(), runtime_->binaries());
  facts.insert(facts.begin() + 2, {"suite", "runtime"});
  facts.push_back({"programs", request_.programs.empty() ? "all" : request_.programs});
  facts.push_back(
      {"timeout", fmt::format("{} s{}", request_.timeout, runtime_->is_remote() ? "" : " of processor time")});
  facts.push_back({"digest", digest_});
  facts.push_back({"machine", machine});
  if (!request_.shard) return facts;
  facts.push_back({"shard", to_text(*request_.shard)});
  facts.push_back({"options", wire::quoted(request_.deciding)});
  return facts;
}

int RuntimeRun::judge() {
  RunLog log(request_.run, settings(machine()), planned());
  return run(judged_before(log.header()), log);
}

int RuntimeRun::merge(const std::vector<ShardFile>& shards) {
  require_alike(shards, settings(machine()));
  std::vector<Record> records = in_order_of(all_of(blocks_), shards);
  RunLog log(request_.run, settings(machines_of(shards)), planned());
  blocks_.clear();
  return run(std::move(records), log);
}

std::vector<Record> RuntimeRun::judged_before(const std::string& header) {
  if (!request_.resume) return {};
  std::vector<std::size_t> sizes;
  for (const Ids& block : blocks_) sizes.push_back(block.size());
  Resumed whole = resumed(request_.run.jsonl, header, sizes);
  blocks_.erase(blocks_.begin(), blocks_.begin() + static_cast<std::ptrdiff_t>(whole.blocks));
  return std::move(whole.records);
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
  if (!request_.shard)
    for (Defect& d : defects.found()) {
      d.command = repro_line(d.smallest, request_.run.testee == usual_testee ? "" : request_.run.testee);
      log.add(d);
    }
  log.finish();
  return log.verdict("each program that it was to run it refused as unsupported");
}

}  // namespace assay
