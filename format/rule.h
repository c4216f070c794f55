#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "format/text.h"
#include "format_rules.gen.h"

// What is found wrong with a file, by the rules of spec/format/rules.yaml.
namespace assay::format {

// A rule by its id. One that spec/format/rules.yaml does not have is no constant expression, so it does not compile.
class RuleId {
 public:
  consteval RuleId(const char* id) : index_(find(id)) {}                          // NOLINT(google-explicit-constructor)
  static constexpr RuleId numbered(std::int16_t index) { return RuleId(index); }  // of format_rules

  const FormatRule& operator*() const { return format_rules[index_]; }
  const FormatRule* operator->() const { return &format_rules[index_]; }

 private:
  explicit constexpr RuleId(std::int16_t index) : index_(index) {}
  static consteval std::int16_t find(std::string_view id) {
    std::int16_t index = 0;
    while (format_rules[index].id != id) ++index;  // beyond the end it is no constant
    return index;
  }

  std::int16_t index_;
};

// Where something is: a chain of names and indices, outermost first, written out only when something is wrong there.
// A name that comes from a file is `quoted`.
struct Place {
  const Place* outer = nullptr;
  std::string_view name;
  std::int64_t index = -1;  // -1: the name alone
  bool quoted = false;

  Place in(std::string_view part, std::int64_t i = -1) const { return {this, part, i}; }
  void write(Text& to) const;  // "plan 0, value 3"
};

// One thing that is wrong. It lives while it is told.
struct Finding {
  const FormatRule& rule;
  Outcome outcome;  // the rule's, or malformed where what it asks for cannot even be read
  const Place& place;
  std::string_view message;
};

// Takes what is found wrong and tells it on, as it comes; all checks of a file share one.
class Findings {
 public:
  // Whether it stands: what does not is as if it had not been asked, which is how tests leave a rule out.
  using Tell = bool (*)(void* listener, const Finding& finding);
  // The first `most` findings are told, those behind are only counted.
  explicit Findings(Tell tell, void* listener, std::uint64_t most = 100)
      : tell_(tell), listener_(listener), most_(most) {}

  template <class... Parts>
  bool check(bool holds, RuleId rule, const Place& place, const Parts&... sentence) {
    return holds || !stands(rule, false, place, {sentence...});
  }
  // What does not hold is malformed, whatever else the rule asks.
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
