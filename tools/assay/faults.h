#pragma once

#include <iostream>

#include "conformance/text/json.h"
#include "reference/fault.h"

// Faults as a program that reads the command's output meets them.
namespace assay {

inline Json fault_json(const Fault& fault) {
  return {{"outcome", name(fault.outcome)}, {"rule", fault.rule}, {"place", fault.place}, {"message", fault.message}};
}

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
