#include "conformance/defects/conditions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "conformance/cases/mutation.h"
#include "conformance/cases/special_numbers.h"
#include "conformance/defects/foretold.h"
#include "conformance/defects/numbers.h"

namespace assay::defects {
namespace {

struct SpecialPair {
  std::string_view says;
  bool (*holds)(Real a, Real b);
  bool is_of_division = false;
};
constexpr auto special_pairs = std::to_array<SpecialPair>({
    {"for equal operands", [](Real a, Real b) { return a == b; }},
    {"for equal operands other than 0", [](Real a, Real b) { return a == b && a != 0; }},
    {"where the divisor is 0", [](Real, Real b) { return b == 0; }, true},
    {"where operands of opposite signs leave a remainder",
     [](Real a, Real b) { return ((a < 0 && b > 0) || (a > 0 && b < 0)) && std::fmod(a, b) != 0; }, true},
    {"where operands of opposite signs leave no remainder",
     [](Real a, Real b) { return ((a < 0 && b > 0) || (a > 0 && b < 0)) && std::fmod(a, b) == 0; }, true},
    {"where a negative divisor leaves a remainder", [](Real a, Real b) { return b < 0 && std::fmod(a, b) != 0; }, true},
    {"for operands of opposite signs", [](Real a, Real b) { return (a < 0 && b > 0) || (a > 0 && b < 0); }},
    {"for negative operands", [](Real a, Real b) { return a < 0 && b < 0; }},
    {"where there is a remainder", [](Real a, Real b) { return b != 0 && std::fmod(a, b) != 0; }, true},
    {"for operands that are equal as float32",
     [](Real a, Real b) { return a != b && static_cast<float>(a) == static_cast<float>(b); }},
    {"where one operand is NaN", [](Real a, Real b) { return std::isnan(a) != std::isnan(b); }},
    {"where both operands are NaN", [](Real a, Real b) { return std::isnan(a) && std::isnan(b); }},
    {"where both operands are 0", [](Real a, Real b) { return a == 0 && b == 0; }},
});

// The number that is right for all wrong elements of several answers; none if it is a number of other conditions, or if
// a wrong element is near it: such an element is not precise, whatever is right.
std::optional<Real> right_constant_in(std::span<const Seen> all) {
  std::optional<Real> constant;
  for (const Seen& s : all)
    for (const Int k : s.compared) {
      const Real right = s.elements.at(k).right;
      if (s.is_right(k)) continue;
      if (!std::isfinite(right) || right == 0 || (constant && *constant != right)) return std::nullopt;
      if (std::fabs(s.got[k] - right) <= 0x1p-6 * std::fabs(right)) return std::nullopt;
      constant = right;
    }
  return all.size() > 1 ? constant : std::nullopt;
}

std::string of_operand(std::string_view says, std::string_view name, std::size_t operands) {
  return operands == 1 ? fmt::format("for {}", says) : fmt::format("for {} in {}", says, name);
}

// The number of fewest decimal digits in [from, to), of two numbers in this order.
Real plainest(Real from, Real to) {
  for (int digits = 1; digits < 18; ++digits)
    for (const Real x : {from, (from + to) / 2, to})
      if (const Real plain = std::strtod(fmt::format("{:.{}e}", static_cast<double>(x), digits - 1).c_str(), nullptr);
          from <= plain && plain < to)
        return plain;
  return from;
}

// The conditions that a number is above a limit, or below one, which separates the wrong elements of all answers from
// the right ones: the numbers of wrong elements lie on one side of it, and those of right elements on the other.
void limits_of(std::span<const Seen> seen, std::string_view says, const std::function<Real(const Result&)>& number,
               std::vector<Condition>& all) {
  for (const bool is_above : {true, false}) {
    const Real sign = is_above ? 1 : -1;
    Real limit = infinite, below = -infinite;  // the least number of a wrong element, and the next of a right one
    std::size_t wrong = 0, right = 0, against = 0;
    const auto each = [&](bool are_right, auto visit) {
      for (const Seen& s : seen)
        for (const Int k : s.compared)
          if (const Real x = sign * number(s.elements.at(k)); std::isfinite(x) && s.is_right(k) == are_right) visit(x);
    };
    each(false, [&](Real x) { limit = std::min(limit, x), ++wrong; });
    each(true, [&](Real x) {
      ++(x < limit ? right : against);
      if (x < limit) below = std::max(below, x);
    });
    if (wrong < fewest_outside || right < fewest_outside || 10 * against > wrong) continue;
    const Real plain = plainest(below, limit);
    all.push_back({fmt::format("{} {} {}", says, is_above ? "above" : "below", static_cast<double>(sign * plain)),
                   [=](const Result& e) { return sign * number(e) > plain; }, false, weight_of_limits});
  }
}

}  // namespace

std::vector<Condition> conditions_of(const Operator& op, std::span<const Seen> seen) {
  std::vector<Condition> all;
  const ResultElements& some = seen[0].elements;
  const auto is_alike = [&](const Seen& s) { return s.elements.operands() == some.operands(); };
  if (const std::size_t n = some.operands(); n > 0 && std::ranges::all_of(seen, is_alike)) {
    for (const cases::SpecialNumbers& special : cases::special_numbers) {
      if (n > 1)
        all.push_back({fmt::format("for {}", special.name),
                       [holds = special.has](const Result& e) { return std::ranges::any_of(e.operands, holds); }});
      for (std::size_t j = 0; j < n; ++j)
        all.push_back({of_operand(special.name, some.names()[j], n), [j, holds = special.has](const Result& e) {
                         return j < e.operands.size() && holds(e.operands[j]);
                       }});
    }
    if (n == 2)
      for (const SpecialPair& pair : special_pairs)
        if (!pair.is_of_division || divides(op))
          all.push_back({std::string(pair.says), [holds = pair.holds](const Result& e) {
                           return e.operands.size() == 2 && holds(e.operands[0], e.operands[1]);
                         }});
  }
  const auto result = [&](std::string_view says, bool (*holds)(const Result&)) {
    all.push_back({std::string(says), holds});
  };
  const auto terms = [&](std::string_view says, bool (*holds)(std::span<const Real>)) {
    all.push_back({std::string(says), [holds](const Result& e) { return e.is_reduced && holds(e.terms); }});
  };
  if (some.at(0).is_reduced) {
    terms("where no number of the row is above 0",
          [](std::span<const Real> row) { return std::ranges::none_of(row, [](Real x) { return x > 0; }); });
    terms("where no number of the row is below 0",
          [](std::span<const Real> row) { return std::ranges::none_of(row, [](Real x) { return x < 0; }); });
    terms("where the row has NaN",
          [](std::span<const Real> row) { return std::ranges::any_of(row, [](Real x) { return std::isnan(x); }); });
    terms("where the row has an infinity",
          [](std::span<const Real> row) { return std::ranges::any_of(row, [](Real x) { return std::isinf(x); }); });
    terms("where the row has only infinities",
          [](std::span<const Real> row) { return std::ranges::all_of(row, [](Real x) { return std::isinf(x); }); });
    terms("where the row has one element", [](std::span<const Real> row) { return row.size() == 1; });
    terms("where the row has an even number of elements",
          [](std::span<const Real> row) { return row.size() % 2 == 0; });
  }
  const auto number_arguments = [&](auto each) {
    std::size_t n = 0;
    for (const SchemaArgument& a : op.arguments)
      if (!a.out && cases::takes_number(a.type)) each(a.name, n++);
  };
  if (const auto low = argument_of(op, "min") ? argument_of(op, "min") : argument_of(op, "min_val");
      low && some.operands() == 1) {
    // The limit above follows the limit below.
    std::size_t k = 0;
    number_arguments([&](std::string_view name, std::size_t n) {
      if (name == op.arguments[*low].name) k = n;
    });
    const std::string_view least = op.arguments[*low].name, most = op.arguments[*low + 1].name;
    all.push_back({fmt::format("for numbers below {}, where {} is above {}", least, least, most), [k](const Result& e) {
                     return e.operands.size() == 1 && e.operands[0] < e.numbers[k] && e.numbers[k] > e.numbers[k + 1];
                   }});
  }
  if (some.operands() == 1)
    number_arguments([&](std::string_view name, std::size_t k) {
      all.push_back({fmt::format("for numbers below {}", name),
                     [k](const Result& e) { return e.operands.size() == 1 && e.operands[0] < e.numbers[k]; }, false,
                     weight_of_limits});
      all.push_back({fmt::format("for numbers above {}", name),
                     [k](const Result& e) { return e.operands.size() == 1 && e.operands[0] > e.numbers[k]; }, false,
                     weight_of_limits});
    });
  result("where NaN is right", [](const Result& e) { return std::isnan(e.right); });
  result("where infinity is right", [](const Result& e) { return std::isinf(e.right); });
  result("where the right result is subnormal", [](const Result& e) {
    return is_floating(e.dtype) && e.right != 0 &&
           std::fabs(e.right) < std::ldexp(Real{1}, info(e.dtype).least_exponent);
  });
  result("where the right result is -0", [](const Result& e) { return e.right == 0 && std::signbit(e.right); });
  result("where the right result is 0", [](const Result& e) { return e.right == 0; });
  result("where the least integer of the dtype is right",
         [](const Result& e) { return is_integer(e.dtype) && e.right != 0 && e.right == least_integer(e.dtype); });
  if (const auto constant = right_constant_in(seen))
    all.push_back({fmt::format("where {:.6g} is right", *constant),
                   [x = *constant](const Result& e) { return is_same_number(e.right, stored(x, e.dtype)); }});
  result("where the right result is negative", [](const Result& e) { return e.right < 0; });
  for (std::size_t j = 0; j < some.operands(); ++j)
    limits_of(
        seen, of_operand("numbers", some.names()[j], some.operands()),
        [j](const Result& e) { return j < e.operands.size() ? e.operands[j] : no_number; }, all);
  limits_of(
      seen, "where the right result is", [](const Result& e) { return e.right; }, all);
  number_arguments([&](std::string_view name, std::size_t k) {
    all.push_back({fmt::format("where the right result is {}", name),
                   [k](const Result& e) { return e.right == stored(e.numbers[k], e.dtype); }});
    if (const auto& names = some.names(); !names.empty() && names[0] == "indices")
      all.push_back({fmt::format("where {} is {}", names[0], name),
                     [k](const Result& e) { return !e.operands.empty() && e.operands[0] == e.numbers[k]; }});
  });
  all.push_back({"", [](const Result&) { return true; }});
  const std::size_t values = all.size();  // places follow
  Int first = std::numeric_limits<Int>::max(), first_of_row = first;
  bool has_rows = false;
  for (const Seen& s : seen)
    for (Int k = 0; k < s.elements.count(); ++k)
      if (const Result e = s.elements.at(k); !s.is_right(k)) {
        first = std::min(first, e.at), first_of_row = std::min(first_of_row, e.row > 0 ? e.at % e.row : 0);
        has_rows = has_rows || e.row < e.count;
      }
  if (first > 0)
    all.push_back({fmt::format("from element {} on", first), [first](const Result& e) { return e.at >= first; }});
  if (first_of_row > 0 && has_rows)
    all.push_back({fmt::format("behind the first {} elements of each row", first_of_row),
                   [=](const Result& e) { return e.row > 0 && e.at % e.row >= first_of_row; }});
  for (const bool in_short : {true, false})  // whether results and rows without a whole vector are wrong
    for (const Int width : {4, 8, 16, 32}) {
      const Int least = in_short ? 0 : width;
      all.push_back({fmt::format("behind the last multiple of {} elements", width),
                     [=](const Result& e) { return e.count >= least && e.at >= e.count / width * width; }});
      all.push_back({fmt::format("behind the last multiple of {} elements of each row", width), [=](const Result& e) {
                       return e.row > 0 && e.row >= least && e.at % e.row >= e.row / width * width;
                     }});
      all.push_back({fmt::format("in the rows behind the last multiple of {} rows", width), [=](const Result& e) {
                       const Int rows = e.row > 0 ? e.count / e.row : 0;
                       return e.row > 1 && rows >= least && e.at / e.row >= rows / width * width;
                     }});
    }
  for (const Int width : {4, 8, 16, 32})
    all.push_back(
        {fmt::format("behind the last multiple of {} of both rows and columns", width), [width](const Result& e) {
           return e.rows > 0 && e.row > 0 && e.at % e.row >= e.row / width * width &&
                  e.at / e.row % e.rows >= e.rows / width * width;
         }});
  result("at the last element", [](const Result& e) { return e.at == e.count - 1; });
  result("at the first element", [](const Result& e) { return e.at == 0; });
  for (std::size_t k = values; k < all.size(); ++k) all[k].is_place = true;
  return all;
}

}  // namespace assay::defects
