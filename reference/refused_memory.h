#pragma once

#include "reference/number.h"

namespace assay {

// During the lifetime of an object, the k-th charge of memory that this thread makes to a budget is refused, as if no
// memory were left. With k = 0 nothing is refused. Requires that at most one such object exists at a time.
class RefusedMemory {
 public:
  explicit RefusedMemory(Int k);
  ~RefusedMemory();
  RefusedMemory(const RefusedMemory&) = delete;
  RefusedMemory& operator=(const RefusedMemory&) = delete;
};

}  // namespace assay
