#pragma once

#include <optional>
#include <vector>

#include "reference/words/dtypes.h"

// Facts about this process: the machine that it runs on and the resources that it uses.
namespace assay::bench {

// Keeps the process, and all threads that it starts, on the first `count` of its processors. Throws Fault (unsupported,
// "bench.threads") where it has fewer.
std::vector<int> keep_on_processors(int count);

// Returns when no other thread computes any more, or spins, as workers do after their work, onnxruntime's for 50 ms;
// but after 0.24 s at the latest.
void wait_until_quiet();

// How much memory the process used at most since this began, beyond what it used then.
class PeakMemory {
 public:
  PeakMemory();
  std::optional<Int> bytes() const;  // none where the system does not tell

 private:
  std::optional<Int> before_;
};

}  // namespace assay::bench
