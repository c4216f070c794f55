#pragma once

#include "reference/number.h"

namespace assay {

// While it lives, the k-th time from then on that this thread charges memory to a budget, it is refused, as if there
// were none; 0: never. One at a time.
class RefusedMemory {
 public:
  explicit RefusedMemory(Int k);
  ~RefusedMemory();
  RefusedMemory(const RefusedMemory&) = delete;
  RefusedMemory& operator=(const RefusedMemory&) = delete;
};

}  // namespace assay
