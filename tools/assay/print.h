#pragma once

#include <iostream>

#include "conformance/text/output.h"

namespace assay {

// Prints what `write` writes to an Output. What must be whole, as JSON must, is counted first, so that nothing is printed
// unless the budget allows all of it.
template <class F>
void print(bool whole, const Budget& budget, F write) {
  if (whole) {
    Output counted(nullptr, Budget(budget.left()));
    write(counted);
  }
  Output out(&std::cout, budget);
  write(out);
}

}  // namespace assay
