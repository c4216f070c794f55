#include "command/judging.h"

#include <algorithm>
#include <utility>

#include "command/addresses.h"
#include "command/machine.h"

namespace assay::command {
namespace {

runner::Ids all_of(const std::vector<runner::Ids>& blocks) {
  runner::Ids all;
  for (const runner::Ids& block : blocks) all.insert(all.end(), block.begin(), block.end());
  return all;
}

}  // namespace

void JudgingRun::plan(std::vector<runner::Ids> blocks, std::set<std::string> mustpass) {
  blocks_ = std::move(blocks), mustpass_ = std::move(mustpass);
  digest_ = runner::suite_digest(all_of(blocks_));
  if (request_.part.shard) take_shard();
}

void JudgingRun::take_shard() {
  blocks_ = request_.part.shard->part_of(std::move(blocks_));
  const runner::Ids ids = all_of(blocks_);
  const std::set<std::string> mine(ids.begin(), ids.end());
  std::erase_if(mustpass_, [&](const std::string& id) { return !mine.contains(id); });
  request_.run.is_part = true;
}

std::size_t JudgingRun::planned() const { return all_of(blocks_).size(); }

verdict::Facts JudgingRun::settings(const std::string& machine) const {
  verdict::Facts facts = own_settings();
  facts.push_back(timeout_fact(request_.timeout, is_remote()));
  facts.push_back(addresses_fact());
  facts.push_back({"digest", digest_});
  facts.push_back({"machine", machine});
  add_facts(facts, request_.part);
  return facts;
}

int JudgingRun::judge() {
  RunLog log(request_.run, settings(machine()), planned(), mustpass_);
  return run(take_judged(request_.part, request_.run.jsonl, log.header(), blocks_), log);
}

int JudgingRun::merge(const std::vector<ShardFile>& shards) {
  require_alike(shards, settings(machine()));
  std::vector<verdict::Record> records = in_order_of(all_of(blocks_), shards);
  RunLog log(request_.run, settings(machines_of(shards)), planned(), mustpass_);
  blocks_.clear();
  return run(std::move(records), log);
}

int JudgingRun::run(std::vector<verdict::Record> earlier, RunLog& log) {
  const auto add = [&](verdict::Record r) {
    keep(r);
    log.add(std::move(r));
  };
  bool is_interrupted = false;
  log.begin();
  log.progress().watch([this] { return waits_for(); });
  for (verdict::Record& r : earlier) add(std::move(r));
  try {
    judge_blocks(blocks_, add);
    if (!request_.part.shard) add_findings(log, false);
  } catch (const sandbox::Interrupted&) {
    is_interrupted = true;
  }
  if (is_interrupted && !request_.part.shard) add_findings(log, true);
  log.finish();
  if (!request_.run.json) print_rest();
  return log.exit_code(why_not_judged());
}

}  // namespace assay::command
