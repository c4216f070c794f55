#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>

#include "conformance/wire/address.h"

namespace assay::wire {

// What runs a command. It dies with the thread that started it.
class Process {
 public:
  // The wire is its standard input and output; it has no other files. Throws Fault (invalid, testee) where it cannot be
  // started.
  Process(const Command& command, int wire, int errors);
  ~Process();  // kills it
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  // As waitpid has it, where it ends in this time.
  std::optional<int> status(std::chrono::milliseconds within);

 private:
  pid_t pid_ = -1;
};

// The process of a command that forks an end for each wire that it is sent, with where the end's errors go, and where
// it tells the status that the end leaves to wait(): who closes that ends the end.
class Forker {
 public:
  Forker(const Command& command, int errors);  // throws as Process does
  ~Forker();
  Forker(const Forker&) = delete;
  Forker& operator=(const Forker&) = delete;

  Forked end() const { return {requests_}; }

 private:
  int requests_ = -1;
  std::optional<Process> process_;
};

}  // namespace assay::wire
