#include "conformance/runner/judged.h"

#include <algorithm>
#include <cstring>

#include "reference/fault.h"

namespace assay {
namespace {

constexpr std::size_t ahead = 4;  // tasks that a child has beyond the one that is waited for

std::string task_of(const std::string& id, Detail detail) { return static_cast<char>(detail) + id; }

std::string to_bytes(const Judged& j) {
  return std::string(reinterpret_cast<const char*>(&j.answer), sizeof j.answer) + assay::to_bytes(j.record);
}

Judged judged_from(std::string_view bytes, bool spoilt) {
  Judged j{from_bytes(bytes.substr(sizeof j.answer)), 0, spoilt};
  std::memcpy(&j.answer, bytes.data(), sizeof j.answer);
  return j;
}

}  // namespace

JudgingChildren::JudgingChildren(const Patience& patience, Judge judge, Lose lose, int processors)
    : patience_(patience),
      lose_(std::move(lose)),
      nursery_(
          [judge = std::move(judge)](std::string_view task) {
            const Judged j = judge(task.substr(1), static_cast<Detail>(task[0]));
            return Work{to_bytes(j), j.spoilt};
          },
          processors) {}

Judged JudgingChildren::judged(const std::string& id, const TaskResult& result, Detail detail) const {
  using enum TaskResult::End;
  if (result.end == done || result.end == last) return judged_from(result.text, result.end == last);
  if (result.end == threw) {
    Fault fault = *result.fault;
    fault.place = text("case ", id);
    throw fault;
  }
  return lose_(id, result, detail);
}

JudgingChildren::Run JudgingChildren::run(std::span<const std::string> ids, Detail detail, const Patience& patience,
                                          const std::function<bool(Judged)>& goes_on) {
  Child child(nursery_, patience);
  for (const std::string& id : ids.first(std::min(ahead, ids.size()))) child.give(task_of(id, detail));
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (i + ahead < ids.size()) child.give(task_of(ids[i + ahead], detail));
    const TaskResult result = child.next();
    if (!child.lives() && child.has_outlived()) return {i, true};
    Judged j = judged(ids[i], result, i == 0 ? detail : Detail::outcome);
    if (!goes_on(std::move(j)) || !child.lives() || result.end == TaskResult::End::last) return {i + 1};
  }
  return {ids.size()};
}

std::vector<Judged> JudgingChildren::run(std::span<const std::string> ids) {
  std::vector<Judged> all;
  run(ids, Detail::failures, patience_, [&](Judged j) { return all.push_back(std::move(j)), true; });
  return all;
}

bool JudgingChildren::run_while(std::span<const std::string> ids, Detail detail, const Patience& patience,
                                const std::function<bool(Judged)>& goes_on) {
  bool is_over = false, all_outlived = true;
  const auto ask = [&](Judged j) { return is_over = !goes_on(std::move(j)), !is_over; };
  while (!ids.empty() && !is_over) {
    const Run seen = run(ids, detail, patience, ask);
    ids = ids.subspan(seen.judged);
    if (seen.is_lost) all_outlived = false, detail = Detail::outcome;
  }
  return all_outlived;
}

Judged JudgingChildren::run_alone(const std::string& id, Detail detail) {
  Judged judged;
  run({&id, 1}, detail, patience_, [&](Judged j) { return judged = std::move(j), true; });
  return judged;
}

}  // namespace assay
