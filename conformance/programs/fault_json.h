#pragma once

#include "conformance/text/json.h"
#include "reference/fault.h"

namespace assay {

inline Json fault_json(const Fault& fault) {
  return {{"outcome", name(fault.outcome)}, {"rule", fault.rule}, {"place", fault.place}, {"message", fault.message}};
}

}  // namespace assay
