#pragma once

#include <optional>

#include "conformance/sandbox/client_memory.h"
#include "optimized/runtime/kernel.h"

namespace assay::adapters {

// Runs one call as a step of its own, in memory of exactly the size that its kernel asks for. The call's values must
// outlive the step.
class LoneStep {
 public:
  // Throws Fault if the kernel cannot be made. `spare` bytes of the prepared memory that the kernel asks for are left
  // out.
  LoneStep(const optimized::Kernel& kernel, const optimized::Call& call, std::size_t spare = 0);
  LoneStep(const LoneStep&) = delete;
  LoneStep& operator=(const LoneStep&) = delete;

  // Returns false if the step did not run; the fault may have the reason.
  bool run(optimized::Fault& fault, const kernels::Threads& threads = {});

 private:
  optimized::Stores prepare(format::Workspace& tables, optimized::Packed& packed, format::Workspace& prepared);

  alignas(64) std::byte state_[4096];  // the most that a step may have
  optimized::Step step_;
  const optimized::Kernel& kernel_;
  std::optional<sandbox::ClientMemory> packed_, prepared_, scratch_;
};

}  // namespace assay::adapters
