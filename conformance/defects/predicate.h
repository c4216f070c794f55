#pragma once

#include <string>
#include <vector>

#include "conformance/features/features.h"

namespace assay {

// One thing that holds for some calls and not for others.
struct Literal {
  enum class Test : std::uint8_t { holds, lacks, is, at_least, at_most };
  Test test = Test::holds;
  Phrase name;        // of a flag, for `holds` and `lacks`, or of a measure
  double amount = 0;  // of the measure
  bool of(const Features& f) const;
  auto operator<=>(const Literal&) const = default;
};

// All of its literals; without any, every call.
using Predicate = std::vector<Literal>;

bool holds(const Predicate& predicate, const Features& f);

// "self is not uint16", "dim is negative"
std::string words(const Literal& literal);

// Of a wrong result, that the call is valid and that there is one.
bool goes_without_saying(const Literal& literal);

// "whenever self has NaN and dim is negative", "always"; without what goes without saying
std::string words(const Predicate& predicate);

}  // namespace assay
