#include "conformance/defects/predicate.h"

#include <fmt/format.h>

#include <algorithm>

namespace assay::defects {

bool Literal::of(const features::Features& f) const {
  if (test == Test::holds) return f.has(name);
  if (test == Test::lacks) return !f.has(name);
  const features::Measure* m = f.measure(name);
  if (!m) return false;
  return test == Test::is ? m->amount == amount : test == Test::at_least ? m->amount >= amount : m->amount <= amount;
}

bool holds(const Predicate& predicate, const features::Features& f) {
  return std::ranges::all_of(predicate, [&](const Literal& l) { return l.of(f); });
}

std::string words(const Literal& literal) {
  switch (literal.test) {
    case Literal::Test::holds:
      return literal.name.text();
    case Literal::Test::lacks:
      return features::negation(literal.name);
    case Literal::Test::is:
      return fmt::format("{} is {}", literal.name.text(), literal.amount);
    case Literal::Test::at_least:
      return fmt::format("{} is at least {}", literal.name.text(), literal.amount);
    case Literal::Test::at_most:
      return fmt::format("{} is at most {}", literal.name.text(), literal.amount);
  }
  return {};
}

bool goes_without_saying(const Literal& l) {
  return l.name == features::call_is_valid || l.name == features::results_are_empty;
}

std::string words(const Predicate& predicate) {
  std::string all;
  for (const Literal& l : predicate)
    if (!goes_without_saying(l)) all += (all.empty() ? "whenever " : " and ") + words(l);
  return all.empty() ? "always" : all;
}

}  // namespace assay::defects
