#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "conformance/hosts/host.h"
#include "conformance/sandbox/fork_server.h"
#include "conformance/testee/runtime.h"

namespace assay {

// A program on a runtime under test, in a child that it may take down: what comes then is called in a fresh one, whose
// state is that of the beginning.
class TesteeHost final : public ProgramRunner {
 public:
  // The files are those of the program. The runtime outlives it. Made before there are threads.
  TesteeHost(const ValidProgram& program, const Budget& budget, Runtime& runtime, LoadSettings settings,
             const TimeLimit& time_limit);

  const pte::ExecutionPlan& plan(std::string_view method) const override { return reference_.plan(method); }
  std::string default_method() const override { return reference_.default_method(); }

  // Faults: those of adapted(); of rule "testee", in the testee's words, where it refuses.
  std::vector<Value> call(const std::string& method, std::vector<Value> inputs) override;

 private:
  Work work(std::string_view task);
  TaskResult answer(const std::string& task);

  Host reference_;  // which knows the program's methods
  Budget budget_;
  Runtime& runtime_;
  LoadSettings settings_;
  TimeLimit time_limit_;
  std::unique_ptr<TesteeProgram> loaded_;  // of a child
  ForkServer fork_server_;
  std::optional<Child> child_;
};

}  // namespace assay
