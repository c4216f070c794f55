#include <sys/resource.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <optional>
#include <utility>

#include "conformance/loaders/isolated_loader.h"
#include "conformance/sandbox/child.h"
#include "conformance/sandbox/death.h"
#include "conformance/sandbox/heap.h"
#include "conformance/sandbox/pages.h"

namespace assay::loaders {
namespace {

using corrupt::Files;
using End = sandbox::TaskResult::End;

// -- messages to and from a child ------------------------------------------------------------------------------------

void append(std::string& to, const Bytes& bytes) {
  const std::uint64_t size = bytes.size();
  to.append(reinterpret_cast<const char*>(&size), sizeof size);
  to.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

Bytes next(std::string_view& from) {
  std::uint64_t size = 0;
  std::memcpy(&size, from.data(), sizeof size);
  const auto bytes = std::as_bytes(std::span(from.substr(sizeof size, size)));
  from.remove_prefix(sizeof size + size);
  return {bytes.begin(), bytes.end()};
}

std::string task_of(const Files& files) {
  std::string task;
  append(task, files.file);
  for (const Bytes& data : files.data) append(task, data);
  return task;
}

Files files_in(std::string_view task) {
  Files files{next(task), {}};
  while (!task.empty()) files.data.push_back(next(task));
  return files;
}

std::string answer_of(const LoadOutcome& load_outcome) {
  return std::string{static_cast<char>(load_outcome.end), static_cast<char>(load_outcome.failure)} + load_outcome.words;
}
LoadOutcome fate_in(const std::string& answer) {
  return {static_cast<LoadOutcome::End>(answer.at(0)), static_cast<verdict::Class>(answer.at(1)), answer.substr(2)};
}

LoadOutcome fate_of(const sandbox::TaskResult& result) {
  if (result.end == End::done || result.end == End::last) return fate_in(result.text);
  if (result.end == End::threw) throw Fault(Outcome::invalid, "loader", result.text);
  const bool hung = result.end == End::timed_out;
  return {hung ? LoadOutcome::End::hung : LoadOutcome::End::crashed, sandbox::class_of_death(result),
          sandbox::words_of_death(result)};
}

// -- in the child -----------------------------------------------------------------------------------------------------

std::uint64_t address_space() {
  std::ifstream pages("/proc/self/statm");
  std::uint64_t n = 0;
  return pages >> n ? n * sandbox::page_size : 0;
}

// Limits the memory that is allocated beyond the process's memory at the start.
void limit_memory(std::uint64_t bytes) {
  static bool done = false;
  if (bytes == 0 || std::exchange(done, true)) return;
  const rlim_t most = address_space() + sandbox::QuarantineHeap::addresses + bytes;
  const rlimit limit{most, most};
  setrlimit(RLIMIT_AS, &limit);
}

LoadOutcome watched(Loader& loader, const Files& files) {
  std::optional<sandbox::heap::Watch> watch(std::byte{0xA5});
  Taken taken;
  try {
    taken = loader.take(files);
  } catch (const std::bad_alloc&) {
    taken = {Taken::As::exhausted, ""};
  }
  watch.reset();
  if (const auto found = sandbox::heap::damage())
    return {
        LoadOutcome::End::crashed,
        found->kind == sandbox::Damage::Kind::freed_twice ? verdict::Class::double_free : verdict::Class::heap_damage,
        sandbox::describe(*found, concat("a block of ", found->size, " bytes that the loader allocated"))};
  return {static_cast<LoadOutcome::End>(taken.as), verdict::Class::none, std::string(taken.message.c_str())};
}

sandbox::Work work(Loader& loader, const LoadLimits& limits, std::string_view task) {
  constexpr std::size_t most_used = std::size_t{256} << 20;
  limit_memory(limits.memory);
  const Files files = files_in(task);
  const LoadOutcome load_outcome = watched(loader, files);
  return {answer_of(load_outcome), load_outcome.end == LoadOutcome::End::crashed || sandbox::heap::used() > most_used};
}

// -- in the parent ----------------------------------------------------------------------------------------------------

class Children final : public IsolatedLoader {
 public:
  Children(Loader& loader, const LoadLimits& limits)
      : time_limit_(sandbox::time_limit_of(limits.time, false, limits.interrupted)),
        fork_server_([&loader, limits](std::string_view task) { return work(loader, limits, task); }) {}

  std::vector<LoadOutcome> load(std::span<const Files> files) override {
    std::vector<LoadOutcome> load_outcomes;
    for (std::size_t i = 0; i < files.size(); ++i) {
      load_outcomes.push_back(hangs_.are_too_many() ? left_out() : in_child(files[i]));
      if (!is_bad(load_outcomes.back())) continue;
      const std::size_t first = i + 1 - taken_;
      child_.reset();
      if (taken_ > 1) blame(files, first, i, load_outcomes);
    }
    child_.reset();
    return load_outcomes;
  }

 private:
  static bool is_bad(const LoadOutcome& f) {
    return f.end == LoadOutcome::End::crashed || f.end == LoadOutcome::End::hung;
  }

  LoadOutcome in_child(const Files& files) {
    if (!child_) child_.emplace(fork_server_, time_limit_), taken_ = 0;
    child_->wait_with({time_limit_.processor, hangs_.wall_limit(time_limit_.wall), time_limit_.interrupted});
    child_->give(task_of(files));
    const auto begin = std::chrono::steady_clock::now();
    const sandbox::TaskResult result = child_->next();
    ++taken_;
    LoadOutcome load_outcome = fate_of(result);
    load_outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    hangs_.note(load_outcome);
    if (result.end != End::done && !is_bad(load_outcome)) child_.reset();
    return load_outcome;
  }

  // Finds the file that ended the child: the last file, or an earlier file after which the last one ends a child.
  void blame(std::span<const Files> files, std::size_t first, std::size_t last,
             std::vector<LoadOutcome>& load_outcomes) {
    const LoadOutcome bad = load_outcomes[last];
    load_outcomes[last] = alone(files[last]);
    if (is_bad(load_outcomes[last])) return;
    for (std::size_t i = first; i < last; ++i) {
      child_.reset();
      const LoadOutcome before = in_child(files[i]);
      if (!child_ || is_bad(before) || !is_bad(in_child(files[last]))) continue;
      load_outcomes[i] = bad;
      break;
    }
    child_.reset();
  }
  LoadOutcome alone(const Files& files) {
    child_.reset();
    LoadOutcome load_outcome = in_child(files);
    child_.reset();
    return load_outcome;
  }

  sandbox::TimeLimit time_limit_;
  sandbox::ForkServer fork_server_;
  std::optional<sandbox::Child> child_;
  std::size_t taken_ = 0;  // files loaded by this child
  Hangs hangs_;
};

}  // namespace

std::string_view word(LoadOutcome::End end) {
  constexpr std::string_view words[] = {"accepted", "refused", "exhausted", "crashed", "hung", "left out"};
  return words[static_cast<std::size_t>(end)];
}

void Hangs::note(const LoadOutcome& outcome) {
  if (outcome.end == LoadOutcome::End::hung)
    ++count_, waited_ += outcome.seconds;
  else
    slowest_ = std::max(slowest_, outcome.seconds);
}

std::chrono::milliseconds Hangs::wall_limit(std::chrono::milliseconds full) const {
  constexpr int few = 3, times_the_slowest = 20;
  constexpr double least = 2;  // a loaded machine may delay a file
  const std::chrono::duration<double> shorter(std::max(least, times_the_slowest * slowest_));
  return count_ < few ? full : std::min(full, std::chrono::ceil<std::chrono::milliseconds>(shorter));
}

bool Hangs::are_too_many() const {
  constexpr double most_waited = 100;
  return waited_ > most_waited;
}

LoadOutcome left_out() {
  return {LoadOutcome::End::left_out, verdict::Class::none, "not judged: the loader hangs with too many files"};
}

std::unique_ptr<IsolatedLoader> load_in_children(Loader& loader, const LoadLimits& limits) {
  return std::make_unique<Children>(loader, limits);
}

}  // namespace assay::loaders
