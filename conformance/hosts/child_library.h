#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "conformance/hosts/runner.h"
#include "conformance/sandbox/fork_server.h"
#include "conformance/sandbox/probe.h"

namespace assay {

// A library of kernels that is called in a child which it may take down.
class ChildLibrary {
 public:
  // The library outlives it. Made before there are threads.
  ChildLibrary(KernelLibrary& library, const TimeLimit& time_limit);

  const KernelLibrary& library() const { return library_; }

  // What is seen of a call; its out arguments are as the library is to find them. Throws Violation where the library
  // does not survive it.
  Observation observe(const Operator& op, std::span<const Value> arguments, const Budget& budget);

 private:
  Work work(std::string_view task);

  KernelLibrary& library_;
  TimeLimit time_limit_;
  std::optional<Probe> probe_;  // of a child
  ForkServer fork_server_;
  std::optional<Child> child_;
};

}  // namespace assay
