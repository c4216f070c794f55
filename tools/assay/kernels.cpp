#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <iostream>
#include <memory>
#include <optional>
#include <utility>

#include "conformance/defects/defects.h"
#include "conformance/runner/case_list.h"
#include "conformance/runner/suite.h"
#include "reference/fault.h"
#include "tools/assay/addresses.h"
#include "tools/assay/libraries.h"
#include "tools/assay/run_log.h"
#include "tools/assay/runs.h"
#include "tools/assay/subcommands.h"

namespace assay {
namespace {

struct Request {
  RunRequest run;
  std::string contract, golden, cases, defect;
  bool resume = false;
  SuiteOptions suite;
};

// What decides which records a run gives.
Facts settings(const Request& request, const KernelLibrary& library, const Contract& contract) {
  Facts facts = facts_of_testee(library.name(), library.facts(), library.binaries());
  facts.insert(facts.begin() + 2, {"contract", contract.name});
  const SuiteOptions& o = request.suite;
  facts.push_back({"operators", o.operators.empty() ? "all" : o.operators});
  facts.push_back({"seed", fmt::format("{}, {} mutations an operator", o.seed, o.mutations)});
  if (o.shuffle) facts.push_back({"shuffle", std::to_string(*o.shuffle)});
  facts.push_back(
      {"timeout", fmt::format("{} s{}", o.timeout_seconds, library.is_remote() ? "" : " of processor time")});
  facts.push_back({"addresses", has_fixed_addresses() ? "fixed" : "random"});
  return facts;
}

// The cases of a defect that an earlier run named.
std::set<std::string> cases_of_defect(const std::string& id, const std::string& file) {
  for (const Defect& d : open_run(file).defects)
    if (d.id == id) return {d.case_ids.begin(), d.case_ids.end()};
  throw Fault(Outcome::invalid, "run.defect", text(file, " has no defect ", id));
}

// One run: what is planned, and what is known of it so far.
class Run {
 public:
  explicit Run(Request& request)
      : request_(request),
        contract_(open_contract(request.contract, request.run.testee)),
        corpus_(golden_folder(request.golden)),
        library_(open_library(request.run.testee, corpus_)),
        laboratory_(corpus_, *library_, contract_, patience_of(timeout(), library_->is_remote(), &leave_gently()),
                    request.suite.workers) {
    if (!request.run.mustpass.empty()) mustpass_ = read_cases(request.run.mustpass, "mustpass", corpus_);
    plan();
  }

  int judge() {
    RunLog log(request_.run, settings(request_, *library_, contract_), planned_, mustpass_);
    std::vector<Record> earlier = resumed(log.header());
    log.begin();
    for (Record& r : earlier) add(log, std::move(r));
    try {
      judge_blocks(laboratory_, blocks_, request_.suite.workers, [&](Record r) { add(log, std::move(r)); });
      find_defects(log, &laboratory_);
    } catch (const Interrupted&) {
      find_defects(log, nullptr);
    }
    log.finish();
    if (!request_.run.json) print_others();
    return log.verdict(
        "of the valid calls, each is of an operator for which it has no kernel, or refused as unsupported");
  }

 private:
  std::chrono::seconds timeout() const { return std::chrono::seconds(request_.suite.timeout_seconds); }

  void plan() {
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
    for (const Block& block : blocks_) planned_ += block.size();
  }

  // The records of the whole blocks that an interrupted run of the same settings has judged, which are not planned any
  // more.
  std::vector<Record> resumed(const std::string& header) {
    if (!request_.resume) return {};
    const std::string part = OutputFile::part_of(request_.run.jsonl);
    RunFile run = open_run(std::filesystem::exists(part) ? part : request_.run.jsonl);
    if (run.header != header)
      throw Fault(Outcome::invalid, "run.resume",
                  text(request_.run.jsonl, " is of another run: its first line must be ", header));
    std::size_t whole = 0, cases = 0;
    while (whole < blocks_.size() && cases + blocks_[whole].size() <= run.records.size())
      cases += blocks_[whole++].size();
    run.records.resize(cases);
    blocks_.erase(blocks_.begin(), blocks_.begin() + static_cast<std::ptrdiff_t>(whole));
    return std::move(run.records);
  }

