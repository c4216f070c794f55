#pragma once

#include "reference/number.h"

namespace assay {

// During its lifetime, the k-th charge of memory that this thread makes to a budget is refused, as if no memory were
// left. k = 0 refuses nothing. At most one object may exist at a time.
class RefusedMemory {
 public:
  explicit RefusedMemory(Int k);
  ~RefusedMemory();
  RefusedMemory(const RefusedMemory&) = delete;
  RefusedMemory& operator=(const RefusedMemory&) = delete;
};

}  // namespace assay
