#pragma once

#include <string>
#include <vector>

#include "conformance/features/features.h"

namespace assay::defects {

// A condition on a call.
struct Literal {
  enum class Test : std::uint8_t { holds, lacks, is, at_least, at_most };
  Test test = Test::holds;
  features::Phrase name;  // the name of a flag for `holds` and `lacks`, else that of a measure
  double amount = 0;      // the value that the measure is compared with
  bool of(const features::Features& f) const;
  bool is_about_sizes() const;  // whether it compares a number of elements, or a size of a tensor
  auto operator<=>(const Literal&) const = default;
};

// A conjunction of literals; an empty one holds for every call.
using Predicate = std::vector<Literal>;

bool holds(const Predicate& predicate, const features::Features& f);

// "self is not uint16", "dim is negative"
std::string words(const Literal& literal);

// True for the literals that every wrong result implies: the call is valid and has a result.
bool goes_without_saying(const Literal& literal);

// "whenever self has NaN and dim is negative", or "always". Omits literals that go without saying.
std::string words(const Predicate& predicate);

}  // namespace assay::defects
