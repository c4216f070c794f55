#pragma once

#include <optional>

#include "conformance/sandbox/client_memory.h"
#include "optimized/runtime/kernel.h"

namespace assay {

// One call as a step by itself, in memory of exactly the size that its kernel asks for. The call's values outlive it.
class LoneStep {
 public:
  // Throws Fault where the kernel cannot be made. `spare`: so many bytes less of prepared memory than it asks for.
  LoneStep(const optimized::Kernel& kernel, const optimized::Call& call, std::size_t spare = 0);
  LoneStep(const LoneStep&) = delete;
  LoneStep& operator=(const LoneStep&) = delete;

  // False: it was not done; the fault may say why.
  bool run(optimized::Fault& fault, const kernels::Threads& threads = {});

 private:
  optimized::Stores prepare(format::Workspace& tables, optimized::Packed& packed, format::Workspace& prepared);

  alignas(64) std::byte state_[1024];  // as much as a step may have
  optimized::Step step_;
  const optimized::Kernel& kernel_;
  std::optional<ClientMemory> packed_, prepared_, scratch_;
};

}  // namespace assay
