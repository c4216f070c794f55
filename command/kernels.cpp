#include "command/kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <iterator>
#include <utility>

#include "command/runs.h"
#include "conformance/defects/defects.h"
#include "conformance/runner/case_list.h"
#include "conformance/text/malformed.h"
#include "conformance/text/printable.h"
#include "reference/fault.h"

namespace assay::command {
namespace {

// The cases of a defect that an earlier run named.
std::set<std::string> cases_of_defect(const std::string& id, const std::string& file) {
  for (const verdict::Defect& d : open_run(file).defects)
    if (d.id == id) return {d.case_ids.begin(), d.case_ids.end()};
  throw Fault(Outcome::invalid, "run.defect", concat(file, " has no defect ", id));
}

std::vector<runner::Ids> ids_of_each(const std::vector<runner::Block>& blocks) {
  std::vector<runner::Ids> all;
  for (const runner::Block& block : blocks) all.push_back(runner::ids_of({block}));
  return all;
}

runner::Block block_of(const runner::Ids& ids) {
  runner::Block block;
  for (const std::string& id : ids) block.push_back(cases::case_id_from(id));
  return block;
}

const Registered registered_kernels(
    {"kernels",
     Group::judging,
     "Judges the kernels of a testee by the reference",
     define_judging<KernelRun>,
     {{"assay kernels executorch --operators 'add*,mul' --html report.html", "judges the official kernels"},
      {"assay kernels executorch --baseline old.jsonl --defect 0b1f22a7",
       "tells whether this defect of an earlier run is repaired"},
      {"assay kernels ./libmine.so --operators 'relu,mm'", "judges your own kernels (doc/test_your_kernel.md)"},
      {"assay kernels executorch:./libmine.so", "judges kernels that register themselves with ExecuTorch"},
      {"assay kernels --operators relu -- python3 kernels.py",
       "judges kernels in another program or on a device (doc/test_your_runtime.md)"},
      {"assay kernels ./libmine.so --shard 2/8 -o part-2.jsonl",
       "judges one part of eight, so that eight machines can share the run (doc/in_continuous_integration.md)"}},
     true});

// The pattern of the operators whose recorded calls a run may need; empty for all. Lists of cases may name any.
std::string_view operators_of(const KernelRequest& request) {
  const bool lists_cases = !request.run.mustpass.empty() || !request.cases.empty() || !request.defect.empty();
  return lists_cases ? std::string_view() : request.suite.operators;
}

}  // namespace

std::string KernelRun::details() {
  return concat(testee_kinds, "\n\n", run_exit_codes,
                "\nExit code 1 also means that a case in the file of --mustpass did not pass.");
}

Deciding KernelRun::add_options(Options& options, KernelRequest& r) {
  return {
      options
          .add("--operators", r.suite.operators,
               "Judges only operators whose name matches one of PATTERNS, such as 'add*,aten::mul.out'; a name without "
               "a namespace is one of aten, and a name without an overload selects all overloads")
          .value("PATTERNS")
          .check([](const std::string& given) { return given.empty() ? "an empty pattern names no operator" : ""; }),
      options.add("--seed", r.suite.seed, "Chooses the mutated calls by this seed").value("SEED").shows_default(),
      options.add("--mutations", r.suite.mutations, "Makes N mutated calls of each operator")
          .value("N")
          .within(0, 1'000'000)
          .shows_default(),
      options.add("--shuffle", r.suite.shuffle, "Judges the cases in a random order that SEED determines")
          .value("SEED"),
      options.flag("--thorough", r.suite.thorough, thorough_help),
      options.add("--contract", r.contract, contract_help).value("CONTRACT"),
      options
          .add("--mustpass", r.run.mustpass,
               "Fails the run if a case that FILE lists does not pass; each line of FILE begins with a case id; assay "
               "judges these cases even if other options exclude them")
          .value("FILE"),
      options.add("--cases", r.cases, "Judges only the cases that FILE lists; each line of FILE begins with a case id")
          .value("FILE")
          .existing_file(),
  };
}

void KernelRun::add_rest(Options& options, KernelRequest& r, const RunOptions& of_run, const Option& shard) {
  options.add("--defect", r.defect, "Judges only the cases of one defect, which has this ID in the run of --baseline")
      .value("ID")
      .needs(of_run.baseline)
      .excludes(shard);
}

KernelRun::KernelRun(KernelRequest& request)
    : JudgingRun(request),
      request_(request),
      contract_(open_contract(request.contract, request.run.testee)),
      corpus_(golden_folder(request.golden), operators_of(request)),
      library_(open_library(request.run.testee, corpus_)),
      case_runner_(
          corpus_, *library_, contract_,
          sandbox::time_limit_of(std::chrono::seconds(request.timeout), library_->is_remote(), &watch_interrupts()),
          request.workers, request.suite.thorough) {
  std::set<std::string> mustpass;
  if (!request.run.mustpass.empty()) mustpass = runner::read_cases(request.run.mustpass, "mustpass", corpus_);
  std::vector<runner::Block> blocks = chosen();
  std::set<std::string> others = mustpass;
  for (const runner::Block& block : blocks)
    for (const cases::CaseId& id : block) others.erase(cases::to_text(id));
  std::ranges::move(runner::blocks_of(others), std::back_inserter(blocks));
  plan(ids_of_each(blocks), std::move(mustpass));
}

std::vector<runner::Block> KernelRun::chosen() {
  if (!request_.defect.empty())  // the baseline names the cases, and judges nothing
    return runner::blocks_of(cases_of_defect(request_.defect, std::exchange(request_.run.baseline, {})));
  if (!request_.cases.empty()) return runner::blocks_of(listed_cases());
  request_.suite.workers = request_.workers;
  const auto has = [&](const Operator& op) { return library_->has(op); };
  return runner::plan_blocks(corpus_, request_.suite, library_->recorded_only(), has);
}

// A run of no case would be a success that shows nothing.
std::set<std::string> KernelRun::listed_cases() const {
  std::set<std::string> cases = runner::read_cases(request_.cases, "cases", corpus_);
  text::well_formed(!cases.empty(), "cases", text::printable(request_.cases), " lists no case");
  return cases;
}

verdict::Facts KernelRun::own_settings() const {
  verdict::Facts facts = facts_of_testee(library_->name(), library_->facts(), library_->binaries());
  facts.insert(facts.begin() + 2, {"contract", contract_.name});
  const runner::SuiteOptions& o = request_.suite;
  facts.push_back({"operators", o.operators.empty() ? "all" : o.operators});
  facts.push_back({"seed", fmt::format("{}, {} mutations an operator", o.seed, o.mutations)});
  if (o.shuffle) facts.push_back({"shuffle", std::to_string(*o.shuffle)});
  if (o.thorough) facts.push_back({"thorough", "yes"});
  return facts;
}

void KernelRun::judge_blocks(const std::vector<runner::Ids>& blocks, const Add& add) {
  std::vector<runner::Block> cases;
  for (const runner::Ids& ids : blocks) cases.push_back(block_of(ids));
  runner::judge_blocks(case_runner_, cases, request_.workers, add);
}

void KernelRun::keep(const verdict::Record& record) {
  seen_.push_back(defects::seen(record));
  const Operator* op = find_operator(record.operator_name);
  if (op && library_->has(*op)) untried_.add(record);
}

void KernelRun::add_findings(RunLog& log, bool is_interrupted) {
  const auto begun = [&](std::string_view op) { log.progress().looks_into(op); };
  runner::CaseRunner* case_runner = is_interrupted ? nullptr : &case_runner_;
  for (verdict::Defect& d : defects::defects_of(case_runner, corpus_, seen_, request_.workers, begun)) {
    d.testee = library_->name();
    d.command =
        verdict::repro_line(d.smallest, unless_usual(request_.run.testee), request_.contract, request_.suite.thorough);
    log.add(d);
  }
  if (is_interrupted || is_of_listed_cases()) return;  // such a run does not try every promise
  log.set_untried(untried_.found());
}

void KernelRun::print_rest() const {
  std::string others;
  for (const std::string& kernel : library_->kernels())
    if (!find_operator(kernel)) others += (others.empty() ? "" : ", ") + kernel;
  const auto missing =
      std::ranges::count_if(corpus_.matching(request_.suite.operators),
                            [&](const cases::RecordedCalls* calls) { return !library_->has(calls->op()); });
  if (missing > 0)
    std::cout << fmt::format("{} {} not in this library\n", missing, missing == 1 ? "operator is" : "operators are");
  if (!others.empty()) std::cout << "Not judged, as the spec has no entry: " << others << '\n';
}

std::string_view KernelRun::why_not_judged() const {
  return "of the valid calls, each is of an operator for which it has no kernel, or refused as unsupported";
}

}  // namespace assay::command
