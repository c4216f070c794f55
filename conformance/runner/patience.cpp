#include "conformance/runner/patience.h"

#include <fmt/format.h>

#include <algorithm>

namespace assay::runner {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t few = 3;  // hangs after which the run waits less, and of a kind, after which it samples
constexpr std::size_t first_left_out = 15, most_doublings = 16;  // cases that are left out between two samples
constexpr int times_the_slowest = 20;                            // the short limit
constexpr std::chrono::milliseconds least_limit = 2s;  // of the short limit: a loaded machine may delay a case

constexpr std::chrono::seconds most_taken = 60s;  // by hangs, before samples end: a third of what a run may take

constexpr std::chrono::seconds worth_telling = 3s;  // a wait

std::string_view kind_of(std::string_view id) { return id.substr(0, id.find_first_of("#/")); }

}  // namespace

void Patience::note_begin(const std::string& id) {
  const std::lock_guard lock(mutex_);
  waits_[std::this_thread::get_id()] = {id, std::chrono::steady_clock::now()};
}

void Patience::note_end(std::chrono::nanoseconds time) {
  const std::lock_guard lock(mutex_);
  waits_.erase(std::this_thread::get_id());
  slowest_ = std::max(slowest_, time);
}

std::string Patience::waits_for() const {
  const std::lock_guard lock(mutex_);
  const auto longest = std::ranges::min_element(waits_, {}, [](const auto& w) { return w.second.since; });
  if (longest == waits_.end()) return {};
  const auto time = std::chrono::steady_clock::now() - longest->second.since;
  return time < worth_telling
             ? ""
             : fmt::format("{} ({:.0f} s)", longest->second.id, std::chrono::duration<double>(time).count());
}

void Patience::note_hang(std::string_view id, std::chrono::nanoseconds time) {
  const std::lock_guard lock(mutex_);
  taken_ += time / std::max<std::size_t>(waits_.size(), 1);
  waits_.erase(std::this_thread::get_id());
  of_kinds_[std::string(kind_of(id))].emplace(id);
}

sandbox::TimeLimit Patience::limit() const {
  const std::lock_guard lock(mutex_);
  std::size_t hangs = 0;
  for (const auto& [kind, ids] : of_kinds_) hangs += ids.size();
  return hangs < few ? full_ : short_limit_locked();
}

sandbox::TimeLimit Patience::short_limit() const {
  const std::lock_guard lock(mutex_);
  return short_limit_locked();
}

sandbox::TimeLimit Patience::short_limit_locked() const {
  const auto own = std::chrono::duration_cast<std::chrono::milliseconds>(times_the_slowest * slowest_);
  const std::chrono::milliseconds given = std::min(full_.processor, full_.wall),
                                  time = std::clamp(own, std::min(least_limit, given), given);
  return {full_.processor * time.count() / given.count(), full_.wall * time.count() / given.count(), full_.interrupted};
}

bool Patience::is_spent() const { return taken_ > most_taken; }

bool Patience::is_lost(std::string_view id) const {
  const std::lock_guard lock(mutex_);
  const auto at = of_kinds_.find(kind_of(id));
  return at != of_kinds_.end() && at->second.size() >= (is_spent() ? 1 : few);
}

bool Patience::leaves_out(std::string_view id) {
  const std::lock_guard lock(mutex_);
  if (is_spent()) return true;
  const std::string kind(kind_of(id));
  const std::size_t doublings = std::min(of_kinds_[kind].size() - few, most_doublings);
  std::size_t& left_out = left_out_[kind];
  const bool leaves = left_out < first_left_out << doublings;
  left_out = leaves ? left_out + 1 : 0;
  return leaves;
}

}  // namespace assay::runner
