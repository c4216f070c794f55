#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "command/options.h"
#include "command/output_file.h"
#include "command/progress.h"
#include "command/report_files.h"
#include "conformance/runner/case_list.h"
#include "conformance/verdict/compare.h"
#include "conformance/verdict/facts.h"
#include "conformance/verdict/summary.h"

// The options, lines and reports of all commands that judge cases.
namespace assay::command {

inline constexpr int interrupted_exit = 130;  // 128 + SIGINT, as in shells

// The exit codes of a run, for the end of the help.
inline constexpr const char* run_exit_codes = R"(Exit codes:
  0    each promised case (spec/contracts.md) passes, or --known or --baseline excuses its failure
  1    a promised case fails without such an excuse, or a case that --known lists passes
  5    no case was judged, because the testee supports no valid case
  130  a signal interrupted the run)";

// Handles SIGINT and SIGTERM: the first one makes the flag true, so that the run ends with what it has; the second one
// ends the process.
const std::atomic<bool>& watch_interrupts();

// Which files a run writes, and which of its failures were known before.
struct RunRequest {
  std::string testee, known, mustpass, baseline, jsonl;
  ReportFiles reports;
  bool json = false, strict = false;
  bool is_part = false;                   // one shard of a run: a listed case may be in another shard
  std::size_t defects = 20;               // the number of defects to print
  std::string_view subject = "operator";  // what a line of the table describes
};

void add_workers(Options& options, int& workers);

// --known, --strict, -o, reports, --baseline, --defects, --json.
struct RunOptions {
  Option lines, baseline;
};
RunOptions add_run_options(Options& options, RunRequest& request);

// The first facts of every run: version, testee, what the testee tells of itself, and the digests of its binaries.
verdict::Facts facts_of_testee(std::string_view testee, const std::vector<std::pair<std::string, std::string>>& said,
                               const std::vector<std::string>& binaries);
verdict::NamedText timeout_fact(int seconds, bool is_remote);  // states the time limit and the clock that measures it

// Writes the lines, reports and table of a run, and finds its exit code.
class RunLog {
 public:
  // A run of `planned` cases, with these settings in its header; the cases `mustpass` must pass. The request must
  // outlive the log.
  RunLog(RunRequest& request, verdict::Facts settings, std::size_t planned, std::set<std::string> mustpass = {});

  const std::string& header() const { return header_; }  // the header's line
  Progress& progress() { return *progress_; }

  void begin();  // opens files and writes the header
  void add(verdict::Record record);
  void add(const verdict::Defect& defect);
  void set_untried(std::vector<verdict::NamedText> untried);  // as in verdict::RunFile
  void finish();                                              // writes the rest, and prints the table or JSON

  int exit_code(std::string_view why_not_judged) const;  // also prints the reasons on standard error

 private:
  void write(const std::string& line);
  std::string footer() const;
  void print() const;

  RunRequest& request_;
  verdict::Facts settings_;
  std::size_t planned_;
  std::string header_;
  runner::Waivers waivers_;
  // The ids that have not passed yet. `waivers_.known` has the ids that have not been seen yet.
  std::set<std::string> mustpass_;
  std::optional<verdict::Baseline> before_;
  std::set<std::string> fresh_;  // failing cases that are new since `before_`
  std::optional<OutputFile> jsonl_;
  std::optional<Progress> progress_;
  verdict::Summary summary_;
  std::vector<verdict::NamedText> untried_;
  verdict::VerdictsDigest verdicts_;
  std::size_t judged_ = 0;
  bool unexpected_ = false;
  bool answered_ = false, refused_ = false;  // whether at least one valid call was answered or refused
};

}  // namespace assay::command
