#include <sys/resource.h>

#include <cstring>
#include <fstream>
#include <optional>
#include <utility>

#include "conformance/loaders/taker.h"
#include "conformance/sandbox/child.h"
#include "conformance/sandbox/death.h"
#include "conformance/sandbox/heap.h"
#include "conformance/sandbox/pages.h"

namespace assay {
namespace {

using corrupt::Files;
using End = TaskResult::End;

// -- what goes to a child and what comes back -----------------------------------------------------------------------

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

std::string answer_of(const Fate& fate) {
  return std::string{static_cast<char>(fate.end), static_cast<char>(fate.failure)} + fate.words;
}
Fate fate_in(const std::string& answer) {
  return {static_cast<Fate::End>(answer.at(0)), static_cast<Class>(answer.at(1)), answer.substr(2)};
}

Fate fate_of(const TaskResult& result) {
  if (result.end == End::done || result.end == End::last) return fate_in(result.text);
  if (result.end == End::threw) throw Fault(Outcome::invalid, "loader", result.text);
  const bool hung = result.end == End::timed_out;
  return {hung ? Fate::End::hung : Fate::End::crashed, class_of_death(result), words_of_death(result)};
}

// -- in the child -----------------------------------------------------------------------------------------------------

std::uint64_t address_space() {
  std::ifstream pages("/proc/self/statm");
  std::uint64_t n = 0;
  return pages >> n ? n * page_size : 0;
}

// Beyond what the process has when it begins.
void limit_memory(std::uint64_t bytes) {
  static bool done = false;
  if (bytes == 0 || std::exchange(done, true)) return;
  const rlim_t most = address_space() + Arena::addresses + bytes;
  const rlimit limit{most, most};
  setrlimit(RLIMIT_AS, &limit);
}

Fate watched(Loader& loader, const Files& files) {
  std::optional<heap::Watch> watch(std::byte{0xA5});
  Taken taken;
  try {
    taken = loader.take(files);
  } catch (const std::bad_alloc&) {
    taken = {Taken::As::exhausted, ""};
  }
  watch.reset();
  if (const auto found = heap::damage())
    return {Fate::End::crashed, found->kind == Damage::Kind::freed_twice ? Class::double_free : Class::heap_damage,
            describe(*found, text("a block of ", found->size, " bytes that the loader allocated"))};
  return {static_cast<Fate::End>(taken.as), Class::none, std::string(taken.message.c_str())};
}

Work work(Loader& loader, const TakerLimits& limits, std::string_view task) {
  constexpr std::size_t most_used = std::size_t{256} << 20;
  limit_memory(limits.memory);
  const Files files = files_in(task);
  const Fate fate = watched(loader, files);
  return {answer_of(fate), fate.end == Fate::End::crashed || heap::used() > most_used};
}

// -- and outside ------------------------------------------------------------------------------------------------------

class Children final : public Taker {
 public:
  Children(Loader& loader, const TakerLimits& limits)
      : patience_(patience_of(limits.time, false)),
        nursery_([&loader, limits](std::string_view task) { return work(loader, limits, task); }) {}

  std::vector<Fate> take(std::span<const Files> files) override {
    std::vector<Fate> fates;
    for (std::size_t i = 0; i < files.size(); ++i) {
      fates.push_back(in_child(files[i]));
      if (!is_bad(fates.back())) continue;
      const std::size_t first = i + 1 - taken_;
      child_.reset();
      if (taken_ > 1) blame(files, first, i, fates);
    }
    child_.reset();
    return fates;
  }

 private:
  static bool is_bad(const Fate& f) { return f.end == Fate::End::crashed || f.end == Fate::End::hung; }

  Fate in_child(const Files& files) {
    if (!child_) child_.emplace(nursery_, patience_), taken_ = 0;
    child_->give(task_of(files));
    const auto begin = std::chrono::steady_clock::now();
    const TaskResult result = child_->next();
    ++taken_;
    Fate fate = fate_of(result);
    fate.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (result.end != End::done && !is_bad(fate)) child_.reset();
    return fate;
  }

  // Who did it, of those that the child took: the last, or the one behind which it ends.
  void blame(std::span<const Files> files, std::size_t first, std::size_t last, std::vector<Fate>& fates) {
    const Fate bad = fates[last];
    fates[last] = alone(files[last]);
    if (is_bad(fates[last])) return;
    for (std::size_t i = first; i < last; ++i) {
      child_.reset();
      const Fate before = in_child(files[i]);
      if (!child_ || is_bad(before) || !is_bad(in_child(files[last]))) continue;
      fates[i] = bad;
      break;
    }
    child_.reset();
  }
  Fate alone(const Files& files) {
    child_.reset();
    Fate fate = in_child(files);
    child_.reset();
    return fate;
  }

  Patience patience_;
  Nursery nursery_;
  std::optional<Child> child_;
  std::size_t taken_ = 0;  // by this child
};

}  // namespace

std::string_view word(Fate::End end) {
  constexpr std::string_view words[] = {"accepted", "refused", "exhausted", "crashed", "hung"};
  return words[static_cast<std::size_t>(end)];
}

std::unique_ptr<Taker> take_in_children(Loader& loader, const TakerLimits& limits) {
  return std::make_unique<Children>(loader, limits);
}

}  // namespace assay
