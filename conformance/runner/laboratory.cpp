#include "conformance/runner/laboratory.h"

#include <algorithm>
#include <cstring>

#include "reference/fault.h"

namespace assay {
namespace {

constexpr char described = '+', plain = ' ';  // how a task begins; then comes the case's id

constexpr std::size_t ahead = 4;  // tasks that a child has beyond the one that is waited for

std::vector<std::string> tasks_of(std::span<const CaseId> cases, char beginning) {
  std::vector<std::string> tasks;
  for (const CaseId& id : cases) tasks.push_back(beginning + assay::to_text(id));
  return tasks;
}

std::string to_bytes(const Judged& j) {
  return std::string(reinterpret_cast<const char*>(&j.answer), sizeof j.answer) + assay::to_bytes(j.record);
}

Judged judged_from(std::string_view bytes, bool spoilt) {
  Judged j{from_bytes(bytes.substr(sizeof j.answer)), 0, spoilt};
  std::memcpy(&j.answer, bytes.data(), sizeof j.answer);
  return j;
}

}  // namespace

Laboratory::Laboratory(const Corpus& corpus, KernelLibrary& library, const Contract& contract, const Patience& patience)
    : corpus_(corpus),
      library_(library),
      contract_(contract),
      patience_(patience),
      nursery_([this](std::string_view t) { return work(t); }) {}

int Laboratory::users(int processors) const { return std::min(2 * processors, library_.most_at_once()); }

Work Laboratory::work(std::string_view task) {
  if (!probe_) probe_.emplace(library_).explain_faults();
  const Judged j = run_case(corpus_, *probe_, contract_, case_id_from(task.substr(1)), task[0] == described);
  return {to_bytes(j), j.spoilt};
}

Judged Laboratory::judged(const CaseId& id, const TaskResult& result) const {
  using enum TaskResult::End;
  if (result.end == done || result.end == last) return judged_from(result.text, result.end == last);
  if (result.end == threw)
    throw Fault(Outcome::invalid, "run", text("case ", assay::to_text(id), " cannot be run: ", result.text));
  return lost_case(corpus_, library_.name(), contract_, id, result);
}

std::vector<Judged> Laboratory::run(std::span<const CaseId> cases) {
  std::vector<Judged> all;
  run(tasks_of(cases, plain), cases, patience_, [&](Judged j) {
    all.push_back(std::move(j));
    return true;
  });
  return all;
}

void Laboratory::run_while(std::span<const CaseId> cases, const Patience& patience,
                           const std::function<bool(const Judged&)>& goes_on) {
  const std::vector<std::string> tasks = tasks_of(cases, plain);
  bool is_over = false;
  const auto ask = [&](const Judged& j) { return is_over = !goes_on(j), !is_over; };
  for (std::size_t done = 0; done < cases.size() && !is_over;)
    done += run(std::span(tasks).subspan(done), cases.subspan(done), patience, ask);
}

Judged Laboratory::run_alone(const CaseId& id, bool always_described) {
  std::optional<Judged> judged;
  run(tasks_of({&id, 1}, always_described ? described : plain), {&id, 1}, patience_, [&](Judged j) {
    judged = std::move(j);
    return true;
  });
  return std::move(*judged);
}

std::size_t Laboratory::run(std::span<const std::string> tasks, std::span<const CaseId> cases, const Patience& patience,
                            const std::function<bool(Judged)>& goes_on) {
  Child child(nursery_, patience);
  for (const std::string& task : tasks.first(std::min(ahead, tasks.size()))) child.give(task);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (i + ahead < tasks.size()) child.give(tasks[i + ahead]);
    Judged j = judged(cases[i], child.next());
    const bool spoilt = j.spoilt;
    if (!goes_on(std::move(j)) || spoilt) return i + 1;
  }
  return cases.size();
}

}  // namespace assay
