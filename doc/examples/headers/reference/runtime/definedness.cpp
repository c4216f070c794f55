#include <reference/runtime/definedness.h>

// Bytes hold no value after an overlapping write, and at the start of an execution.
int main() {
  using By = assay::Definedness::By;
  assay::Definedness memory;
  memory.write(0, 8, By::instruction), memory.write(16, 8, By::caller);
  const bool both = memory.written(0) == 8 && memory.written(16) == 8;
  memory.write(4, 8, By::instruction);
  const bool overlapped = memory.written(0) == 0 && memory.written(4) == 8;
  memory.begin();
  return both && overlapped && memory.written(4) == 0 && memory.written(16) == 8 ? 0 : 1;
}