  void add(RunLog& log, Record r) {
    seen_.push_back(seen(r));
    log.add(std::move(r));
  }

  void find_defects(RunLog& log, Laboratory* laboratory) {
    const auto begun = [&](std::string_view op) { log.progress().looks_into(op); };
    for (Defect& d : defects_of(laboratory, corpus_, seen_, request_.suite.workers, begun)) {
      d.testee = library_->name();
      d.command =
          repro_line(d.smallest, request_.run.testee == usual_testee ? "" : request_.run.testee, request_.contract);
      log.add(d);
    }
  }

  void print_others() const {
    std::string others;
    for (const std::string& kernel : library_->kernels())
      if (!find_operator(kernel)) others += (others.empty() ? "" : ", ") + kernel;
    if (!others.empty()) std::cout << "Not judged, as the spec has no entry: " << others << '\n';
  }

  Request& request_;
  const Contract contract_;
  const Corpus corpus_;
  const std::unique_ptr<KernelLibrary> library_;
  Laboratory laboratory_;
  std::set<std::string> mustpass_;
  std::vector<Block> blocks_;
  std::size_t planned_ = 0;  // cases
  std::vector<JudgedCase> seen_;
};

int judge_library(Request& request) { return Run(request).judge(); }

// CLI11 alone takes -1 for the largest number.
CLI::Validator whole_number() {
  return {[](const std::string& given) {
            std::uint64_t value = 0;
            const auto [end, error] = std::from_chars(given.data(), given.data() + given.size(), value);
            const bool fits = error == std::errc{} && end == given.data() + given.size();
            return fits ? std::string() : text(given, " is no whole number below 2^64");
          },
          "UINT"};
}

}  // namespace

void add_kernels(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("kernels", "Judges the kernels of a testee by the reference");
  const auto r = std::make_shared<Request>();
  command->add_option("TESTEE", r->run.testee, testee_help)->required();
  command
      ->add_option("--operators", r->suite.operators,
                   "Only operators that match, such as 'add*,aten::mul.out'; a name alone means all its overloads")
      ->check([](const std::string& given) {
        return given.empty() ? "an empty pattern names no operator" : std::string();
      });
  command->add_option("--seed", r->suite.seed, "Of the mutated calls")->capture_default_str()->check(whole_number());
  command->add_option("--mutations", r->suite.mutations, "Mutated calls for each operator")
      ->capture_default_str()
      ->check(CLI::Range(0, 1'000'000));
  command->add_option("--shuffle", r->suite.shuffle, "Judge in another order, drawn from this seed")
      ->check(whole_number());
  command->add_option("--workers", r->suite.workers, "Processors that cases run on")
      ->capture_default_str()
      ->check(CLI::Range(1, 256));
  command
      ->add_option(
          "--timeout", r->suite.timeout_seconds,
          "Seconds of processor time that one case may take; of the wall, where a testee is another process or machine")
      ->capture_default_str()
      ->check(CLI::Range(1, 3600));
  command->add_option("--golden", r->golden,
                      "Folder of recorded calls [golden/operators of the checkout or installation]");
  command->add_option("--contract", r->contract, contract_help);
  command->add_option("--mustpass", r->run.mustpass,
                      "File of cases that must pass, an id at the beginning of each line; they are judged in any case");
  const RunOptions options = add_run_options(*command, r->run);
  command->add_option("--cases", r->cases, "Judge the cases of this list alone")->check(CLI::ExistingFile);
  command
      ->add_option("--defect", r->defect,
                   "Judge the cases of this defect of the baseline alone, to see whether it is mended")
      ->needs(options.baseline);
  command->add_flag("--resume", r->resume, "Go on with the run that was interrupted while it wrote the file of -o")
      ->needs(options.lines);
  command->footer(
      "Exit code 0: no failure of a promised call but the known ones, 1: other failures, a known one passed, or a case "
      "that must pass did not, 5: nothing was judged, as no valid call was answered.\n\nExample:\n  assay "
      "kernels executorch --operators 'add*,mul' --html report.html");
  command->callback([r, &exit_code] { exit_code = judge_library(*r); });
}

}  // namespace assay
