#pragma once

#include "conformance/text/json.h"
#include "conformance/text/printable.h"
#include "reference/fault.h"

namespace assay::text {

// "invalid, T5: plan 0, value 3: the dim order ..."
inline std::string sentence(const Fault& fault) {
  return printable(
      concat(name(fault.outcome), ", ", fault.rule, ": ", fault.place, fault.place.empty() ? "" : ": ", fault.message));
}

inline Json fault_json(const Fault& fault) {
  return {{"outcome", name(fault.outcome)},
          {"rule", fault.rule},
          {"place", printable(fault.place)},
          {"message", printable(fault.message)}};
}

}  // namespace assay::text
