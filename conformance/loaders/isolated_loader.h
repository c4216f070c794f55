#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "conformance/corrupt/cases.h"
#include "conformance/loaders/loader.h"
#include "conformance/verdict/verdict.h"

namespace assay::loaders {

// The outcome of a file, or of the process that loaded it.
struct LoadOutcome {
  enum class End : std::uint8_t { accepted, refused, exhausted, crashed, hung, left_out };
  End end = End::accepted;
  verdict::Class failure = verdict::Class::none;  // for a crash; damaged memory is a crash too
  std::string words = {};                         // the loader's message, or how the process ended
  double seconds = 0;                             // wall time
};
std::string_view word(LoadOutcome::End end);  // "accepted"

struct LoadLimits {
  std::chrono::milliseconds time{};  // processor time for one file; the limit of wall time is ten times as much
  std::uint64_t memory = 1 << 30;    // bytes that a process may allocate; 0 means unlimited
  std::uint64_t output = 1 << 20;    // bytes that a command may write
  const std::atomic<bool>* interrupted = nullptr;  // the loader stops when this is set
};

// The files with which a loader hangs. After three of them, the limit of wall time is 20 times the longest time of a
// file that ended, but at least two seconds. When the hangs have taken 100 seconds together, the remaining files are
// left out. A loader that hangs with each file is judged in less than three minutes with the default limit of time.
class Hangs {
 public:
  void note(const LoadOutcome& outcome);
  std::chrono::milliseconds wall_limit(std::chrono::milliseconds full) const;
  bool are_too_many() const;

 private:
  int count_ = 0;
  double waited_ = 0, slowest_ = 0;  // seconds
};
LoadOutcome left_out();  // the outcome of a file that the loader does not get

// Loads files in isolation, so that a crash does no harm.
class IsolatedLoader {
 public:
  virtual ~IsolatedLoader() = default;
  virtual std::vector<LoadOutcome> load(std::span<const corrupt::Files> files) = 0;  // throws Interrupted
};

// Runs a loader in child processes, each of which loads many files. A file that ends a child is loaded again in a child
// of its own. The loader's heap is watched. The loader must outlive the IsolatedLoader.
std::unique_ptr<IsolatedLoader> load_in_children(Loader& loader, const LoadLimits& limits);

// Runs a command once for each file, in a process of its own. The file replaces {} in the command's words, and each
// data file replaces a copy of the word with {data}. Sanitizers are set to end the process by a signal. Exit code 0:
// accepted; 128 plus a signal number, as a shell reports it: crashed; any other: refused.
std::unique_ptr<IsolatedLoader> load_by_command(std::vector<std::string> words, const LoadLimits& limits);

}  // namespace assay::loaders
