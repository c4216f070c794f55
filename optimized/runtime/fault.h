#pragma once

#include <initializer_list>
#include <string_view>

#include "format/rule.h"
#include "outcome.gen.h"

namespace assay::optimized {

// The reason why a request was refused. If there are several, it is the first one. A text that does not fit is cut.
struct Fault {
  Fault();  // no fault, and empty texts

  Outcome outcome;
  char rule[64];
  char place[256];
  char message[512];

  explicit operator bool() const { return outcome != Outcome::ok; }
  void set(Outcome outcome, std::string_view rule, std::string_view place, std::string_view message);
  void add_place(format::Text& outer);  // puts an outer place before the place; changes `outer`
};

// Sets the fault for a request that breaks a rule of spec/format/rules.yaml. Returns false, so that a caller can write
// `return refuse(...)`. The sentence is composed in another function, which keeps the callers small.
bool refuse(Fault& fault, format::RuleId rule, const format::Place& place,
            std::initializer_list<format::Part> sentence);
bool refuse(Fault& fault, format::RuleId rule, const format::Place& place, const char* sentence);
bool refuse(Fault& fault, format::RuleId rule, const char* sentence);  // without a place
// The same for a request that breaks no rule of that file.
bool refuse(Fault& fault, Outcome outcome, const char* reason, const char* sentence);
inline constexpr format::Place nowhere;
template <class... Parts>
requires(sizeof...(Parts) > 1)
    [[gnu::always_inline]] inline bool refuse(Fault& fault, format::RuleId rule, const format::Place& place,
                                              const Parts&... sentence) {
  return refuse(fault, rule, place, {format::Part(sentence)...});
}

// Findings whose listener sets the fault from the first finding and ignores later findings.
format::Findings first_finding(Fault& fault);

}  // namespace assay::optimized
