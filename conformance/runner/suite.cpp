#include "conformance/runner/suite.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "conformance/runner/run_case.h"
#include "conformance/testees/pool.h"
#include "reference/fault.h"

namespace assay {
namespace {

std::string failure_of(const Record& r) { return text(r.operator_name, " ", name(r.verdict), " ", name(r.failure)); }

Record record_of(const Corpus& corpus, std::string_view testee, const CaseId& id, const TaskResult& result) {
  using enum TaskResult::End;
  switch (result.end) {
    case done:
      return from_json_line(result.text);
    case threw:
      throw Fault(Outcome::invalid, "run", text("case ", to_text(id), " cannot be run: ", result.text));
    case timed_out:
      return lost_case(corpus, testee, id, Verdict::timeout, result.text);
    default:
      return lost_case(corpus, testee, id, Verdict::crash, result.text);
  }
}

void run_in_children(const Corpus& corpus, KernelLibrary& library, const SuiteOptions& options, bool always_described,
                     const Pool::Next& next, const std::function<void(const CaseId&, const Record&)>& report) {
  const auto work = [&](std::string_view task) {
    return to_json_line(run_case(corpus, library, case_id_from(task), always_described));
  };
  Pool pool(options.workers, std::chrono::seconds(options.timeout_seconds), work);
  pool.run(next, [&](std::string_view task, const TaskResult& result) {
    const CaseId id = case_id_from(task);
    report(id, record_of(corpus, library.name(), id, result));
  });
}

}  // namespace

Suite::Suite(const Corpus& corpus, const SuiteOptions& options, bool recorded_only)
    : corpus_(corpus), options_(options), recorded_only_(recorded_only) {
  for (const RecordedCalls* calls : corpus.matching(options.operators)) {
    operators_.push_back(calls);
    planned_ += calls->size() + (recorded_only ? 0 : options.mutations + calls->op().rules.size());
  }
}

void Suite::open(const RecordedCalls& calls) {
  for (std::size_t i = 0; i < calls.size(); ++i) queue_.push_back({std::string(calls.op().name), calls.digest(i), {}});
  if (recorded_only_) return;
  for (CaseId& id : rule_breaking_cases(corpus_, calls)) queue_.push_back(std::move(id));
  for (CaseId& id : generated_cases(calls, options_.seed, options_.mutations)) queue_.push_back(std::move(id));
}

std::optional<CaseId> Suite::next() {
  if (queue_.empty() && !operators_.empty()) {
    open(*operators_.front());
    operators_.pop_front();
  }
  if (queue_.empty()) return operators_.empty() ? next_candidate() : next();
  CaseId id = std::move(queue_.front());
  queue_.pop_front();
  ++given_;
  return id;
}

std::optional<CaseId> Suite::next_candidate() {
  for (Search& s : searches_) {
    if (s.over || s.asked) continue;
    s.asked = s.shrinking.next();
    if (s.asked) return s.asked;
    s.over = true;
  }
  return std::nullopt;
}

void Suite::judged(const CaseId& id, const Record& record) {
  const auto asked = std::ranges::find_if(searches_, [&](const Search& s) { return s.asked == id; });
  if (asked != searches_.end()) {
    asked->asked.reset();
    asked->shrinking.answer(is_failure(record.verdict) && failure_of(record) == asked->failure);
    return;
  }
  if (is_failure(record.verdict) && !id.mutations.empty() && failures_seen_.insert(failure_of(record)).second)
    searches_.push_back({failure_of(record), Shrinking(id), std::nullopt, false});
}

void run_suite(const Corpus& corpus, KernelLibrary& library, const SuiteOptions& options, Suite& suite,
               const std::function<void(const Record&)>& done) {
  const auto report = [&](const CaseId& id, const Record& record) {
    suite.judged(id, record);
    done(record);
  };
  if (options.workers == 0) {
    while (const auto id = suite.next()) report(*id, run_case(corpus, library, *id));
    return;
  }
  const auto next = [&]() -> std::optional<std::string> {
    const auto id = suite.next();
    return id ? std::optional(to_text(*id)) : std::nullopt;
  };
  run_in_children(corpus, library, options, false, next, report);
}

Record run_alone(const Corpus& corpus, KernelLibrary& library, const CaseId& id, int timeout_seconds) {
  if (!library.may_crash()) return run_case(corpus, library, id, true);
  Record record;
  std::optional<std::string> task = to_text(corpus.make(id).id);
  SuiteOptions options;
  options.workers = 1, options.timeout_seconds = timeout_seconds;
  run_in_children(
      corpus, library, options, true, [&] { return std::exchange(task, std::nullopt); },
      [&](const CaseId&, const Record& r) { record = r; });
  return record;
}

}  // namespace assay
