#include "command/run_log.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <iostream>

#include "command/command.h"
#include "command/libraries.h"
#include "command/runs.h"
#include "conformance/report/table.h"
#include "conformance/testee/binaries.h"
#include "conformance/text/json.h"
#include "conformance/text/printable.h"
#include "conformance/verdict/fields.h"
#include "version.h"

namespace assay::command {
namespace {

std::atomic<bool> interrupted = false;

std::string header_line(const verdict::Facts& settings, std::size_t planned) {
  text::Json header;
  for (const verdict::NamedText& fact : settings) header[fact.name] = fact.text;
  header["cases"] = planned;
  return text::Json{{"header", header}}.dump();
}

verdict::Facts facts_of(verdict::Facts settings, const Progress& progress, std::size_t planned) {
  settings.push_back({"cases", fmt::format("{}{} in {:.1f} s",
                                           interrupted ? fmt::format("interrupted: {} of ", progress.judged()) : "",
                                           planned, progress.seconds())});
  settings.push_back({"date", fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(std::time(nullptr)))});
  return settings;
}

text::Json summary_json(const verdict::Summary& summary) {
  text::Json all = text::Json::object();
  for (const auto& [name, testee] : summary.testees) {
    text::Json& json = all[name];
    json = {{"headline", verdict::headline(testee)},
            {"promised", verdict::counts_json(verdict::promised_counts(testee))}};
    json["passes"] = verdict::kinds_of_passes(testee), json["answered"] = text::Json::object();
    for (const verdict::FeatureCounts& f : verdict::answers_by_feature(testee))
      for (const auto& [value, count] : f.values) json["answered"][f.feature][value] = count;
    json["operators"] = text::Json::object(), json["defects"] = text::Json::array();
    for (const auto& [op, entry] : testee.operators) json["operators"][op] = verdict::counts_json(entry.verdicts);
    for (const verdict::Defect& d : testee.defects) json["defects"].push_back(verdict::to_json(d));
    json["untried"] = verdict::fields::encode(testee.untried);
  }
  return all;
}

// Whether a record counts for the exit code: a new failure of a promised call, or a listed failure that passed.
bool is_unexpected(const verdict::Record& r, bool strict, const std::optional<verdict::Baseline>& before) {
  if (!verdict::is_failure(r.verdict)) return r.known;
  return !r.known && (strict || r.promised) && (!before || before->is_new(r));
}

}  // namespace

const std::atomic<bool>& watch_interrupts() {
  for (const int s : {SIGINT, SIGTERM})
    std::signal(s, [](int signal) {
      interrupted = true;
      std::signal(signal, SIG_DFL);
    });
  return interrupted;
}

void add_workers(Options& options, int& workers) {
  options.add("--workers", workers, "Runs cases in N workers at the same time")
      .value("N")
      .within(1, 256)
      .shows_default();
}

RunOptions add_run_options(Options& options, RunRequest& r) {
  options
      .add(
          "--known", r.known,
          "Excuses the failures of the cases that FILE lists, so that these failures do not fail the run; each line "
          "has a case id, optionally the last day on which the line applies, such as 'until 2027-01-31', and a reason; "
          "if a listed case passes, the run fails")
      .value("FILE");
  options.flag("--strict", r.strict, "Fails the run also for failures of cases that the contract does not promise");
  const Option lines = options
                           .add("-o", r.jsonl,
                                "Writes a line of JSON for each case to FILE.part as soon as the case is judged; at "
                                "the end of the run, assay renames FILE.part to FILE")
                           .value("FILE");
  r.reports.add_options(options);
  const Option baseline = options
                              .add("--baseline", r.baseline,
                                   "Excuses each failure of a case that failed with the same or a higher severity in "
                                   "an earlier run; FILE is the file that -o wrote in the earlier run")
                              .value("FILE")
                              .existing_file();
  options.add("--defects", r.defects, "Prints the N most serious defects")
      .value("N")
      .within(0, 1'000'000)
      .shows_default();
  options.flag("--json", r.json,
               "Prints JSON in place of the table: the number of cases with each verdict, and the defects");
  return {lines, baseline};
}

verdict::Facts facts_of_testee(std::string_view testee, const std::vector<std::pair<std::string, std::string>>& said,
                               const std::vector<std::string>& binaries) {
  verdict::Facts facts{{"assay", version}, {"testee", std::string(testee)}};
  for (const auto& [name, value] : said) facts.push_back({name, value});
  for (const auto& [name, digest] : testee::digests_of_loaded(binaries)) facts.push_back({name, digest});
  return facts;
}

