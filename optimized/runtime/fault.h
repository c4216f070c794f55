#pragma once

#include <initializer_list>
#include <string_view>

#include "format/rule.h"
#include "outcome.gen.h"

namespace assay::optimized {

// Why a request was refused: the first thing that is wrong. A text that does not fit is cut.
struct Fault {
  Outcome outcome = Outcome::ok;
  char rule[64] = "";
  char place[256] = "";
  char message[512] = "";

  explicit operator bool() const { return outcome != Outcome::ok; }
  void set(Outcome outcome, std::string_view rule, std::string_view place, std::string_view message);
};

// Returns false, for `return refuse(...)`, and sets the fault: the request breaks a rule of spec/format/rules.yaml. The
// sentence is composed out of line, which keeps callers small.
bool refuse(Fault& fault, format::RuleId rule, const format::Place& place,
            std::initializer_list<format::Part> sentence);
bool refuse(Fault& fault, format::RuleId rule, const format::Place& place, std::string_view sentence);
template <class... Parts>
requires(sizeof...(Parts) > 1)
    [[gnu::always_inline]] inline bool refuse(Fault& fault, format::RuleId rule, const format::Place& place,
                                              const Parts&... sentence) {
  return refuse(fault, rule, place, {format::Part(sentence)...});
}

// Findings that set the fault from the first one and ignore later ones.
format::Findings first_finding(Fault& fault);

}  // namespace assay::optimized
