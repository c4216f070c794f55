#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "conformance/hosts/host.h"
#include "conformance/hosts/trace.h"
#include "conformance/sandbox/fork_server.h"
#include "conformance/testee/runtime.h"

namespace assay::hosts {

// A program on a runtime under test, in a worker. If a call crashes the worker, later calls run in a new worker, with
// initial state.
class TesteeHost final : public ProgramRunner {
 public:
  using Tell = std::function<void(const TracedStep&)>;

  // The settings name the files of the program. The runtime must outlive the host. It must be constructed before the
  // process has threads. If `settings.traces` is true, `tell` gets each instruction that the runtime tells of.
  TesteeHost(const ValidProgram& program, const Budget& budget, testee::Runtime& runtime, testee::LoadSettings settings,
             const sandbox::TimeLimit& time_limit, Tell tell = {});

  const pte::ExecutionPlan& plan(std::string_view method) const override { return reference_.plan(method); }
  std::string default_method() const override { return reference_.default_method(); }

  // Faults: those of adapted(); rule "testee", with the testee's message, if the testee refuses.
  std::vector<Value> call(const std::string& method, std::vector<Value> inputs) override;

 private:
  sandbox::Work work(std::string_view task);
  sandbox::TaskResult answer(const std::string& task);
  void tell(const std::string& method, const text::Json& instruction) const;

  Host reference_;  // knows the program's methods
  Budget budget_;
  testee::Runtime& runtime_;
  testee::LoadSettings settings_;
  sandbox::TimeLimit time_limit_;
  Tell tell_;
  std::unique_ptr<testee::TesteeProgram> loaded_;  // used in the worker only
  sandbox::ForkServer fork_server_;
  std::optional<sandbox::Child> child_;
};

}  // namespace assay::hosts
