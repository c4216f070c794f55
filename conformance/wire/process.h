#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>

#include "conformance/wire/address.h"

namespace assay::wire {

// A process that runs a command. It is killed when the thread that started it ends.
class Process {
 public:
  // `wire` becomes its standard input and output, `errors` its standard error; it has no other files. Throws Fault
  // (invalid, testee) if the process cannot be started.
  Process(const Command& command, int wire, int errors);
  ~Process();  // kills the process
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  // The wait status of the process if it ends within this time, else nothing.
  std::optional<int> status(std::chrono::milliseconds within);

 private:
  pid_t pid_ = -1;
};

// A fork server: the process of a command that forks a server for each request. A request is three descriptors: the
// wire, the standard error of the fork, and a pipe to which the fork server writes the wait status of the fork. When
// the pipe's reader is closed, the fork is killed.
class Forker {
 public:
  Forker(const Command& command, int errors);  // throws as Process does
  ~Forker();
  Forker(const Forker&) = delete;
  Forker& operator=(const Forker&) = delete;

  Forked forked() const { return {requests_}; }

 private:
  int requests_ = -1;
  std::optional<Process> process_;
};

}  // namespace assay::wire
