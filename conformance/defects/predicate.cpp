#include "conformance/defects/predicate.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace assay::defects {
namespace {

// Words of sentences for parts of flags. Contracts and slices name the flags themselves, which are shorter.
struct Telling {
  std::string_view flag, sentence;
};
constexpr auto tellings = std::to_array<Telling>({
    {"of wide unsigned integers", "uint16, uint32 or uint64"},
    {"of a half type", "float16 or bfloat16"},
    {"has extreme numbers", "has numbers near the limits of its dtype"},
    {"has numbers that float32 lacks", "has numbers that float32 cannot hold"},
    {"is no float32", "is a number that float32 cannot hold"},
    {"is extreme", "is beyond the range of int32"},
    {"an argument is a bool where numbers are", "a number argument is a bool"},
    {"an argument is an integer where numbers are", "a number argument is an integer"},
    {"an argument is a float where numbers are", "a number argument is a float"},
    {"is of one entry for each dimension", "has one entry for each dimension"},
    {"has None at its beginning", "begins with None"},
    {"an argument is no number of the first input's dtype",
     "the dtype of the first input cannot hold a number argument"},
    {"is no number of the first input's dtype", "is a number that the dtype of the first input cannot hold"},
    {"a result ", "the right result "},
    {"the entry forbids the dtype of an out", "an out has a wrong dtype"},
    {" has no rows of a multiple of ", " has rows whose length is no multiple of "},
    {" has rows of a multiple of ", " has rows whose length is a multiple of "},
    {"the dim orders are not one for all", "tensors have different dim orders"},
    {"the dim orders are one for all", "all tensors have one dim order"},
    {" is not of one entry for each dimension", " has more or fewer entries than there are dimensions"},
    {"both operands differ and their dtype holds them as equal somewhere",
     "two different operands are equal after conversion to their common dtype"},
    {"the second operand is not 0 and their dtype holds it as 0 somewhere",
     "the second operand is not 0 but becomes 0 in the common dtype"},
    {"a remainder of operands of opposite signs is not 0 somewhere", "operands of opposite signs leave a remainder"},
    {"a remainder is not 0 somewhere", "operands leave a remainder"},
    {"a remainder by what the dtype holds of the second operand is another somewhere",
     "conversion of the second operand to the common dtype changes the remainder"},
    {"the least integer is divided by -1 somewhere", "the least integer of the dtype is divided by -1"},
    {"a power is beyond its integers somewhere", "a power overflows its integer dtype"},
    {"a power by way of float64 is another integer somewhere", "float64 cannot hold a power of integers"},
    {"the second operand is no less than the bits of the first somewhere",
     "a shift count is at least the number of bits"},
    {"a left shift by the count modulo the bits of a register is another somewhere",
     "a left shift has a count of at least the bits of a register"},
    {"a right shift by the count modulo the bits of a register is another somewhere",
     "a right shift has a count of at least the bits of a register"},
    {"the correction takes all degrees of freedom somewhere",
     "the correction is at least the number of combined elements"},
    {" somewhere", " for some element"},
});

std::string told(std::string text) {
  for (const Telling& t : tellings)
    if (const std::size_t at = text.find(t.flag); at != std::string::npos) text.replace(at, t.flag.size(), t.sentence);
  return text;
}

// "pad has an entry of at least 3" for "the largest of pad is at least 3"; otherwise "<measure> is at least 3".
std::string compared(std::string_view measure, std::string_view how, double amount) {
  for (const std::string_view entry : {"the least of ", "the largest of "})
    if (measure.starts_with(entry) && (how == "at least ") == (entry == "the largest of ") && !how.empty())
      return fmt::format("{} has an entry of {}{}", measure.substr(entry.size()), how, amount);
  if (measure.starts_with("the number of elements of ") && how.empty() && amount == 1)
    return fmt::format("{} has one element", measure.substr(measure.rfind(' ') + 1));
  return fmt::format("{} is {}{}", measure, how, amount);
}

}  // namespace

bool Literal::of(const features::Features& f) const {
  if (test == Test::holds) return f.has(name);
  if (test == Test::lacks) return !f.has(name);
  const features::Measure* m = f.measure(name);
  if (!m) return false;
  return test == Test::is ? m->amount == amount : test == Test::at_least ? m->amount >= amount : m->amount <= amount;
}

bool Literal::is_about_sizes() const {
  const std::string_view measure = name;
  return test > Test::lacks &&
         (measure.starts_with("the number of elements of ") || measure.find(" size of ") != measure.npos);
}

bool holds(const Predicate& predicate, const features::Features& f) {
  return std::ranges::all_of(predicate, [&](const Literal& l) { return l.of(f); });
}

std::string words(const Literal& literal) {
  switch (literal.test) {
    case Literal::Test::holds:
      return told(literal.name.text());
    case Literal::Test::lacks:
      return told(features::negation(literal.name));
    case Literal::Test::is:
      return compared(literal.name.text(), "", literal.amount);
    case Literal::Test::at_least:
      return compared(literal.name.text(), "at least ", literal.amount);
    case Literal::Test::at_most:
      return compared(literal.name.text(), "at most ", literal.amount);
  }
  return {};
}

bool goes_without_saying(const Literal& l) {
  const bool says_not_empty = l.test == Literal::Test::lacks && l.name == "a tensor has a size of 0";
  return l.name == features::call_is_valid || l.name == features::results_are_empty || says_not_empty;
}

std::string words(const Predicate& predicate) {
  std::string all;
  for (const Literal& l : predicate)
    if (!goes_without_saying(l)) all += (all.empty() ? "whenever " : " and ") + words(l);
  return all.empty() ? "always" : all;
}

}  // namespace assay::defects
