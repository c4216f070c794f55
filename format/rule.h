#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "format/text.h"
#include "format_rules.gen.h"

namespace assay::pte {
struct ExecutionPlan;
struct Program;
}  // namespace assay::pte

// Reports the faults of files. Each fault breaks a rule of spec/format/rules.yaml.
namespace assay::format {

// A rule, constructed from its id. An id that is not in spec/format/rules.yaml is a compile error.
class RuleId {
 public:
  consteval RuleId(const char* id) : index_(find(id)) {}                          // NOLINT(google-explicit-constructor)
  static constexpr RuleId numbered(std::int16_t index) { return RuleId(index); }  // takes the index in format_rules

  const FormatRule& operator*() const { return format_rules[index_]; }
  const FormatRule* operator->() const { return &format_rules[index_]; }

 private:
  explicit constexpr RuleId(std::int16_t index) : index_(index) {}
  static consteval std::int16_t find(std::string_view id) {
    std::int16_t index = 0;
    while (format_rules[index].id != id) ++index;  // reading beyond the end is not a constant expression
    return index;
  }

  std::int16_t index_;
};

// A position in a file: a chain of names and indices, such as segment 0, entry 3. The chain is a linked list, which is
// turned into text only for a fault. Requires that `outer` outlives this object.
struct Place {
  const Place* outer = nullptr;
  std::string_view name;
  std::int64_t index = -1;  // -1 if the part has no index
  bool quoted = false;
  const pte::ExecutionPlan* method = nullptr;  // the outermost part of a place in a method has it

  Place in(std::string_view part, std::int64_t i = -1) const { return {this, part, i}; }
  // Writes the place in words. In a method: "argument 2 of instruction 15 of forward, aten::add.out", "value 3 of
  // forward". Elsewhere, outermost first: "data file 0, entry 3".
  void write(Text& to) const;
};

Place place_of_plan(const pte::Program& program, std::uint32_t i);  // requires that the plan exists

// A fault that a check found. The object and its members are valid only during the call that reports the fault.
struct Finding {
  const FormatRule& rule;
  // The outcome of the rule, or malformed if the field that the rule is about cannot be read.
  Outcome outcome;
  const Place& place;
  std::string_view message;
};

// Passes each fault to a listener at the moment the fault is found. All checks of a file share one object.
class Findings {
 public:
  // A listener. It returns true to keep the fault. If the listener returns false, the fault is ignored, and check()
  // returns true as if the file met the rule. Tests disable rules in this way.
  using Tell = bool (*)(void* listener, const Finding& finding);
  // Passes the first `most` findings to the listener, and only counts later findings.
  explicit Findings(Tell tell, void* listener, std::uint64_t most = 100)
      : tell_(tell), listener_(listener), most_(most) {}

  // If `holds` is false, reports a fault of the rule. Returns whether `holds` is true or the listener ignored the
  // fault. The parts of `sentence` are joined to the fault's message.
  template <class... Parts>
  bool check(bool holds, RuleId rule, const Place& place, const Parts&... sentence) {
    return holds || !stands(rule, false, place, {sentence...});
  }
  // The same as check(), except that the outcome is always malformed.
  template <class... Parts>
  bool readable(bool holds, RuleId rule, const Place& place, const Parts&... sentence) {
    return holds || !stands(rule, true, place, {sentence...});
  }

  std::uint64_t count() const { return count_; }
  bool none() const { return count_ == 0; }

 private:
  bool stands(RuleId rule, bool unreadable, const Place& place, std::initializer_list<Part> sentence);

  Tell tell_;
  void* listener_;
  std::uint64_t most_, count_ = 0;
};

}  // namespace assay::format
