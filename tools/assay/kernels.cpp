#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "conformance/report/html.h"
#include "conformance/report/summary.h"
#include "conformance/report/table.h"
#include "conformance/runner/case_list.h"
#include "conformance/runner/suite.h"
#include "reference/fault.h"
#include "tools/assay/addresses.h"
#include "tools/assay/libraries.h"
#include "tools/assay/subcommands.h"
#include "version.h"

namespace assay {
namespace {

constexpr int answers_differ = 1, interrupted_exit = 130;  // as shells have it
constexpr int walls = 10;  // seconds of the wall that a case may take for each of its processor

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
  std::string library, contract, golden, known, mustpass, jsonl, html;
  bool json = false, strict = false;
  SuiteOptions suite;
};

// How far a run is: a line that is rewritten on a terminal, one line every ten seconds elsewhere.
class Progress {
 public:
  explicit Progress(std::size_t planned) : planned_(planned), terminal_(isatty(STDERR_FILENO) != 0) {}
  ~Progress() {
    if (terminal_) std::cerr << "\r\x1b[K" << std::flush;
  }

  void add(const Record& r) {
    ++judged_;
    failures_ += is_failure(r.verdict);
    show(fmt::format("{} of {} cases judged, {} failures, at {}", judged_, planned_, failures_, r.operator_name));
  }
  void add(const Defect& d) {
    show(fmt::format("{} failures, looking for the smallest, at {}", failures_, d.smallest.operator_name));
  }
  std::size_t planned() const { return planned_; }
  std::size_t judged() const { return judged_; }
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

 private:
  using Clock = std::chrono::steady_clock;

  void show(const std::string& line) {
    const auto now = Clock::now();
    if (now - shown_ < (terminal_ ? std::chrono::milliseconds(200) : std::chrono::seconds(10))) return;
    shown_ = now;
    std::cerr << (terminal_ ? "\r\x1b[K" + line : line + "\n") << std::flush;
  }

  std::size_t planned_;
  bool terminal_;
  Clock::time_point start_ = Clock::now(), shown_ = start_;
  std::size_t judged_ = 0, failures_ = 0;
};

// A file that is written beside its place and put there when it is whole, so that what was there is not lost before.
class OutputFile {
 public:
  explicit OutputFile(const std::string& file) : file_(file), beside_(file + ".part"), out_(beside_, std::ios::binary) {
    if (!out_) throw Fault(Outcome::exhausted, "output", text(file, " cannot be written"));
  }

  std::ostream& stream() { return out_; }

  void finish() {
    out_.close();
    std::error_code failed;
    if (out_) std::filesystem::rename(beside_, file_, failed);
    if (!out_ || failed)
      throw Fault(Outcome::exhausted, "output", text(file_, " cannot be written: is the disk full?"));
  }

