#pragma once

#include <optional>
#include <vector>

#include "reference/words/dtypes.h"

// Facts about this process: the machine that it runs on and the resources that it uses.
namespace assay::bench {

// Keeps the process, and all threads that it starts, on the first `count` of its processors. Throws Fault (unsupported,
// "bench.threads") if the process has fewer.
std::vector<int> keep_on_processors(int count);

// Waits until no other thread computes or spins, but at most 0.24 s. Worker threads spin after their work; those of
// onnxruntime spin for 50 ms.
void wait_until_quiet();

// The peak of the process's memory since the object was made, beyond the memory in use at that time.
class PeakMemory {
 public:
  PeakMemory();
  std::optional<Int> bytes() const;  // empty if the system does not report it

 private:
  std::optional<Int> before_;
};

}  // namespace assay::bench
