#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <csignal>
#include <fstream>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "conformance/defects/defects.h"
#include "conformance/report/compare.h"
#include "conformance/report/summary.h"
#include "conformance/report/table.h"
#include "conformance/runner/case_list.h"
#include "conformance/runner/suite.h"
#include "conformance/testees/binaries.h"
#include "reference/fault.h"
#include "tools/assay/addresses.h"
#include "tools/assay/libraries.h"
#include "tools/assay/output_file.h"
#include "tools/assay/progress.h"
#include "tools/assay/report_files.h"
#include "tools/assay/runs.h"
#include "tools/assay/subcommands.h"
#include "version.h"

namespace assay {
namespace {

constexpr int interrupted_exit = 130;  // as shells have it

std::atomic<bool> interrupted = false;

// An interrupt or a request to end lets the run finish with what it has; the next one ends it.
void leave_gently() {
  for (const int s : {SIGINT, SIGTERM})
    std::signal(s, [](int signal) {
      interrupted = true;
      std::signal(signal, SIG_DFL);
    });
}

struct Request {
  std::string testee, contract, golden, known, mustpass, cases, defect, baseline, jsonl;
  ReportFiles reports;
  bool json = false, strict = false, resume = false;
  std::size_t defects = 20;  // to print
  SuiteOptions suite;
};

// What decides which records a run gives.
Facts settings(const Request& request, const KernelLibrary& library, const Contract& contract) {
  Facts facts{{"assay", version}, {"testee", std::string(library.name())}, {"contract", contract.name}};
  for (const auto& [name, value] : library.facts()) facts.push_back({name, value});
  for (const auto& [name, digest] : digests_of_loaded(library.binaries())) facts.push_back({name, digest});
  const SuiteOptions& o = request.suite;
  facts.push_back({"operators", o.operators.empty() ? "all" : o.operators});
  facts.push_back({"seed", fmt::format("{}, {} mutations an operator", o.seed, o.mutations)});
  if (o.shuffle) facts.push_back({"shuffle", std::to_string(*o.shuffle)});
  facts.push_back(
      {"timeout", fmt::format("{} s{}", o.timeout_seconds, library.is_remote() ? "" : " of processor time")});
  facts.push_back({"addresses", has_fixed_addresses() ? "fixed" : "random"});
  return facts;
}

Facts facts_of(Facts settings, const Progress& progress, std::size_t planned) {
  settings.push_back({"cases", fmt::format("{}{} in {:.1f} s",
                                           interrupted ? fmt::format("interrupted: {} of ", progress.judged()) : "",
                                           planned, progress.seconds())});
  settings.push_back({"date", fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(std::time(nullptr)))});
  return settings;
}

using Json = nlohmann::ordered_json;

std::string header_line(const Facts& settings, std::size_t planned) {
  Json header;
  for (const NamedText& fact : settings) header[fact.name] = fact.text;
  header["cases"] = planned;
  return Json{{"header", header}}.dump();
}

std::string footer_line(const Summary& summary, const Progress& progress) {
  VerdictCounts counts{};
  for (const auto& [name, testee] : summary.testees) counts += verdict_counts(testee);
  Json footer{{"complete", !interrupted}, {"cases", progress.judged()}};
  footer.update(counts_json(counts));
  footer["seconds"] = progress.seconds();
  return Json{{"footer", footer}}.dump();
}

Json summary_json(const Summary& summary) {
  Json all = Json::object();
  for (const auto& [name, testee] : summary.testees) {
    Json& json = all[name];
    json = {{"headline", headline(testee)}, {"promised", counts_json(promised_counts(testee))}};
    json["operators"] = Json::object(), json["defects"] = Json::array();
    for (const auto& [op, entry] : testee.operators) json["operators"][op] = counts_json(entry.verdicts);
    for (const Defect& d : testee.defects) json["defects"].push_back(to_json(d));
  }
  return all;
}

// What counts for the exit code: a failure that is promised not to be and is new, and a listed one that is none.
bool is_unexpected(const Record& r, bool strict, const std::optional<Baseline>& before) {
  if (!is_failure(r.verdict)) return r.known;
  return !r.known && (strict || r.promised) && (!before || before->is_new(r));
}

// The cases of a defect that an earlier run named.
std::set<std::string> cases_of_defect(const std::string& id, const RunFile& run, const std::string& file) {
  for (const Defect& d : run.defects)
    if (d.id == id) return {d.case_ids.begin(), d.case_ids.end()};
  throw Fault(Outcome::invalid, "run.defect", text(file, " has no defect ", id));
}

// One run: what is planned, and what is known of it so far.
class Run {
 public:
  explicit Run(Request& request)
      : request_(request),
        contract_(open_contract(request.contract, request.testee)),
        corpus_(golden_folder(request.golden)),
        library_(open_library(request.testee, corpus_)),
        laboratory_(corpus_, *library_, contract_, patience_of(timeout(), library_->is_remote(), &interrupted),
                    request.suite.workers) {
    if (!request.known.empty()) known_ = read_case_list(request.known, "known");
    if (!request.mustpass.empty()) mustpass_ = read_cases(request.mustpass, "mustpass", corpus_);
    plan();
  }

