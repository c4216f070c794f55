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

// What became of a file, or of the process that took it.
struct LoadOutcome {
  enum class End : std::uint8_t { accepted, refused, exhausted, crashed, hung };
  End end = End::accepted;
  Class failure = Class::none;  // of a crash; memory that was damaged is one, too
  std::string words = {};       // what the loader said, or how the process ended
  double seconds = 0;           // of the wall
};
std::string_view word(LoadOutcome::End end);  // "accepted"

struct TakerLimits {
  std::chrono::milliseconds time{2000};  // of the processor, for one file; ten times as much of the wall
  std::uint64_t memory = 1 << 30;        // bytes that a process takes for itself; 0: as much as there is
  std::uint64_t output = 1 << 20;        // bytes that a command writes
};

// Lets somebody take files where it harms nobody.
class Taker {
 public:
  virtual ~Taker() = default;
  virtual std::vector<LoadOutcome> take(std::span<const corrupt::Files> files) = 0;
};

// A loader in children, each of which takes many files; one that ends on a file is tried with it alone again. Its heap
// is watched. The loader stays.
std::unique_ptr<Taker> take_in_children(Loader& loader, const TakerLimits& limits);

// A command that takes a file where its words have {}, and data files where they have {data}, once for each; for each
// file a process of its own, from which sanitizers end by a signal. Exit code 0: accepted; 128 and a signal's number,
// as a shell says it: crashed; any other: refused.
std::unique_ptr<Taker> take_by_command(std::vector<std::string> words, const TakerLimits& limits);

}  // namespace assay
