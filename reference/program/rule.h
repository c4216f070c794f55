#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "format_rules.gen.h"
#include "reference/fault.h"

// What is found wrong with a program, by the rules of spec/format/rules.yaml.
namespace assay {

// The id of a format rule. One that spec/format/rules.yaml does not have is no constant expression, so it does not
// compile.
class RuleId {
 public:
  consteval RuleId(const char* id) : rule_(find(id)) {}  // NOLINT(google-explicit-constructor)
  explicit RuleId(const FormatRule& rule) : rule_(&rule) {}

  const FormatRule& operator*() const { return *rule_; }
  const FormatRule* operator->() const { return rule_; }

 private:
  static consteval const FormatRule* find(std::string_view id) {
    // A pointer is not compared with null here: with its sanitizers, g++ sees no constant in that.
    for (const FormatRule& rule : format_rules)
      if (rule.id == id) return &rule;
    throw "spec/format/rules.yaml has no such rule";
  }
  const FormatRule* rule_;
};

// Where something is: a chain of names and indices, outermost first, written out only when something is wrong there.
struct Place {
  const Place* outer = nullptr;
  std::string_view name;
  Int index = -1;  // -1: the name alone

  Place in(std::string_view part, Int i = -1) const { return {this, part, i}; }
  std::string text() const;  // "plan 0, value 3"
};

// One thing that is wrong: for a function that stops at the first, to throw.
template <class... Parts>
Fault broken(RuleId rule, const Place& place, const Parts&... sentence) {
  return Fault(rule->outcome, std::string(rule->id), text(sentence...), place.text());
}

// All that is wrong: for a function that looks at everything.
class Findings {
 public:
  template <class... Parts>
  bool check(bool holds, RuleId rule, const Place& place, const Parts&... sentence) {
    if (!holds) faults.push_back(broken(rule, place, sentence...));
    return holds;
  }

  std::vector<Fault> faults;
};

// A value, or every reason why there is none.
template <class T>
struct Result {
  std::optional<T> value;
  std::vector<Fault> faults;

  explicit operator bool() const { return value.has_value(); }
  T& operator*() { return *value; }
  const T& operator*() const { return *value; }
  T* operator->() { return &*value; }
  const T* operator->() const { return &*value; }
};

}  // namespace assay
