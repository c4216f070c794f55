#pragma once

#include <string_view>

#include "reference/fault.h"

// Faults about texts that should denote values or a call. spec/call.md lists the rules.
namespace assay::text {

// Throws a malformed Fault of the rule, with one sentence.
template <class... Parts>
[[noreturn]] void malformed(std::string_view rule, const Parts&... sentence) {
  throw Fault(Outcome::malformed, std::string(rule), concat(sentence...));
}

// The same, unless `holds` is true.
template <class... Parts>
void well_formed(bool holds, std::string_view rule, const Parts&... sentence) {
  if (!holds) malformed(rule, sentence...);
}

// Runs f. If f throws a Fault, its message gets the place as a prefix.
template <class F, class... Place>
auto within(F f, const Place&... place) {
  try {
    return f();
  } catch (Fault& fault) {
    fault.message = concat(place..., ": ", fault.message);
    throw;
  }
}

}  // namespace assay::text