  int judge() {
    const Facts facts = settings(request_, *library_, contract_);
    const std::string header = header_line(facts, planned_);
    std::vector<Record> earlier = resumed(header);
    if (!request_.jsonl.empty()) jsonl_.emplace(request_.jsonl);
    request_.reports.open();
    progress_.emplace(planned_);
    write(header);
    for (Record& r : earlier) add(std::move(r));
    try {
      judge_blocks(laboratory_, blocks_, request_.suite.workers, [&](Record r) { add(std::move(r)); });
      find_defects(&laboratory_);
    } catch (const Interrupted&) {
      find_defects(nullptr);
    }
    write(footer_line(summary_, *progress_));
    request_.reports.write(summary_, facts_of(facts, *progress_, planned_));
    const std::size_t judged = progress_->judged();
    progress_.reset();
    if (jsonl_) jsonl_->finish();
    print();
    return verdict(judged);
  }

 private:
  std::chrono::seconds timeout() const { return std::chrono::seconds(request_.suite.timeout_seconds); }

  // A run that is a baseline is large: nothing keeps all of it.
  void plan() {
    const RunFile baseline = request_.baseline.empty() ? RunFile() : open_run(request_.baseline);
    if (!request_.defect.empty())
      blocks_ = blocks_of(cases_of_defect(request_.defect, baseline, request_.baseline));
    else if (!request_.cases.empty())
      blocks_ = blocks_of(read_cases(request_.cases, "cases", corpus_));
    else
      blocks_ = plan_blocks(corpus_, request_.suite, library_->recorded_only());
    if (!request_.baseline.empty() && request_.defect.empty()) before_.emplace(baseline);
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
    const std::string part = OutputFile::part_of(request_.jsonl);
    RunFile run = open_run(std::filesystem::exists(part) ? part : request_.jsonl);
    if (run.header != header)
      throw Fault(Outcome::invalid, "run.resume",
                  text(request_.jsonl, " is of another run: its first line must be ", header));
    std::size_t whole = 0, cases = 0;
    while (whole < blocks_.size() && cases + blocks_[whole].size() <= run.records.size())
      cases += blocks_[whole++].size();
    run.records.resize(cases);
    blocks_.erase(blocks_.begin(), blocks_.begin() + static_cast<std::ptrdiff_t>(whole));
    return std::move(run.records);
  }

  void write(const std::string& line) {
    if (jsonl_) jsonl_->stream() << line << '\n' << std::flush;
  }

  void add(Record r) {
    r.known = known_.erase(r.case_id) > 0;
    unexpected_ = unexpected_ || is_unexpected(r, request_.strict, before_);
    if (r.valid) (r.verdict == Verdict::unsupported ? refused_ : answered_) = true;
    answered_ = answered_ || is_failure(r.verdict);
    if (r.verdict == Verdict::pass) mustpass_.erase(r.case_id);
    summary_.add(r);
    seen_.push_back(seen(r));
    progress_->add(r);
    write(to_json_line(r));
  }

  void find_defects(Laboratory* laboratory) {
    const auto begun = [&](std::string_view op) { progress_->looks_into(op); };
    for (Defect& d : defects_of(laboratory, corpus_, seen_, request_.suite.workers, begun)) {
      d.testee = library_->name();
      d.command = repro_line(d.smallest, request_.testee == usual_testee ? "" : request_.testee, request_.contract);
      summary_.add(d);
      write(to_json_line(d));
    }
  }

