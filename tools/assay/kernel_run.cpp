#include "tools/assay/kernel_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <iterator>
#include <utility>

#include "conformance/defects/defects.h"
#include "conformance/runner/case_list.h"
#include "reference/fault.h"
#include "tools/assay/addresses.h"
#include "tools/assay/libraries.h"
#include "tools/assay/machine.h"
#include "tools/assay/runs.h"
#include "tools/assay/subcommands.h"

namespace assay {
namespace {

// The cases of a defect that an earlier run named.
std::set<std::string> cases_of_defect(const std::string& id, const std::string& file) {
  for (const Defect& d : open_run(file).defects)
    if (d.id == id) return {d.case_ids.begin(), d.case_ids.end()};
  throw Fault(Outcome::invalid, "run.defect", text(file, " has no defect ", id));
}

std::chrono::seconds timeout(const KernelRequest& r) { return std::chrono::seconds(r.suite.timeout_seconds); }

}  // namespace

KernelRun::KernelRun(KernelRequest& request)
    : request_(request),
      contract_(open_contract(request.contract, request.run.testee)),
      corpus_(golden_folder(request.golden)),
      library_(open_library(request.run.testee, corpus_)),
      case_runner_(corpus_, *library_, contract_,
                   time_limit_of(timeout(request), library_->is_remote(), &leave_gently()), request.suite.workers,
                   request.suite.thorough) {
  if (!request.run.mustpass.empty()) mustpass_ = read_cases(request.run.mustpass, "mustpass", corpus_);
  plan();
}

void KernelRun::plan() {
  if (!request_.defect.empty())  // which the baseline names, and nothing else
    blocks_ = blocks_of(cases_of_defect(request_.defect, std::exchange(request_.run.baseline, {})));
  else if (!request_.cases.empty())
    blocks_ = blocks_of(read_cases(request_.cases, "cases", corpus_));
  else
    blocks_ = plan_blocks(corpus_, request_.suite, library_->recorded_only());
  std::set<std::string> others = mustpass_;
  for (const Block& block : blocks_)
    for (const CaseId& id : block) others.erase(to_text(id));
  std::ranges::move(blocks_of(others), std::back_inserter(blocks_));
  digest_ = suite_digest(ids_of(blocks_));
  if (request_.part.shard) take_shard();
  for (const Block& block : blocks_) planned_ += block.size();
}

void KernelRun::take_shard() {
  std::erase_if(blocks_, [&](const Block& block) { return !request_.part.shard->has(ids_of({block})); });
  const std::vector<std::string> ids = ids_of(blocks_);
  const std::set<std::string> mine(ids.begin(), ids.end());
  std::erase_if(mustpass_, [&](const std::string& id) { return !mine.contains(id); });
  request_.run.is_part = true;
}

Facts KernelRun::settings(const std::string& machine) const {
  Facts facts = facts_of_testee(library_->name(), library_->facts(), library_->binaries());
  facts.insert(facts.begin() + 2, {"contract", contract_.name});
  const SuiteOptions& o = request_.suite;
  facts.push_back({"operators", o.operators.empty() ? "all" : o.operators});
  facts.push_back({"seed", fmt::format("{}, {} mutations an operator", o.seed, o.mutations)});
  if (o.shuffle) facts.push_back({"shuffle", std::to_string(*o.shuffle)});
  if (o.thorough) facts.push_back({"thorough", "yes"});
  facts.push_back(timeout_fact(o.timeout_seconds, library_->is_remote()));
  facts.push_back(addresses_fact());
  facts.push_back({"digest", digest_});
  facts.push_back({"machine", machine});
  add_facts(facts, request_.part);
  return facts;
}

int KernelRun::judge() {
  RunLog log(request_.run, settings(machine()), planned_, mustpass_);
  return run(take_judged(request_.part, request_.run.jsonl, log.header(), blocks_), log);
}

int KernelRun::merge(const std::vector<ShardFile>& shards) {
  require_alike(shards, settings(machine()));
  std::vector<Record> records = in_order_of(ids_of(blocks_), shards);
  blocks_.clear();
  RunLog log(request_.run, settings(machines_of(shards)), planned_, mustpass_);
  return run(std::move(records), log);
}

int KernelRun::run(std::vector<Record> earlier, RunLog& log) {
  log.begin();
  for (Record& r : earlier) add(log, std::move(r));
  try {
    judge_blocks(case_runner_, blocks_, request_.suite.workers, [&](Record r) { add(log, std::move(r)); });
    if (!request_.part.shard) find_defects(log, &case_runner_);
  } catch (const Interrupted&) {
    if (!request_.part.shard) find_defects(log, nullptr);
  }
  log.finish();
  if (!request_.run.json) print_others();
  return log.verdict(
      "of the valid calls, each is of an operator for which it has no kernel, or refused as unsupported");
}

void KernelRun::add(RunLog& log, Record r) {
  seen_.push_back(seen(r));
  log.add(std::move(r));
}

void KernelRun::find_defects(RunLog& log, CaseRunner* case_runner) {
  const auto begun = [&](std::string_view op) { log.progress().looks_into(op); };
  for (Defect& d : defects_of(case_runner, corpus_, seen_, request_.suite.workers, begun)) {
    d.testee = library_->name();
    d.command = repro_line(d.smallest, unless_usual(request_.run.testee), request_.contract, request_.suite.thorough);
    log.add(d);
  }
}

void KernelRun::print_others() const {
  std::string others;
  for (const std::string& kernel : library_->kernels())
    if (!find_operator(kernel)) others += (others.empty() ? "" : ", ") + kernel;
  if (!others.empty()) std::cout << "Not judged, as the spec has no entry: " << others << '\n';
}

}  // namespace assay
