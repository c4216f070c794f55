#pragma once

#include <optional>
#include <sstream>

#include "conformance/text/fault_text.h"
#include "conformance/text/output.h"
#include "fuzz/limits.h"
#include "fuzz/oracle.h"

namespace assay::fuzz {

// Returns what f prints within a budget, or nothing if the budget refuses it. The limits of memory, work and text are
// all checked, as in a command.
template <class F>
std::optional<std::string> printed(std::size_t input_size, F f) {
  std::ostringstream text;
  try {
    const Measured measured(heap_for(input_size), most_seconds);
    const Budget budget(limits);
    const Budget::Scope scope(budget, "the attack");
    Output out(&text, budget);
    f(out);
  } catch (const Fault& refused) {
    check_text(sentence(refused), limits.output);
    return std::nullopt;
  }
  check_text(text.view(), limits.output);
  return std::move(text).str();
}

// The same of JSON, which must also read back.
template <class F>
void check_printed_json(std::size_t input_size, F f) {
  const auto json = printed(input_size, [&](Output& out) {
    JsonOutput to(out);
    f(to, out.budget());
  });
  if (json) check_json(*json);
}

}  // namespace assay::fuzz
