#include "conformance/runner/laboratory.h"

#include <algorithm>
#include <cstring>

#include "reference/fault.h"

namespace assay {
namespace {

constexpr std::size_t ahead = 4;  // tasks that a child has beyond the one that is waited for

std::string task_of(const CaseId& id, Detail detail) { return static_cast<char>(detail) + assay::to_text(id); }

std::string to_bytes(const Judged& j) {
  return std::string(reinterpret_cast<const char*>(&j.answer), sizeof j.answer) + assay::to_bytes(j.record);
}

Judged judged_from(std::string_view bytes, bool spoilt) {
  Judged j{from_bytes(bytes.substr(sizeof j.answer)), 0, spoilt};
  std::memcpy(&j.answer, bytes.data(), sizeof j.answer);
  return j;
}

}  // namespace

Laboratory::Laboratory(const Corpus& corpus, KernelLibrary& library, const Contract& contract, const Patience& patience,
                       int processors)
    : corpus_(corpus),
      library_(library),
      contract_(contract),
      patience_(patience),
      nursery_([this](std::string_view t) { return work(t); }, processors) {}

int Laboratory::users(int processors) const { return std::min(2 * processors, library_.most_at_once()); }

Work Laboratory::work(std::string_view task) {
  if (!probe_) probe_.emplace(library_).explain_faults();
  const Judged j = run_case(corpus_, *probe_, contract_, case_id_from(task.substr(1)), static_cast<Detail>(task[0]));
  return {to_bytes(j), j.spoilt};
}

Judged Laboratory::judged(const CaseId& id, const TaskResult& result, Detail detail) const {
  using enum TaskResult::End;
  if (result.end == done || result.end == last) return judged_from(result.text, result.end == last);
  if (result.end == threw) {
    Fault fault = *result.fault;
    fault.place = text("case ", assay::to_text(id));
    throw fault;
  }
  return lost_case(corpus_, library_.name(), contract_, id, result, detail);
}

std::vector<Judged> Laboratory::run(std::span<const CaseId> cases) {
  std::vector<Judged> all;
  run(cases, Detail::failures, patience_, [&](Judged j) {
    all.push_back(std::move(j));
    return true;
  });
  return all;
}

void Laboratory::run_while(std::span<const CaseId> cases, const Patience& patience,
                           const std::function<bool(Judged)>& goes_on) {
  bool is_over = false;
  const auto ask = [&](Judged j) { return is_over = !goes_on(std::move(j)), !is_over; };
  while (!cases.empty() && !is_over) cases = cases.subspan(run(cases, Detail::outcome, patience, ask));
}

Judged Laboratory::run_alone(const CaseId& id, Detail detail) {
  std::optional<Judged> judged;
  run({&id, 1}, detail, patience_, [&](Judged j) {
    judged = std::move(j);
    return true;
  });
  return std::move(*judged);
}

std::size_t Laboratory::run(std::span<const CaseId> cases, Detail detail, const Patience& patience,
                            const std::function<bool(Judged)>& goes_on) {
  Child child(nursery_, patience);
  for (const CaseId& id : cases.first(std::min(ahead, cases.size()))) child.give(task_of(id, detail));
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (i + ahead < cases.size()) child.give(task_of(cases[i + ahead], detail));
    Judged j = judged(cases[i], child.next(), i == 0 ? detail : Detail::outcome);
    const bool spoilt = j.spoilt;
    if (!goes_on(std::move(j)) || spoilt) return i + 1;
  }
  return cases.size();
}

}  // namespace assay
