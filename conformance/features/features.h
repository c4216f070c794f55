#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/cases/host_call.h"
#include "conformance/features/phrase.h"

// Facts about a call as phrases: the vocabulary of slices, contracts and defects.
namespace assay::features {

// A number that belongs to a call, such as "the rank of self" or the value of an argument, "dim".
struct Measure {
  Phrase name;
  double amount = 0;
};

// All facts about a call. A flag that is absent does not hold. Flags about the call as a whole, such as "a tensor is
// uint16", are the same for every operator; the other flags begin with the name of an argument: "self has NaN".
struct Features {
  std::vector<Phrase> flags;      // sorted by Phrase::place()
  std::vector<Measure> measures;  // with distinct names

  bool has(Phrase flag) const;
  const Measure* measure(Phrase name) const;  // null if the call has no such measure
};

Features features_of(const Operator& op, const cases::HostCall& call);

inline constexpr const char *call_is_valid = "the call is valid", *results_are_empty = "the results are empty";

// What a rule is about: "dtypes" of self and other, "sizes", "dim orders" or "elements" of tensors, or "values" of
// another argument. No arguments: the rule is about the call as a whole.
struct RuleSubject {
  std::string aspect;
  std::vector<std::string> arguments;
  std::string text() const;  // "the dtype of self", "the sizes of self and other"
};
RuleSubject subject_of(const Operator& op, std::string_view rule_id);

// "a, b and c"
std::string listed(std::span<const std::string> names);

// Whether a flag states that the call breaks a rule; such a flag names what the rule is about.
bool says_broken(std::string_view flag);

// The flags about a call as a whole.
std::span<const Phrase> call_flags();

// The words for a flag that does not hold: "no tensor is uint16", "self is not floating", "self has no NaN".
std::string negation(std::string_view flag);

}  // namespace assay::features
