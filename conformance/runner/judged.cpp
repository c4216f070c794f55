#include "conformance/runner/judged.h"

#include <algorithm>
#include <cstring>

#include "reference/fault.h"

namespace assay {
namespace {

constexpr char described = '+', plain = ' ';  // how a task begins; then comes the case's id

constexpr std::size_t ahead = 4;  // tasks that a child has beyond the one that is waited for

std::string to_bytes(const Judged& j) {
  return std::string(reinterpret_cast<const char*>(&j.answer), sizeof j.answer) + assay::to_bytes(j.record);
}

Judged judged_from(std::string_view bytes, bool spoilt) {
  Judged j{from_bytes(bytes.substr(sizeof j.answer)), 0, spoilt};
  std::memcpy(&j.answer, bytes.data(), sizeof j.answer);
  return j;
}

}  // namespace

JudgingChildren::JudgingChildren(const Patience& patience, Judge judge, Lose lose)
    : patience_(patience), lose_(std::move(lose)), nursery_([judge = std::move(judge)](std::string_view task) {
        const Judged j = judge(task.substr(1), task[0] == described);
        return Work{to_bytes(j), j.spoilt};
      }) {}

Judged JudgingChildren::judged(const std::string& id, const TaskResult& result) const {
  using enum TaskResult::End;
  if (result.end == done || result.end == last) return judged_from(result.text, result.end == last);
  if (result.end == threw) throw Fault(Outcome::invalid, "run", text("case ", id, " cannot be run: ", result.text));
  return lose_(id, result);
}

std::size_t JudgingChildren::run(std::span<const std::string> ids, char beginning, const Patience& patience,
                                 const std::function<bool(Judged)>& goes_on) {
  Child child(nursery_, patience);
  for (const std::string& id : ids.first(std::min(ahead, ids.size()))) child.give(beginning + id);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (i + ahead < ids.size()) child.give(beginning + ids[i + ahead]);
    Judged j = judged(ids[i], child.next());
    const bool spoilt = j.spoilt;
    if (!goes_on(std::move(j)) || spoilt) return i + 1;
  }
  return ids.size();
}

std::vector<Judged> JudgingChildren::run(std::span<const std::string> ids) {
  std::vector<Judged> all;
  run(ids, plain, patience_, [&](Judged j) { return all.push_back(std::move(j)), true; });
  return all;
}

void JudgingChildren::run_while(std::span<const std::string> ids, const Patience& patience,
                                const std::function<bool(const Judged&)>& goes_on) {
  bool is_over = false;
  const auto ask = [&](const Judged& j) { return is_over = !goes_on(j), !is_over; };
  for (std::size_t done = 0; done < ids.size() && !is_over;) done += run(ids.subspan(done), plain, patience, ask);
}

Judged JudgingChildren::run_alone(const std::string& id, bool always_described) {
  Judged judged;
  run({&id, 1}, always_described ? described : plain, patience_, [&](Judged j) { return judged = std::move(j), true; });
  return judged;
}

}  // namespace assay
