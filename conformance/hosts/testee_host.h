#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "conformance/hosts/host.h"
#include "conformance/sandbox/fork_server.h"
#include "conformance/testee/runtime.h"

namespace assay {

// A program on a runtime under test, in a worker. If a call crashes the worker, later calls run in a new worker, with
// initial state.
class TesteeHost final : public ProgramRunner {
 public:
  // The settings name the files of the program. The runtime must outlive the host. It must be constructed before the
  // process has threads.
  TesteeHost(const ValidProgram& program, const Budget& budget, Runtime& runtime, LoadSettings settings,
             const TimeLimit& time_limit);

  const pte::ExecutionPlan& plan(std::string_view method) const override { return reference_.plan(method); }
  std::string default_method() const override { return reference_.default_method(); }

  // Faults: those of adapted(); rule "testee", with the testee's message, if the testee refuses.
  std::vector<Value> call(const std::string& method, std::vector<Value> inputs) override;

 private:
  Work work(std::string_view task);
  TaskResult answer(const std::string& task);

  Host reference_;  // knows the program's methods
  Budget budget_;
  Runtime& runtime_;
  LoadSettings settings_;
  TimeLimit time_limit_;
  std::unique_ptr<TesteeProgram> loaded_;  // used in the worker only
  ForkServer fork_server_;
  std::optional<Child> child_;
};

}  // namespace assay
