#pragma once

#include <cstdlib>
#include <string>

#include "reference/operator.h"

namespace assay {

// The planted fault of a test's testee. ASSAY_PLANTED is an operator and the name of a fault, as in
// "aten::relu.out=wrong".
inline bool is_planted(const Operator& op, std::string_view deed) {
  const char* planted = std::getenv("ASSAY_PLANTED");
  return planted && planted == std::string(op.name) + "=" + std::string(deed);
}

// Faults that end the call: an abort and an endless loop.
inline void do_planted(const Operator& op) {
  if (is_planted(op, "abort")) std::abort();
  for (volatile bool forever = is_planted(op, "hang"); forever;) {
  }
}

}  // namespace assay
