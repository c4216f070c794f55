#pragma once

#include <cstdlib>
#include <string>

#include "reference/operator.h"

namespace assay {

// What a testee of the tests does wrong in the calls of an operator: ASSAY_PLANTED is "aten::relu.out=wrong", the deed
// one of those below.
inline bool is_planted(const Operator& op, std::string_view deed) {
  const char* planted = std::getenv("ASSAY_PLANTED");
  return planted && planted == std::string(op.name) + "=" + std::string(deed);
}

// Deeds that do not come back.
inline void do_planted(const Operator& op) {
  if (is_planted(op, "abort")) std::abort();
  for (volatile bool forever = is_planted(op, "hang"); forever;) {
  }
}

}  // namespace assay
