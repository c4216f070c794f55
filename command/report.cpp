#include <algorithm>
#include <iostream>
#include <memory>

#include "command/command.h"
#include "command/report_files.h"
#include "command/runs.h"
#include "conformance/report/table.h"
#include "conformance/verdict/facts.h"

namespace assay {
namespace {

struct ReportCommand {
  std::vector<std::string> runs;
  ReportFiles reports;
};

struct OpenedRun {
  std::string file;
  Facts facts;
  Summary summary;
};

OpenedRun read_run(const std::string& file) {
  const RunFile run = open_run(file);
  OpenedRun read{file, facts_of_header(run.header), summarize(run)};
  if (!run.complete) read.facts.push_back({"cut off", "the run did not end"});
  return read;
}

// A testee that is in several runs gets the name of the file behind its name.
Summary side_by_side(const std::vector<OpenedRun>& runs) {
  std::map<std::string, int> times;
  for (const OpenedRun& run : runs)
    for (const auto& [name, testee] : run.summary.testees) ++times[name];
  Summary all;
  for (const OpenedRun& run : runs)
    for (const auto& [name, testee] : run.summary.testees)
      all.testees[times[name] == 1 ? name : text(name, " (", run.file, ")")] = testee;
  return all;
}

// A fact that is not the same in all runs is listed for each run.
Facts facts_of(const std::vector<OpenedRun>& runs) {
  Facts all;
  for (const OpenedRun& run : runs)
    for (const NamedText& fact : run.facts) {
      const auto has = [&](const OpenedRun& other) {
        return std::ranges::find(other.facts, fact) != other.facts.end();
      };
      const bool shared = std::ranges::all_of(runs, has);
      const NamedText said{shared ? fact.name : text(fact.name, " (", run.file, ")"), fact.text};
      if (std::ranges::find(all, said) == all.end()) all.push_back(said);
    }
  return all;
}

// What a line of the table describes.
std::string_view subject_of(const std::vector<OpenedRun>& runs) {
  const auto are_of = [&](const char* suite) {
    return std::ranges::all_of(runs, [&](const OpenedRun& run) {
      return std::ranges::find(run.facts, NamedText{"suite", suite}) != run.facts.end();
    });
  };
  return are_of("runtime") ? "kind" : are_of("loader") ? "rule" : "operator";
}

int report(ReportCommand& request) {
  std::vector<OpenedRun> runs;
  for (const std::string& file : request.runs) runs.push_back(read_run(file));
  const Summary summary = side_by_side(runs);
  request.reports.open();
  request.reports.write(summary, facts_of(runs));
  if (request.reports.empty())
    write_table(std::cout, summary, {.width = TableStyle::unlimited, .subject = subject_of(runs)});
  return exit_code(Outcome::ok);
}

void define_report(Options& options) {
  const auto r = std::make_shared<ReportCommand>();
  options.add("RUN", r->runs, "Files that assay kernels, assay runtime or assay loader wrote with -o").required();
  r->reports.add_options(options);
  options.details("Without --html, --junit, --sarif and --markdown, assay report prints a table.");
  options.action([r] { return report(*r); });
}

const Registered registered_report({"report",
                                    Group::runs,
                                    "Writes reports on one run, or on several runs side by side",
                                    define_report,
                                    {{"assay report run.jsonl", "prints the table of a run"},
                                     {"assay report old.jsonl new.jsonl --html report.html",
                                      "writes a web page that shows two runs side by side"}}});

}  // namespace
}  // namespace assay
