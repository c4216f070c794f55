#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "conformance/corrupt/cases.h"
#include "conformance/loaders/loader.h"
#include "conformance/verdict/verdict.h"

namespace assay {

// The outcome of a file, or of the process that loaded it.
struct LoadOutcome {
  enum class End : std::uint8_t { accepted, refused, exhausted, crashed, hung };
  End end = End::accepted;
  Class failure = Class::none;  // for a crash; damaged memory is a crash too
  std::string words = {};       // the loader's message, or how the process ended
  double seconds = 0;           // wall time
};
std::string_view word(LoadOutcome::End end);  // "accepted"

struct LoadLimits {
  std::chrono::milliseconds time{};  // processor time for one file; the limit of wall time is ten times as much
  std::uint64_t memory = 1 << 30;    // bytes that a process may allocate; 0 means unlimited
  std::uint64_t output = 1 << 20;    // bytes that a command may write
};

// Loads files in isolation, so that a crash does no harm.
class IsolatedLoader {
 public:
  virtual ~IsolatedLoader() = default;
  virtual std::vector<LoadOutcome> load(std::span<const corrupt::Files> files) = 0;
};

// Runs a loader in child processes, each of which loads many files. A file that ends a child is loaded again in a child
// of its own. The loader's heap is watched. The loader must outlive the IsolatedLoader.
std::unique_ptr<IsolatedLoader> load_in_children(Loader& loader, const LoadLimits& limits);

// Runs a command once for each file, in a process of its own. The file replaces {} in the command's words, and each
// data file replaces a copy of the word with {data}. Sanitizers are set to end the process by a signal. Exit code 0:
// accepted; 128 plus a signal number, as a shell reports it: crashed; any other: refused.
std::unique_ptr<IsolatedLoader> load_by_command(std::vector<std::string> words, const LoadLimits& limits);

}  // namespace assay
