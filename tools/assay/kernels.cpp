#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "conformance/report/html.h"
#include "conformance/report/summary.h"
#include "conformance/report/table.h"
#include "conformance/runner/known.h"
#include "conformance/runner/suite.h"
#include "reference/fault.h"
#include "tools/assay/libraries.h"
#include "tools/assay/subcommands.h"
#include "version.h"

namespace assay {
namespace {

constexpr int answers_differ = 1;

struct Request {
  std::string library, golden, known, jsonl, html;
  bool json = false;
  SuiteOptions suite;
};

// How far a run is: a line that is rewritten on a terminal, one line every ten seconds elsewhere.
class Progress {
 public:
  explicit Progress(const Suite& suite) : suite_(suite), terminal_(isatty(STDERR_FILENO) != 0) {}
  ~Progress() {
    if (terminal_) std::cerr << "\r\x1b[K" << std::flush;
  }

  void add(const Record& r) {
    ++judged_;
    failures_ += is_failure(r.verdict);
    const auto now = Clock::now();
    if (now - shown_ < (terminal_ ? std::chrono::milliseconds(200) : std::chrono::seconds(10))) return;
    shown_ = now;
    const std::string line =
        judged_ <= suite_.planned()
            ? fmt::format("{} of {} cases judged, {} failures, at {}", judged_, suite_.planned(), failures_,
                          r.operator_name)
            : fmt::format("{} failures, looking for the smallest, at {}", failures_, r.operator_name);
    std::cerr << (terminal_ ? "\r\x1b[K" + line : line + "\n") << std::flush;
  }
  std::size_t judged() const { return judged_; }
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  const Suite& suite_;
  bool terminal_;
  Clock::time_point start_ = Clock::now(), shown_ = start_;
  std::size_t judged_ = 0, failures_ = 0;
};

std::ofstream opened(const std::string& file) {
  std::ofstream out(file, std::ios::binary);
  if (!out) throw Fault(Outcome::exhausted, "output", text(file, " cannot be written"));
  return out;
}

Facts facts_of(const Request& request, const KernelLibrary& library, const Progress& progress) {
  Facts facts{{"assay", version}, {"testee", std::string(library.name())}};
  for (auto& [name, value] : library.facts()) facts.push_back({name, value});
  facts.push_back({"operators", request.suite.operators.empty() ? "all" : request.suite.operators});
  facts.push_back({"seed", fmt::format("{}, {} mutations an operator", request.suite.seed, request.suite.mutations)});
  facts.push_back({"cases", fmt::format("{} in {:.1f} s", progress.judged(), progress.seconds())});
  facts.push_back({"date", fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(std::time(nullptr)))});
  return facts;
}

nlohmann::ordered_json summary_json(const Summary& summary) {
  nlohmann::ordered_json all;
  for (const auto& [testee, operators] : summary.testees)
    for (const auto& [op, s] : operators)
      for (const VerdictRow& v : verdicts)
        all[testee][op][std::string(v.name)] = s.verdicts[static_cast<std::size_t>(v.verdict)];
  return all;
}

int judge_library(const Request& request) {
  const Corpus corpus(golden_folder(request.golden));
  const std::unique_ptr<KernelLibrary> library = open_library(request.library, corpus);
  if (corpus.matching(request.suite.operators).empty())
    throw Fault(Outcome::unsupported, "case.operator",
                text("no operator with recorded calls matches '", request.suite.operators, "'"));
  Suite suite(corpus, request.suite, library->recorded_only());
  std::optional<std::ofstream> jsonl, html;
  if (!request.jsonl.empty()) jsonl = opened(request.jsonl);
  if (!request.html.empty()) html = opened(request.html);
  Summary summary;
  std::optional<Progress> progress(std::in_place, suite);
  std::set<std::string> known = request.known.empty() ? std::set<std::string>() : known_failures(request.known);
  bool unexpected = false;
  run_suite(corpus, *library, request.suite, suite, [&](Record r) {
    r.known = known.erase(r.case_id) > 0;
    unexpected = unexpected || is_failure(r.verdict) != r.known;
    summary.add(r);
    progress->add(r);
    if (jsonl) *jsonl << to_json_line(r) << '\n' << std::flush;
  });
  const Facts facts = facts_of(request, *library, *progress);
  progress.reset();
  if (html) write_html(*html, summary, facts);
  const auto lost = [](std::optional<std::ofstream>& file) { return file && file->flush().fail(); };
  if (lost(jsonl) || lost(html))
    throw Fault(Outcome::exhausted, "output", "the results cannot be written: is the disk full?");
  if (request.json)
    std::cout << summary_json(summary).dump(2) << '\n';
  else
    write_table(std::cout, summary, {.width = 100, .findings = 20, .colour = isatty(STDOUT_FILENO) != 0});
  for (const std::string& id : known)
    std::cerr << "assay: " << id << " is listed in " << request.known << ", but is no case of this run\n";
  return unexpected ? answers_differ : exit_code(Outcome::ok);
}

}  // namespace

void add_kernels(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("kernels", "Judges a library of kernels by the reference");
  const auto r = std::make_shared<Request>();
  command
      ->add_option("LIBRARY", r->library,
                   "executorch (its official kernels), reference, or eager (PyTorch, as it was recorded)")
      ->required();
  command->add_option("--operators", r->suite.operators,
                      "Only operators that match, such as 'add*,aten::mul.out'; a name alone means all its overloads");
  command->add_option("--seed", r->suite.seed, "Of the mutated calls")->capture_default_str();
  command->add_option("--mutations", r->suite.mutations, "Mutated calls for each operator")->capture_default_str();
  command
      ->add_option("--workers", r->suite.workers,
                   "Children that run the cases; 0 runs them in this process, which a crash ends")
      ->capture_default_str()
      ->check(CLI::Range(0, 256));
  command->add_option("--timeout", r->suite.timeout_seconds, "Seconds that one case may take")
      ->capture_default_str()
      ->check(CLI::Range(1, 3600));
  command->add_option("--golden", r->golden, "Folder of recorded calls [golden/operators of the checkout]");
  command->add_option(
      "--known", r->known,
      "File of expected failures, a case id at the beginning of each line; one that passes is an error");
  command->add_option("-o", r->jsonl, "Write every case as a line of JSON to this file, as it is judged");
  command->add_option("--html", r->html, "Write a report to this file");
  command->add_flag("--json", r->json, "Print the counts as JSON instead of the table");
  command->footer(
      "Exit code 0: no failure but the known ones, 1: other failures, or a known one passed.\n\nExample:\n  assay "
      "kernels executorch --operators 'add*,mul' --html report.html");
  command->callback([r, &exit_code] { exit_code = judge_library(*r); });
}

}  // namespace assay
