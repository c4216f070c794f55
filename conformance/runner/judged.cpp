#include "conformance/runner/judged.h"

#include <algorithm>
#include <cstring>

#include "reference/fault.h"

namespace assay::runner {
namespace {

constexpr std::size_t ahead = 4;  // the number of tasks that are queued beyond the current one

std::string task_of(const std::string& id, RunMode mode) {
  return std::string{static_cast<char>(mode.detail), static_cast<char>(mode.recovers_from_aborts)} + id;
}

std::string to_bytes(const Judged& j) {
  return std::string(reinterpret_cast<const char*>(&j.answer), sizeof j.answer) + verdict::to_bytes(j.record);
}

Judged judged_from(std::string_view bytes, bool spoilt) {
  Judged j{verdict::from_bytes(bytes.substr(sizeof j.answer)), 0, spoilt};
  std::memcpy(&j.answer, bytes.data(), sizeof j.answer);
  return j;
}

}  // namespace

JudgingChildren::JudgingChildren(const sandbox::TimeLimit& time_limit, Judge judge, Lose lose, int processors)
    : time_limit_(time_limit),
      lose_(std::move(lose)),
      fork_server_(
          [judge = std::move(judge)](std::string_view task) {
            const Judged j = judge(task.substr(2), {static_cast<Detail>(task[0]), task[1] != 0});
            return sandbox::Work{to_bytes(j), j.spoilt};
          },
          processors) {}

Judged JudgingChildren::judged(const std::string& id, const sandbox::TaskResult& result, Detail detail) const {
  using enum sandbox::TaskResult::End;
  if (result.end == done || result.end == last) return judged_from(result.text, result.end == last);
  if (result.end == threw) {
    Fault fault = *result.fault;
    fault.place = concat("case ", id);
    throw fault;
  }
  return lose_(id, result, detail);
}

JudgingChildren::RunPart JudgingChildren::run(sandbox::Child& child, std::span<const std::string> ids, RunMode mode,
                                              const std::function<bool(Judged)>& goes_on) {
  for (const std::string& id : ids.first(std::min(ahead, ids.size()))) child.give(task_of(id, mode));
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (i + ahead < ids.size()) child.give(task_of(ids[i + ahead], mode));
    const sandbox::TaskResult result = child.next();
    if (!child.lives() && child.has_recovered()) return {i, true, true};
    const bool is_last = !child.lives() || result.end == sandbox::TaskResult::End::last;
    const bool stops = !goes_on(judged(ids[i], result, i == 0 ? mode.detail : Detail::outcome));
    if (stops || is_last) return {i + 1, false, true};
  }
  return {ids.size()};
}

JudgingChildren::Run JudgingChildren::run(std::span<const std::string> ids, bool recovers_from_aborts) {
  Run all;
  sandbox::Child child(fork_server_, time_limit_);
  const auto keep = [&](Judged j) { return all.judged.push_back(std::move(j)), true; };
  all.is_lost = run(child, ids, {Detail::facts, recovers_from_aborts}, keep).is_lost;
  return all;
}

Judged JudgingChildren::run_alone(const std::string& id, Detail detail) {
  Judged judged;
  sandbox::Child child(fork_server_, time_limit_);
  run(child, {&id, 1}, {detail, false}, [&](Judged j) { return judged = std::move(j), true; });
  return judged;
}

void Trials::run_while(std::span<const std::string> ids, const sandbox::TimeLimit& time_limit,
                       const std::function<bool(Judged)>& goes_on) {
  bool stops = false, was_lost = false;
  const auto ask = [&](Judged j) { return stops = !goes_on(std::move(j)), !stops; };
  while (!ids.empty() && !stops) {
    if (!child_) child_.emplace(children_.fork_server_, time_limit);
    child_->wait_with(time_limit);
    const auto seen = children_.run(*child_, ids, {detail_, recovers_from_aborts_}, ask);
    const bool survived_first = seen.judged > 1 || child_->lives();
    if (was_lost && survived_first) recovers_from_aborts_ = false;  // the other child did not die of this case
    if (seen.is_over) child_.reset();
    was_lost = seen.is_lost;
    ids = ids.subspan(seen.judged);
  }
}

}  // namespace assay::runner
