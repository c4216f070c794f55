#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/cases/host_call.h"
#include "conformance/features/phrase.h"

// What can be said of a call, in words: the language of slices, contracts and defects.
namespace assay {

// A number that a call has, such as "dimensions of self" or, of an argument, "dim".
struct Measure {
  Phrase name;
  double amount = 0;
};

// A flag that is not there does not hold. Flags about the call as a whole, "a tensor is uint16", are the same
// for every operator; the others begin with the name of an argument, "self has NaN".
struct Features {
  std::vector<Phrase> flags;      // by their places
  std::vector<Measure> measures;  // each with a name of its own

  bool has(Phrase flag) const;
  const Measure* measure(Phrase name) const;  // null where the call has none
};

Features features_of(const Operator& op, const HostCall& call);

inline constexpr const char *call_is_valid = "the call is valid", *results_are_empty = "the results are empty";

// Whether a flag says that the call breaks a rule, which it names.
bool says_broken(std::string_view flag);

// The flags about a call as a whole.
std::span<const Phrase> call_flags();

// What is said where a flag does not hold: "no tensor is uint16", "self is not floating", "self has no NaN".
std::string negation(std::string_view flag);

}  // namespace assay
