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

// What commands that judge cases have in common.
namespace assay {

inline constexpr int interrupted_exit = 130;  // as shells have it

// An interrupt or a request to end lets the run finish with what it has; the next one ends it.
const std::atomic<bool>& leave_gently();

// What a run leaves, and which of its failures were known before.
struct RunRequest {
  std::string testee, known, mustpass, baseline, jsonl;
  ReportFiles reports;
  bool json = false, strict = false;
  bool is_part = false;                   // of a run: what is listed may be a case of another
  std::size_t defects = 20;               // to print
  std::string_view subject = "operator";  // what a line of the table is of
};

void add_workers(Options& options, int& workers);

// --known, --strict, -o, reports, --baseline, --defects, --json.
struct RunOptions {
  Option lines, baseline;
};
RunOptions add_run_options(Options& options, RunRequest& request);

// The beginning of the facts of every run, and the digests of binaries.
Facts facts_of_testee(std::string_view testee, const std::vector<std::pair<std::string, std::string>>& said,
                      const std::vector<std::string>& binaries);
NamedText timeout_fact(int seconds, bool is_remote);  // of which clock, too

// The lines, reports and table of a run, and what it means for the exit code.
class RunLog {
 public:
  // Of so many cases, with these settings in its header; `mustpass` are to pass in any case. The request outlives it.
  RunLog(RunRequest& request, Facts settings, std::size_t planned, std::set<std::string> mustpass = {});

  const std::string& header() const { return header_; }  // its line
  Progress& progress() { return *progress_; }

  void begin();  // opens files and writes the header
  void add(Record record);
  void add(const Defect& defect);
  void finish();  // writes the rest, and prints the table or JSON

  int verdict(std::string_view why_not_judged) const;  // the exit code, with words on standard error

 private:
  void write(const std::string& line);
  std::string footer() const;
  void print() const;

  RunRequest& request_;
  Facts settings_;
  std::size_t planned_;
  std::string header_;
  Waivers waivers_;
  std::set<std::string> mustpass_;  // of which no pass was seen yet; of `waivers_.known` nothing
  std::optional<Baseline> before_;
  std::optional<OutputFile> jsonl_;
  std::optional<Progress> progress_;
  Summary summary_;
  VerdictsDigest verdicts_;
  std::size_t judged_ = 0;
  bool unexpected_ = false;
  bool answered_ = false, refused_ = false;  // valid calls: one with an answer to judge, one as unsupported
};

}  // namespace assay
