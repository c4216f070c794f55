#pragma once

#include <executorch/runtime/core/event_tracer.h>

#include <chrono>
#include <string_view>
#include <vector>

#include "conformance/adapters/executorch/values.h"
#include "conformance/testee/runtime.h"

namespace assay::executorch_kernels {

// Notes the arguments of each call of a delegate. ExecuTorch logs them after the call, as inputs and outputs alike.
class DelegateTracer final : public executorch::runtime::EventTracer {
 public:
  DelegateTracer() {
    set_event_tracer_debug_level(executorch::runtime::EventTracerDebugLogLevel::kIntermediateOutputs);
  }

  std::vector<testee::TracedInstruction> traced;

 private:
  template <class T>
  using Result = executorch::runtime::Result<T>;
  using Tensor = executorch::aten::Tensor;
  using Entry = executorch::runtime::EventTracerEntry;
  using Name = const char*;
  using Id = executorch::runtime::DelegateDebugIntId;
  using Clock = std::chrono::steady_clock;

  Entry start_profiling(Name name, executorch::runtime::ChainID, executorch::runtime::DebugHandle) override {
    if (std::string_view(name) == "DELEGATE_CALL") {
      is_in_call_ = true, began_ = Clock::now();
      traced.emplace_back();
      traced.back().chain = static_cast<std::size_t>(current_chain_id());
      traced.back().instruction = current_debug_handle();
    }
    return {};
  }
  void end_profiling(Entry) override { is_in_call_ = false; }
  Result<bool> log_evalue(const executorch::runtime::EValue& value,
                          executorch::runtime::LoggedEValueType type) override {
    if (!is_in_call_ || type != executorch::runtime::LoggedEValueType::kIntermediateOutput) return false;
    if (traced.back().values.empty()) traced.back().time = Clock::now() - began_;
    traced.back().values.push_back(output(value));
    return true;
  }

  // What happens inside of a delegate is not noted.
  void create_event_block(Name) override {}
  Entry start_profiling_delegate(Name, Id) override { return {}; }
  void end_profiling_delegate(Entry, const void*, size_t) override {}
  void log_profiling_delegate(Name, Id, et_timestamp_t, et_timestamp_t, const void*, size_t) override {}
  void track_allocation(executorch::runtime::AllocatorID, size_t) override {}
  executorch::runtime::AllocatorID track_allocator(Name) override { return 0; }
  Result<bool> log_intermediate_output_delegate(Name, Id, const Tensor&) override { return false; }
  Result<bool> log_intermediate_output_delegate(Name, Id, const executorch::runtime::ArrayRef<Tensor>) override {
    return false;
  }
  Result<bool> log_intermediate_output_delegate(Name, Id, const int&) override { return false; }
  Result<bool> log_intermediate_output_delegate(Name, Id, const bool&) override { return false; }
  Result<bool> log_intermediate_output_delegate(Name, Id, const double&) override { return false; }
  void set_delegation_intermediate_output_filter(executorch::runtime::EventTracerFilterBase*) override {}

  bool is_in_call_ = false;
  Clock::time_point began_;
};

}  // namespace assay::executorch_kernels
