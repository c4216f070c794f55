#pragma once

#include <iostream>

#include "conformance/text/fault_text.h"

namespace assay {

// Runs f; where JSON is wanted, a fault out of it is also printed as such.
template <class F>
auto refusals_as_json(bool json, F f) {
  try {
    return f();
  } catch (const Fault& fault) {
    if (json) std::cout << line_of(fault_json(fault)) << '\n';
    throw;
  }
}

}  // namespace assay