verdict::NamedText timeout_fact(int seconds, bool is_remote) {
  return {"timeout", fmt::format("{} s{}", seconds, is_remote ? "" : " of processor time")};
}

RunLog::RunLog(RunRequest& request, verdict::Facts settings, std::size_t planned, std::set<std::string> mustpass)
    : request_(request),
      settings_(std::move(settings)),
      planned_(planned),
      header_(header_line(settings_, planned)),
      mustpass_(std::move(mustpass)) {
  if (!request.known.empty()) waivers_ = runner::read_waivers(request.known);
  if (!request.baseline.empty()) before_.emplace(open_run(request.baseline));
}

void RunLog::begin() {
  if (!request_.jsonl.empty()) jsonl_.emplace(request_.jsonl, OutputFile::Unfinished::kept);
  request_.reports.open();
  progress_.emplace(planned_);
  write(header_);
}

void RunLog::write(const std::string& line) {
  if (!jsonl_) return;
  jsonl_->stream() << line << '\n' << std::flush;
  jsonl_->require_written();
}

void RunLog::add(verdict::Record r) {
  r.known = waivers_.known.erase(r.case_id) > 0;
  unexpected_ = unexpected_ || is_unexpected(r, request_.strict, before_);
  if (before_ && before_->is_new(r)) fresh_.insert(r.case_id);
  if (r.valid) (r.verdict == verdict::Verdict::unsupported ? refused_ : answered_) = true;
  answered_ = answered_ || verdict::is_failure(r.verdict);
  if (r.verdict == verdict::Verdict::pass) mustpass_.erase(r.case_id);
  summary_.add(r), verdicts_.add(r);
  progress_->add(r);
  write(verdict::to_json_line(r));
}

void RunLog::add(const verdict::Defect& defect) {
  summary_.add(defect);
  write(verdict::to_json_line(defect));
}

void RunLog::set_untried(std::vector<verdict::NamedText> untried) {
  for (auto& [name, testee] : summary_.testees) testee.untried = untried;
  untried_ = std::move(untried);
}

std::string RunLog::footer() const {
  verdict::VerdictCounts counts{};
  for (const auto& [name, testee] : summary_.testees) verdict::add(counts, verdict::verdict_counts(testee));
  text::Json footer{{"complete", !interrupted}, {"cases", progress_->judged()}};
  footer.update(verdict::counts_json(counts));
  footer["verdicts"] = verdicts_.text();
  if (!untried_.empty()) footer["untried"] = verdict::fields::encode(untried_);
  footer["seconds"] = progress_->seconds();
  return text::Json{{"footer", footer}}.dump();
}

void RunLog::finish() {
  write(footer());
  request_.reports.write(summary_, facts_of(settings_, *progress_, planned_));
  judged_ = progress_->judged();
  progress_.reset();
  if (jsonl_) jsonl_->finish();
  print();
}

void RunLog::print() const {
  if (request_.json) {
    std::cout << summary_json(summary_).dump(2, ' ', true, text::Json::error_handler_t::replace) << '\n';
    return;
  }
  const bool terminal = isatty(STDOUT_FILENO) != 0;
  report::write_table(std::cout, summary_,
                      {.width = terminal ? 100 : report::TableStyle::unlimited,
                       .defects = request_.defects,
                       .outside = request_.strict,
                       .colour = terminal,
                       .subject = request_.subject,
                       .fresh = before_ ? &fresh_ : nullptr});
}

int RunLog::exit_code(std::string_view why_not_judged) const {
  if (interrupted) {
    std::cerr << "assay: interrupted: " << judged_ << " of " << planned_ << " cases were judged\n";
    return interrupted_exit;
  }
  for (const auto& [id, until] : waivers_.expired)
    std::cerr << "assay: " << text::printable(id) << " was listed in " << request_.known << " until " << until << '\n';
  for (const std::string& id : request_.is_part ? std::set<std::string>() : waivers_.known)
    std::cerr << "assay: " << text::printable(id) << " is listed in " << request_.known
              << ", but is no case of this run\n";
  for (const std::string& id : mustpass_)
    std::cerr << "assay: " << text::printable(id) << " is listed in " << request_.mustpass << ", but did not pass\n";
  if (unexpected_ || !mustpass_.empty()) return answers_differ;
  if (answered_ || !refused_) return assay::exit_code(Outcome::ok);
  for (const auto& [testee, _] : summary_.testees)
    std::cerr << "assay: " << text::printable(testee) << " was not judged: " << why_not_judged << '\n';
  return assay::exit_code(Outcome::unsupported);
}

}  // namespace assay::command