  void print() const {
    if (request_.json) {
      std::cout << summary_json(summary_).dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
      return;
    }
    const bool terminal = isatty(STDOUT_FILENO) != 0;
    write_table(std::cout, summary_,
                {.width = terminal ? 100 : TableStyle::unlimited,
                 .defects = request_.defects,
                 .outside = request_.strict,
                 .colour = terminal});
    std::string others;
    for (const std::string& kernel : library_->kernels())
      if (!find_operator(kernel)) others += (others.empty() ? "" : ", ") + kernel;
    if (!others.empty()) std::cout << "Not judged, as the spec has no entry: " << others << '\n';
  }

  int verdict(std::size_t judged) const {
    if (interrupted) {
      std::cerr << "assay: interrupted: " << judged << " of " << planned_ << " cases were judged\n";
      return interrupted_exit;
    }
    for (const std::string& id : known_)
      std::cerr << "assay: " << id << " is listed in " << request_.known << ", but is no case of this run\n";
    for (const std::string& id : mustpass_)
      std::cerr << "assay: " << id << " is listed in " << request_.mustpass << ", but did not pass\n";
    if (unexpected_ || !mustpass_.empty()) return answers_differ;
    if (answered_ || !refused_) return exit_code(Outcome::ok);
    std::cerr << "assay: " << library_->name()
              << " was not judged: of the valid calls, each is of an operator for which "
              << "it has no kernel, or refused as unsupported\n";
    return exit_code(Outcome::unsupported);
  }

  Request& request_;
  const Contract contract_;
  const Corpus corpus_;
  const std::unique_ptr<KernelLibrary> library_;
  Laboratory laboratory_;
  std::set<std::string> known_, mustpass_;  // of which nothing was seen yet, or no pass
  std::optional<Baseline> before_;
  std::vector<Block> blocks_;
  std::size_t planned_ = 0;  // cases
  std::optional<OutputFile> jsonl_;
  std::optional<Progress> progress_;
  Summary summary_;
  std::vector<JudgedCase> seen_;
  bool unexpected_ = false;
  bool answered_ = false, refused_ = false;  // valid calls: one with an answer to judge, one as unsupported
};

int judge_library(Request& request) {
  leave_gently();
  return Run(request).judge();
}

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
  command->add_option("TESTEE", r->testee, testee_help)->required();
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
  command->add_option(
      "--known", r->known,
      "File of expected failures, a case id at the beginning of each line; one that passes is an error");
  command->add_option("--contract", r->contract, contract_help);
  command->add_flag("--strict", r->strict, "Calls that the contract does not promise count for the exit code, too");
  command->add_option("--mustpass", r->mustpass,
                      "File of cases that must pass, an id at the beginning of each line; they are judged in any case");
  auto* lines = command->add_option("-o", r->jsonl, "Write every case as a line of JSON to this file, as it is judged");
  r->reports.add_options(*command);
  command->add_option("--cases", r->cases, "Judge the cases of this list alone")->check(CLI::ExistingFile);
  auto* baseline =
      command
          ->add_option("--baseline", r->baseline,
                       "Lines of an earlier run: only failures that it does not have count for the exit code")
          ->check(CLI::ExistingFile);
  command
      ->add_option("--defect", r->defect,
                   "Judge the cases of this defect of the baseline alone, to see whether it is mended")
      ->needs(baseline);
  command->add_flag("--resume", r->resume, "Go on with the run that was interrupted while it wrote the file of -o")
      ->needs(lines);
  command->add_option("--defects", r->defects, "How many defects to print, most serious first")
      ->capture_default_str()
      ->check(CLI::Range(0, 1'000'000));
  command->add_flag("--json", r->json, "Print counts and defects as JSON instead of the table");
  command->footer(
      "Exit code 0: no failure of a promised call but the known ones, 1: other failures, a known one passed, or a case "
      "that must pass did not, 5: nothing was judged, as no valid call was answered.\n\nExample:\n  assay "
      "kernels executorch --operators 'add*,mul' --html report.html");
  command->callback([r, &exit_code] { exit_code = judge_library(*r); });
}

}  // namespace assay
