#pragma once

#include <iostream>

#include "conformance/text/output.h"

namespace assay::command {

// Prints as a line what `write` writes to a JsonOutput. The output is counted first, so that nothing is printed unless
// the budget allows all of it.
template <class F>
void print_json(const Budget& budget, F write) {
  text::Output counted(nullptr, Budget(budget.left())), printed(&std::cout, budget);
  for (text::Output* out : {&counted, &printed}) {
    text::JsonOutput json(*out);
    write(json);
    out->write("\n");
  }
}

}  // namespace assay::command
