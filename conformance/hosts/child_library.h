#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "conformance/hosts/program_runner.h"
#include "conformance/sandbox/fork_server.h"
#include "conformance/sandbox/probe.h"

namespace assay {

// A library of kernels that runs in a worker, which a call may crash.
class ChildLibrary {
 public:
  // The library must outlive this object. It must be constructed before the process has threads.
  ChildLibrary(KernelLibrary& library, const TimeLimit& time_limit);

  const KernelLibrary& library() const { return library_; }

  // The observation of a call. Its out arguments have the layout that the library is to be given. Throws Violation if
  // the library crashes or hangs.
  Observation observe(const Operator& op, std::span<const Value> arguments, const Budget& budget);

 private:
  Work work(std::string_view task);

  KernelLibrary& library_;
  TimeLimit time_limit_;
  std::optional<Probe> probe_;  // used in the worker only
  ForkServer fork_server_;
  std::optional<Child> child_;
};

}  // namespace assay
