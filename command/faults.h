#pragma once

#include <iostream>

#include "conformance/text/fault_text.h"

namespace assay::command {

// Runs f. If JSON is asked for, a Fault that f throws is also printed as JSON.
template <class F>
auto refusals_as_json(bool json, F f) {
  try {
    return f();
  } catch (const Fault& fault) {
    if (json) std::cout << text::line_of(text::fault_json(fault)) << '\n';
    throw;
  }
}

}  // namespace assay::command