 private:
  std::string file_, beside_;
  std::ofstream out_;
};

// What decides which records a run gives.
Facts settings(const Request& request, const KernelLibrary& library, const Contract& contract) {
  Facts facts{{"assay", version}, {"testee", std::string(library.name())}, {"contract", contract.name}};
  for (auto& [name, value] : library.facts()) facts.push_back({name, value});
  const SuiteOptions& o = request.suite;
  facts.push_back({"operators", o.operators.empty() ? "all" : o.operators});
  facts.push_back({"seed", fmt::format("{}, {} mutations an operator", o.seed, o.mutations)});
  if (o.shuffle) facts.push_back({"shuffle", std::to_string(*o.shuffle)});
  facts.push_back({"timeout", fmt::format("{} s of processor time", o.timeout_seconds)});
  facts.push_back({"addresses", has_fixed_addresses() ? "fixed" : "random"});
  return facts;
}

Facts facts_of(Facts settings, const Progress& progress) {
  settings.push_back({"cases", fmt::format("{}{} in {:.1f} s",
                                           interrupted ? fmt::format("interrupted: {} of ", progress.judged()) : "",
                                           progress.planned(), progress.seconds())});
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
  for (const VerdictRow& v : verdicts) footer[std::string(v.name)] = counts[static_cast<std::size_t>(v.verdict)];
  footer["seconds"] = progress.seconds();
  return Json{{"footer", footer}}.dump();
}

// The smallest of each kind of failure that was made by mutations, which can be taken back.
std::vector<Record> to_be_shrunk(const Summary& summary) {
  std::vector<Record> failing;
  for (const auto& [name, testee] : summary.testees)
    for (const auto& [op, entry] : testee)
      for (const auto& [kind, finding] : entry.findings)
        if (is_failure(kind.verdict) && finding.smallest.case_id.find('~') != std::string::npos)
          failing.push_back(finding.smallest);
  return failing;
}

Json summary_json(const Summary& summary) {
  Json all;
  for (const auto& [testee, operators] : summary.testees)
    for (const auto& [op, s] : operators)
      for (const VerdictRow& v : verdicts)
        all[testee][op][std::string(v.name)] = s.verdicts[static_cast<std::size_t>(v.verdict)];
  return all;
}

// What counts for the exit code: a failure that is promised not to be, and a listed one that is none.
bool is_unexpected(const Record& r, bool strict) {
  return is_failure(r.verdict) ? !r.known && (strict || r.promised) : r.known;
}

Block not_planned(const std::set<std::string>& cases, const std::vector<Block>& blocks) {
  std::set<std::string> rest = cases;
  for (const Block& block : blocks)
    for (const CaseId& id : block) rest.erase(to_text(id));
  Block block;
  for (const std::string& id : rest) block.push_back(case_id_from(id));
  return block;
}

int judge_library(const Request& request) {
  const Contract contract = open_contract(request.contract, request.library);
  const Corpus corpus(golden_folder(request.golden));
  const std::unique_ptr<KernelLibrary> library = open_library(request.library, corpus);
  std::set<std::string> known =
      request.known.empty() ? std::set<std::string>() : read_case_list(request.known, "known");
  std::set<std::string> mustpass =
      request.mustpass.empty() ? std::set<std::string>() : read_mustpass(request.mustpass, corpus);
  const std::chrono::seconds timeout(request.suite.timeout_seconds);
  Laboratory laboratory(corpus, *library, contract, {timeout, walls * timeout, &interrupted});
  leave_gently();
  std::vector<Block> blocks = plan_blocks(corpus, request.suite, library->recorded_only());
  if (Block rest = not_planned(mustpass, blocks); !rest.empty()) blocks.push_back(std::move(rest));
  std::size_t planned = 0;
  for (const Block& block : blocks) planned += block.size();
  std::optional<OutputFile> jsonl, html;
  if (!request.jsonl.empty()) jsonl.emplace(request.jsonl);
  if (!request.html.empty()) html.emplace(request.html);
  const Facts facts = settings(request, *library, contract);
  const auto write = [&](const std::string& line) {
    if (jsonl) jsonl->stream() << line << '\n' << std::flush;
  };
  Summary summary;
  std::optional<Progress> progress(std::in_place, planned);
  bool unexpected = false;
  write(header_line(facts, planned));
  try {
    judge_blocks(laboratory, blocks, request.suite.workers, [&](Record r) {
      r.known = known.erase(r.case_id) > 0;
      unexpected = unexpected || is_unexpected(r, request.strict);
      if (r.verdict == Verdict::pass) mustpass.erase(r.case_id);
      summary.add(r);
      progress->add(r);
      write(to_json_line(r));
    });
    shrink(laboratory, to_be_shrunk(summary), request.suite.workers, [&](Defect d) {
      summary.add(d);
      progress->add(d);
      write(to_json_line(d));
    });
  } catch (const Interrupted&) {
  }
  write(footer_line(summary, *progress));
  if (html) write_html(html->stream(), summary, facts_of(facts, *progress));
  const std::size_t judged = progress->judged();
  progress.reset();
  if (jsonl) jsonl->finish();
  if (html) html->finish();
  if (request.json) {
    std::cout << summary_json(summary).dump(2) << '\n';
  } else {
    const bool terminal = isatty(STDOUT_FILENO) != 0;
    write_table(std::cout, summary,
                {.width = terminal ? 100 : TableStyle::unlimited, .findings = 20, .colour = terminal});
  }
  if (interrupted) {
    std::cerr << "assay: interrupted: " << judged << " of " << planned << " cases were judged\n";
    return interrupted_exit;
  }
  for (const std::string& id : known)
    std::cerr << "assay: " << id << " is listed in " << request.known << ", but is no case of this run\n";
  for (const std::string& id : mustpass)
    std::cerr << "assay: " << id << " is listed in " << request.mustpass << ", but did not pass\n";
  return unexpected || !mustpass.empty() ? answers_differ : exit_code(Outcome::ok);
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
  CLI::App* command = app.add_subcommand("kernels", "Judges a library of kernels by the reference");
  const auto r = std::make_shared<Request>();
  command
      ->add_option("LIBRARY", r->library,
                   "executorch (its official kernels), reference, or eager (PyTorch, as it was recorded)")
      ->required();
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
  command->add_option("--workers", r->suite.workers, "Children that run cases at the same time")
      ->capture_default_str()
      ->check(CLI::Range(1, 256));
  command->add_option("--timeout", r->suite.timeout_seconds, "Seconds of processor time that one case may take")
      ->capture_default_str()
      ->check(CLI::Range(1, 3600));
  command->add_option("--golden", r->golden, "Folder of recorded calls [golden/operators of the checkout]");
  command->add_option(
      "--known", r->known,
      "File of expected failures, a case id at the beginning of each line; one that passes is an error");
  command->add_option("--contract", r->contract, contract_help);
  command->add_flag("--strict", r->strict, "Calls that the contract does not promise count for the exit code, too");
  command->add_option("--mustpass", r->mustpass,
                      "File of cases that must pass, an id at the beginning of each line; they are judged in any case");
  command->add_option("-o", r->jsonl, "Write every case as a line of JSON to this file, as it is judged");
  command->add_option("--html", r->html, "Write a report to this file");
  command->add_flag("--json", r->json, "Print the counts as JSON instead of the table");
  command->footer(
      "Exit code 0: no failure of a promised call but the known ones, 1: other failures, a known one passed, or a case "
      "that must pass did not.\n\nExample:\n  assay "
      "kernels executorch --operators 'add*,mul' --html report.html");
  command->callback([r, &exit_code] { exit_code = judge_library(*r); });
}

}  // namespace assay
