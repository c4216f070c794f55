#include "conformance/runner/judged.h"

#include <algorithm>
#include <cstring>

#include "reference/fault.h"

namespace assay::runner {
namespace {

// The number of tasks that are queued beyond the current one. A queue of half as many tasks is filled up, because each
// fill takes system calls.
constexpr std::size_t ahead = 16;

std::string task_of(const std::string& id, RunMode mode) {
  return std::string{static_cast<char>(mode.detail), static_cast<char>(mode.recovers_from_aborts)} + id;
}

// Numbers and tensors as bytes for a process of the same program.
void append(std::string& bytes, std::uint64_t n) { bytes.append(reinterpret_cast<const char*>(&n), sizeof n); }
void append(std::string& bytes, const Tensor& t) {
  append(bytes, static_cast<std::uint64_t>(t.dtype));
  append(bytes, static_cast<std::uint64_t>(t.rank()));
  for (const Int n : t.sizes) append(bytes, static_cast<std::uint64_t>(n));
  for (const Int d : t.dim_order) append(bytes, static_cast<std::uint64_t>(d));
  append(bytes, t.bytes.size());
  bytes.append(reinterpret_cast<const char*>(t.bytes.data()), t.bytes.size());
}

std::uint64_t take_number(std::string_view& bytes) {
  std::uint64_t n = 0;
  std::memcpy(&n, bytes.data(), sizeof n);
  bytes.remove_prefix(sizeof n);
  return n;
}
Tensor take_tensor(std::string_view& bytes) {
  Tensor t;
  t.dtype = static_cast<DType>(take_number(bytes));
  const auto rank = static_cast<int>(take_number(bytes));
  for (int d = 0; d < rank; ++d) t.sizes.push_back(static_cast<Int>(take_number(bytes)));
  for (int d = 0; d < rank; ++d) t.dim_order.push_back(static_cast<Int>(take_number(bytes)));
  const auto size = static_cast<std::size_t>(take_number(bytes));
  const auto* data = reinterpret_cast<const std::byte*>(bytes.data());
  t.bytes.assign(data, data + size);
  bytes.remove_prefix(size);
  return t;
}

std::string to_bytes(const Judged& j) {
  std::string bytes;
  append(bytes, j.answer);
  append(bytes, j.outs.size());
  for (const Tensor& t : j.outs) append(bytes, t);
  return bytes + verdict::to_bytes(j.record);
}

Judged judged_from(std::string_view bytes, bool spoilt) {
  Judged j;
  j.spoilt = spoilt;
  j.answer = take_number(bytes);
  for (std::uint64_t left = take_number(bytes); left > 0; --left) j.outs.push_back(take_tensor(bytes));
  j.record = verdict::from_bytes(bytes);
  return j;
}

}  // namespace

JudgingChildren::JudgingChildren(const sandbox::TimeLimit& time_limit, Judge judge, Lose lose, int processors)
    : patience_(time_limit),
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
    if (fault.outcome == Outcome::exhausted) return not_judged(id, fault.rule, fault.message, Detail::outcome);
    fault.place = concat("case ", id);
    throw fault;
  }
  return lose_(id, result, result.end == timed_out ? std::max(detail, Detail::failures) : detail);
}

Judged JudgingChildren::not_judged(const std::string& id, std::string rule, std::string_view why, Detail detail) const {
  Judged judged = lose_(id, {sandbox::TaskResult::End::timed_out, {}, 0, {}, {}}, detail);
  judged.record.verdict = verdict::Verdict::unsupported;
  judged.record.rule = std::move(rule), judged.record.message = concat("not judged: ", why);
  return judged;
}

Judged JudgingChildren::left_out(const std::string& id) const {
  return not_judged(id, "run.hangs", "several calls of its kind do not end", Detail::failures);
}

JudgingChildren::RunPart JudgingChildren::run(sandbox::Child& child, std::span<const std::string> ids, RunMode mode,
                                              const std::function<bool(Judged)>& goes_on) {
  std::size_t given = 0;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (given <= i + ahead / 2)
      for (; given <= std::min(i + ahead, ids.size() - 1); ++given) child.give(task_of(ids[given], mode));
    patience_.note_begin(ids[i]);
    const auto begin = std::chrono::steady_clock::now();
    const sandbox::TaskResult result = child.next();
    const bool hangs = result.end == sandbox::TaskResult::End::timed_out;
    const auto time = std::chrono::steady_clock::now() - begin;
    if (!hangs) patience_.note_end(time);
    if (!child.lives() && child.has_recovered()) return {i, true, true};
    if (hangs) patience_.note_hang(ids[i], time);
    const bool is_last = !child.lives() || result.end == sandbox::TaskResult::End::last;
    const bool stops = !goes_on(judged(ids[i], result, i == 0 ? mode.detail : Detail::outcome));
    if (stops || is_last) return {i + 1, false, true};
  }
  return {ids.size()};
}

JudgingChildren::Run JudgingChildren::run(std::span<const std::string> ids, bool recovers_from_aborts) {
  Run all;
  sandbox::Child child(fork_server_, patience_.limit());
  const auto keep = [&](Judged j) { return all.judged.push_back(std::move(j)), true; };
  all.is_lost = run(child, ids, {Detail::facts, recovers_from_aborts}, keep).is_lost;
  return all;
}

Judged JudgingChildren::run_alone(const std::string& id, Detail detail, bool hangs) {
  Judged judged;
  sandbox::Child child(fork_server_, hangs ? patience_.short_limit() : patience_.limit());
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
