#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "conformance/cases/mutation.h"
#include "conformance/cases/special_numbers.h"
#include "conformance/defects/foretold.h"
#include "reference/families.h"
#include "reference/fault.h"
#include "reference/words/shapes.h"

namespace assay::defects {
namespace {

constexpr std::size_t most_compared = 4096;  // elements of a failing answer
constexpr std::size_t most_found = 6;        // hypotheses for one list of answers
constexpr std::size_t fewest_outside = 4;  // right elements that a condition without a substitute tells from wrong ones
constexpr double fewest_share_outside = 1.0 / 6;  // of the elements of an answer, on average
constexpr int bits_of_float32 = 24;
constexpr int fewest_of_float32 =
    8;                          // right bits of results that have lost precision: with fewer, another mistake shows
constexpr int most_lost = 3;    // bits of a half type, where another mistake may be the cause
constexpr int most_spread = 5;  // bits between a usual and a bad answer of arithmetic with few bits
constexpr double weight_of_limits = 0.95;  // that are fitted to the answers: another condition is told before
constexpr double nearly_all_wrong = 0.97, most_meant = 0.6;

constexpr Real infinite = std::numeric_limits<Real>::infinity(), no_number = std::numeric_limits<Real>::quiet_NaN();

// An element of a result with what it was computed from.
struct Result {
  std::span<const Real> operands;  // the numbers of the operands at its place
  std::span<const Real> numbers;   // the number arguments of the call; NaN: None
  std::span<const Real> terms;     // the numbers that a reduction combines
  bool is_reduced;                 // whether the terms are known
  Real right;
  Int at, count, row;  // its place in memory, the number of elements and that of a row
  Int rows;            // of a plane; 0: the result has no planes
  DType dtype;         // of the result
};

struct Condition {
  std::string says;  // "for NaN"
  std::function<bool(const Result&)> holds;
  bool is_place = false;
  double weight = 1;  // of its score beside that of other conditions
};

// Whether the operator divides its operands: remainders are told by the signs of both.
bool divides(const Operator& op) {
  constexpr auto words = std::to_array<std::string_view>({"div", "mod", "remainder"});
  return std::ranges::any_of(words, [&](std::string_view w) { return op.name.find(w) != op.name.npos; });
}

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

// The numbers of the operands at each element of a result, where each operand broadcasts to the result. A number that
// divides is an operand, too. Indices that choose several elements each are the only operand: they have the first sizes
// of the result.
class Operands {
 public:
  Operands(const Operator& op, const cases::HostCall& call, const Tensor& out) {
    for (std::size_t i = 0; i + op.outs() < op.arguments.size(); ++i) {
      const Tensor* t = std::get_if<Tensor>(&call.arguments[i]);
      if (const auto number = number_in(call.arguments[i]); number && op.arguments[i].name == "other" && divides(op)) {
        names_.push_back("other"), arrays_.emplace_back();
        arrays_.back()[0] = real(*number);
      }
      if (!t) continue;
      const bool chooses = op.arguments[i].name == "indices" && is_integer(t->dtype) && begins(out.sizes, t->sizes);
      if (chooses) names_.clear(), arrays_.clear(), broadcast_ = true;
      if (chooses || (info(t->dtype).kind < Kind::complex && broadcasts(t->sizes, out.sizes)))
        names_.push_back(op.arguments[i].name), arrays_.push_back(read<Real>(*t));
      else
        broadcast_ = false;
      if (!chooses) continue;
      while (arrays_[0].sizes.size() < out.rank()) arrays_[0].sizes.push_back(1);
      break;
    }
    if (!broadcast_) names_.clear(), arrays_.clear();
    if (names_.empty()) return;
    Int flat = 0;
    for (const Dims& i : indices(out.sizes)) {
      for (const Array<Real>& a : arrays_) numbers_.push_back(families::broadcast(a, out.sizes).at(i, flat));
      ++flat;
    }
  }
  const std::vector<std::string_view>& names() const { return names_; }
  std::span<const Real> at(Int k) const {
    const std::size_t n = names_.size();
    return std::span(numbers_).subspan(n * static_cast<std::size_t>(k), n);
  }

 private:
  static bool broadcasts(const Dims& from, const Dims& to) {
    const int lead = to.size() - from.size();
    if (lead < 0) return false;
    for (int d = 0; d < from.size(); ++d)
      if (from[d] != 1 && from[d] != to[lead + d]) return false;
    return true;
  }
  static bool begins(const Dims& all, const Dims& some) {
    return some.size() <= all.size() && std::equal(some.begin(), some.end(), all.begin());
  }
  std::vector<std::string_view> names_;
  std::vector<Array<Real>> arrays_;
  std::vector<Real> numbers_;
  bool broadcast_ = true;
};

// The elements of one result of a call.
class ResultElements {
 public:
  ResultElements(const Operator& op, const cases::HostCall& call, std::size_t output)
      : out_(call.expected.outs.at(output)),
        operands_(op, call, out_),
        right_(read<Real>(out_)),
        places_(places_in(out_)),
        rows_(call.valid() && !op.arguments.empty() ? rows_of(op, call) : std::nullopt) {
    const Tensor* self = std::get_if<Tensor>(&call.arguments[0]);
    if (rows_ && (rows_->number != out_.count() || info(self->dtype).kind >= Kind::complex)) rows_.reset();
    if (rows_) {
      const Array<Real> numbers = read<Real>(*self);
      for (const Int from : rows_->source) terms_.push_back(numbers[from]);
    }
    for (std::size_t i = 0; i + op.outs() < op.arguments.size(); ++i)
      if (cases::takes_number(op.arguments[i].type)) {
        const auto number = number_in(call.arguments[i]);
        numbers_.push_back(number ? real(*number) : no_number);
      }
  }
  Int count() const { return right_.count(); }
  std::size_t operands() const { return operands_.names().size(); }
  Result at(Int k) const {
    const Int row = out_.rank() > 0 ? out_.sizes[out_.rank() - 1] : 1;
    return {operands_.names().empty() ? std::span<const Real>() : operands_.at(k),
            numbers_,
            rows_ ? std::span(terms_).subspan(static_cast<std::size_t>(k * rows_->length),
                                              static_cast<std::size_t>(rows_->length))
                  : std::span<const Real>(),
            rows_.has_value(),
            right_[k],
            places_.empty() ? k : places_[static_cast<std::size_t>(k)],
            right_.count(),
            row,
            out_.rank() > 1 ? out_.sizes[out_.rank() - 2] : 0,
            out_.dtype};
  }
  const std::vector<std::string_view>& names() const { return operands_.names(); }

  static bool are_known(const cases::HostCall& call, std::size_t output) {
    const std::vector<Tensor>& outs = call.expected.outs;
    return call.valid() && output < outs.size() && info(outs[output].dtype).kind < Kind::complex &&
           outs[output].count() > 0;
  }

 private:
  // The places in memory of elements in row-major order; none if the two are the same.
  static std::vector<Int> places_in(const Tensor& t) {
    std::vector<Int> places;
    if (t.dim_order == Dims::counting(t.rank())) return places;
    for (const Dims& i : indices(t.sizes)) {
      Int at = 0;
      for (const Int d : t.dim_order) at = at * t.sizes[d] + i[d];
      places.push_back(at);
    }
    return places;
  }

  const Tensor& out_;
  Operands operands_;
  Array<Real> right_;
  std::vector<Int> places_;
  std::vector<Real> numbers_, terms_;
  std::optional<families::Rows> rows_;
};

// What a wrong element is.
struct Substitute {
  std::string says;
  std::function<Real(const Result&)> gives;
  bool is_near = false;  // the number is computed from the rounded right result, so that its last bits are not known
};

Real first_of(const Result& e) { return e.operands.empty() ? no_number : e.operands[0]; }
Real second_of(const Result& e) { return e.operands.size() < 2 ? no_number : e.operands[1]; }

// The first operand rounded; numbers that are not finite are converted as is right.
template <Real (*round)(Real)>
Real rounded(const Result& e) {
  return std::isfinite(first_of(e)) ? round(first_of(e)) : e.right;
}

std::vector<Substitute> substitutes_of(const Operator& op) {
  std::vector<Substitute> all{
      {"0", [](const Result&) { return Real{0}; }},         {"-0", [](const Result&) { return -Real{0}; }},
      {"NaN", [](const Result&) { return no_number; }},     {"1", [](const Result&) { return Real{1}; }},
      {"infinity", [](const Result&) { return infinite; }}, {"-infinity", [](const Result&) { return -infinite; }},
  };
  std::size_t n = 0;
  for (const SchemaArgument& a : op.arguments)
    if (!a.out && cases::takes_number(a.type))
      all.push_back({std::string(a.name), [k = n++](const Result& e) { return e.numbers[k]; }});
  const std::vector<Substitute> others{
      {"0 with the sign of the right result", [](const Result& e) { return std::copysign(Real{0}, e.right); }},
      {"the largest number of the dtype",
       [](const Result& e) { return is_floating(e.dtype) ? std::copysign(largest(e.dtype), e.right) : no_number; }},
      {"the least normal number of the dtype",
       [](const Result& e) {
         return is_floating(e.dtype) ? std::ldexp(Real{1}, info(e.dtype).least_exponent) : no_number;
       }},
      {"the largest integer of the dtype",
       [](const Result& e) { return is_integer(e.dtype) ? largest_integer(e.dtype) : no_number; }},
      {"the least integer of the dtype",
       [](const Result& e) { return is_integer(e.dtype) ? least_integer(e.dtype) : no_number; }},
      {"the number itself", first_of},
      {"the other operand", [](const Result& e) { return std::isnan(first_of(e)) ? second_of(e) : first_of(e); }},
      {"the second operand", second_of},
      {"the opposite of the right result", [](const Result& e) { return -e.right; }},
      {"the number rounded away from 0", rounded<std::round>},
      {"the nearest integer", rounded<std::nearbyint>},
      {"the number rounded toward 0", rounded<std::trunc>},
      {"the quotient rounded toward 0", [](const Result& e) { return std::trunc(first_of(e) / second_of(e)); }},
      {"the remainder with the sign of the first operand",
       [](const Result& e) { return std::fmod(first_of(e), second_of(e)); }},
  };
  std::ranges::copy(others, std::back_inserter(all));
  const auto changed = [&](std::string_view name, Real (*of)(const Result&, std::size_t), std::size_t k) {
    const auto number = [of, k](const Result& e) { return of(e, k); };
    all.push_back({fmt::format("the right result plus {}", name),
                   [number](const Result& e) { return e.right + number(e); }, true});
    all.push_back({fmt::format("the right result minus {}", name),
                   [number](const Result& e) { return e.right - number(e); }, true});
    all.push_back({fmt::format("the right result times {}", name),
                   [number](const Result& e) { return e.right * number(e); }, true});
    all.push_back({fmt::format("the right result divided by {}", name),
                   [number](const Result& e) { return e.right / number(e); }, true});
  };
  std::size_t k = 0;
  for (const SchemaArgument& a : op.arguments)
    if (!a.out && cases::takes_number(a.type))
      changed(
          a.name, [](const Result& e, std::size_t i) { return e.numbers[i]; }, k++);
  changed(
      "the second operand", [](const Result& e, std::size_t) { return second_of(e); }, 0);
  return all;
}

bool same(Real a, Real b) { return std::isnan(a) ? std::isnan(b) : a == b && std::signbit(a) == std::signbit(b); }
Real stored(Real x, DType dtype) { return is_floating(dtype) ? round_to(dtype, x) : x; }

// Whether a kernel that returns a substitute gives this number.
bool gives(const Substitute& s, const Result& e, Real got) {
  const Real x = stored(s.gives(e), e.dtype);
  return same(x, got) || (s.is_near && is_floating(e.dtype) && std::isfinite(x) &&
                          std::fabs(got - x) <= 4 * ulp(e.dtype, std::max(std::fabs(x), std::fabs(e.right))));
}

// Whether the kernel's answer would differ from the right one. Without a substitute it is not known, and taken to.
bool differs(const Substitute* s, const Result& e) { return !s || !same(stored(s->gives(e), e.dtype), e.right); }

// A failing answer: which elements are wrong, and what they are.
struct Seen {
  const Answered* answer;
  ResultElements elements;
  std::vector<bool> right;
  Array<Real> got;
  std::vector<Int> compared;  // the elements that are compared with hypotheses

  bool is_right(Int k) const { return right[static_cast<std::size_t>(k)]; }
  DType dtype() const { return elements.at(0).dtype; }
};

// The number that most wrong elements are, if several answers have it and it is no other substitute.
std::optional<Substitute> constant_in(std::span<const Seen> all) {
  std::map<Real, std::size_t> numbers;
  std::size_t wrong = 0;
  for (const Seen& s : all)
    for (const Int k : s.compared)
      if (!s.is_right(k)) {
        ++wrong;
        if (std::isfinite(s.got[k])) ++numbers[s.got[k]];
      }
  if (numbers.empty() || all.size() < 2) return std::nullopt;
  const auto most = std::ranges::max_element(numbers, {}, [](const auto& n) { return n.second; });
  const Real x = most->first;
  if (x == 0 || x == 1 || 2 * most->second < wrong) return std::nullopt;
  return Substitute{fmt::format("{:.6g}", x), [x](const Result&) { return x; }};
}

// The difference of most wrong elements from the right ones, if several answers have it.
std::optional<Substitute> constant_difference_in(std::span<const Seen> all) {
  std::map<Real, std::size_t> numbers;  // rounded
  std::size_t wrong = 0;
  for (const Seen& s : all)
    for (const Int k : s.compared)
      if (const Real d = s.got[k] - s.elements.at(k).right; !s.is_right(k)) {
        ++wrong;
        int exponent = 0;
        const Real m = std::isfinite(d) ? std::frexp(d, &exponent) : no_number;
        if (d != 0 && std::isfinite(m)) ++numbers[std::ldexp(std::nearbyint(std::ldexp(m, 6)), exponent - 6)];
      }
  if (numbers.empty() || all.size() < 2) return std::nullopt;
  const auto most = std::ranges::max_element(numbers, {}, [](const auto& n) { return n.second; });
  if (2 * most->second < wrong) return std::nullopt;
  Real sum = 0, count = 0;  // of the most precise dtype
  int precision = 0;
  for (const Seen& s : all)
    for (const Int k : s.compared) {
      const Result e = s.elements.at(k);
      const Real d = s.got[k] - e.right;
      if (s.is_right(k) || !(std::fabs(d - most->first) <= std::fabs(d) * 0x1p-5)) continue;
      if (const int p = is_floating(e.dtype) ? info(e.dtype).precision : 64; p > precision)
        sum = count = 0, precision = p;
      if (!is_floating(e.dtype) || info(e.dtype).precision == precision) sum += d, ++count;
    }
  const Real x = sum / count;
  return Substitute{fmt::format("{:.6g} {} than is right", std::fabs(x), x < 0 ? "less" : "more"),
                    [x](const Result& e) { return e.right + x; }, true};
}

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

// The elements to compare: all, or a part of the wrong ones and of the right ones of a long result, each evenly spread.
// They include wrong elements wherever these are.
std::vector<Int> elements_to_compare(const std::vector<bool>& right) {
  std::vector<Int> wrong, others;
  for (std::size_t k = 0; k < right.size(); ++k) (right[k] ? others : wrong).push_back(static_cast<Int>(k));
  std::vector<Int> some = evenly_chosen(wrong, most_compared - std::min(others.size(), most_compared / 2));
  std::ranges::copy(evenly_chosen(others, most_compared - some.size()), std::back_inserter(some));
  return some;
}

// The answer's result `output`; none if all its elements are right, or if an earlier result has wrong ones.
std::optional<Seen> compared(const Operator& op, const Answered& a, std::size_t output) {
  const std::vector<Tensor>& right = a.call.expected.outs;
  if (a.refused() || a.outs.size() != right.size() || !ResultElements::are_known(a.call, output)) return std::nullopt;
  std::vector<bool> elements;
  for (std::size_t k = 0; k <= output; ++k) {
    const Tensor &want = right[k], &out = a.outs[k];
    if (out.dtype != want.dtype || out.sizes != want.sizes || out.dim_order != want.dim_order) return std::nullopt;
    elements = judge::right_elements(op, a.call.expected, k, out);
    if (k < output && std::ranges::find(elements, false) != elements.end()) return std::nullopt;
  }
  if (std::ranges::find(elements, false) == elements.end()) return std::nullopt;
  std::vector<Int> chosen = elements_to_compare(elements);
  return Seen{&a, ResultElements(op, a.call, output), std::move(elements), read<Real>(a.outs[output]),
              std::move(chosen)};
}

struct Counts {
  std::size_t wrong = 0, meant = 0, both = 0, outside = 0;  // outside: right, and not meant
  bool is_all_meant = false;                                // whether all meant elements must be wrong
  bool explains() const {
    return both > 0 && static_cast<double>(both) >= nearly_all_wrong * static_cast<double>(wrong) &&
           static_cast<double>(both) >= (is_all_meant ? nearly_all_wrong : most_meant) * static_cast<double>(meant);
  }
  double share() const { return static_cast<double>(both) / static_cast<double>(wrong + meant - both); }
  double share_outside() const { return static_cast<double>(outside) / static_cast<double>(outside + both); }
};
Counts counts(const Seen& seen, const Condition& condition, const Substitute* substitute) {
  Counts c;
  // An element that is not written is seen to be so, whatever is right there.
  c.is_all_meant = condition.is_place && seen.answer->failure == verdict::Class::unwritten;
  for (const Int k : seen.compared) {
    const Result e = seen.elements.at(k);
    const bool wrong = !seen.is_right(k), meant = condition.holds(e) && differs(substitute, e);
    c.wrong += wrong, c.meant += meant, c.outside += !wrong && !meant;
    c.both += wrong && meant && (!substitute || gives(*substitute, e, seen.got[k]));
  }
  return c;
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

// All conditions that elements of these answers can meet, the most telling first.
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
                   [x = *constant](const Result& e) { return same(e.right, stored(x, e.dtype)); }});
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
  Int first = std::numeric_limits<Int>::max();
  for (const Seen& s : seen)
    for (Int k = 0; k < s.elements.count(); ++k)
      if (!s.is_right(k)) first = std::min(first, s.elements.at(k).at);
  if (first > 0)
    all.push_back({fmt::format("from element {} on", first), [first](const Result& e) { return e.at >= first; }});
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

// The result that a hypothesis is about.
struct Output {
  const Operator& op;
  std::size_t at;
  // The name of a result after the first; empty for the first.
  std::string_view name() const { return at == 0 ? "" : op.arguments[op.arguments.size() - op.outs() + at].name; }
  std::string after(std::string_view preposition) const {
    return at == 0 ? "" : fmt::format(" {} {}", preposition, name());
  }
};

std::string verb_phrase(const Output& output, const Condition& condition, const Substitute* substitute,
                        bool unwritten) {
  if (substitute)
    return fmt::format("return {}{}{}{}", substitute->says, output.after("as"), condition.says.empty() ? "" : " ",
                       condition.says);
  constexpr std::string_view from = "from element ", on = " on";
  if (unwritten && condition.says.starts_with(from))
    return fmt::format("write only the first {} elements{}",
                       condition.says.substr(from.size(), condition.says.size() - from.size() - on.size()),
                       output.after("of"));
  return fmt::format("{}{} {}", unwritten ? "leave results unwritten" : "give wrong values", output.after("in"),
                     condition.says);
}

Hypothesis about_elements(const Output& output, const Condition& condition, const Substitute* substitute,
                          bool unwritten) {
  const auto given = substitute ? std::optional(*substitute) : std::nullopt;
  const auto is_different = [output, condition, given](const cases::HostCall& call) {
    if (!ResultElements::are_known(call, output.at)) return false;
    const ResultElements elements(output.op, call, output.at);
    for (Int k = 0; k < elements.count(); ++k)
      if (const Result e = elements.at(k); condition.holds(e) && differs(given ? &*given : nullptr, e)) return true;
    return false;
  };
  const auto explains = [output, condition, given](const Answered& a) {
    const auto seen = compared(output.op, a, output.at);
    return seen && counts(*seen, condition, given ? &*given : nullptr).explains();
  };
  const auto covers = [output, condition, given](const Answered& a) {
    std::vector<bool> covered;
    const auto seen = compared(output.op, a, output.at);
    if (!seen) return covered;
    for (const Int k : seen->compared) {
      const Result e = seen->elements.at(k);
      covered.push_back(seen->is_right(k) || (condition.holds(e) && gives(*given, e, seen->got[k])));
    }
    return covered;
  };
  return {verb_phrase(output, condition, substitute, unwritten),
          substitute && !condition.is_place ? About::results : About::places,
          !condition.is_place && !condition.says.empty(),
          false,
          is_different,
          explains,
          given ? std::function<std::vector<bool>(const Answered&)>(covers) : nullptr};
}

// -- lost bits -------------------------------------------------------------------------------------------------------

// The scale of each element's error: its size, or the sum of sizes that its error bound is made of. Where half types
// are to be computed in float32, the bound is made of roundoffs of float32, and of the rounding of the result.
Real scale(const Output& output, const Result& e, Real bound) {
  const bool in_float32 = is_half(e.dtype) && !accuracy(output.op, static_cast<int>(output.at), e.dtype).half_partials;
  const Real sizes = in_float32 ? std::ldexp(std::max(Real{0}, bound - ulp(e.dtype, e.right) / 2), bits_of_float32)
                                : std::ldexp(bound, info(e.dtype).precision);
  return std::max(std::fabs(e.right), sizes);
}

// Whether partial results of a half type may overflow, though the result does not.
bool overflows(const Output& output, const Result& e, Real bound) {
  return e.dtype == DType::float16 && std::isfinite(e.right) && 64 * scale(output, e, bound) >= largest(e.dtype);
}

// The number of bits to which all elements are right; none if an element is not finite.
std::optional<int> right_bits(const Output& output, const Seen& seen) {
  const std::vector<Real> bounds = judge::error_bounds(output.op, seen.answer->call.expected, output.at);
  Real worst = 0;
  for (const Int k : seen.compared) {
    const Result e = seen.elements.at(k);
    if (std::isinf(seen.got[k]) && overflows(output, e, bounds[static_cast<std::size_t>(k)])) continue;
    if (std::isfinite(e.right) != std::isfinite(seen.got[k])) return std::nullopt;
    if (!std::isfinite(e.right) || seen.got[k] == e.right) continue;
    const Real size = scale(output, e, bounds[static_cast<std::size_t>(k)]);
    // An entry that lets float64 results be computed in float32 tells nothing about lost bits.
    if (e.dtype == DType::float64 && e.right != 0 && size > std::ldexp(std::fabs(e.right), bits_of_float32))
      return std::nullopt;
    worst = std::max(worst, size > 0 ? std::fabs(seen.got[k] - e.right) / size : infinite);
  }
  return worst > 0 && worst < 1 ? std::optional(static_cast<int>(-std::log2(worst))) : std::nullopt;
}

Real with_bits(Real x, int bits) {
  int exponent = 0;
  const Real m = std::frexp(x, &exponent);
  return x == 0 || !std::isfinite(x) ? x : std::ldexp(std::nearbyint(std::ldexp(m, bits)), exponent - bits);
}

// Results whose precision is looked at together.
struct Precision {
  std::string_view results;  // in the sentence
  bool (*has)(DType);
  int fewest_bits, most_bits;  // to which lossy results are right; with more bits, nothing is told
  bool may_pass = false;       // whether the numbers of a call may need no more bits
  bool is_strict = false;      // whether at most three bits of a result may be lost, whatever `fewest_bits` is

  // Of the right bits of a result, those that count against `fewest_bits`.
  int counted(int bits, DType dtype) const {
    return is_strict ? bits - (info(dtype).precision - most_lost) + fewest_bits : bits;
  }
};
bool is_float64(DType d) { return d == DType::float64; }
constexpr auto precisions = std::to_array<Precision>({
    {"float16 and bfloat16 results", is_half, 3, bits_of_float32, true},
    {"float16 results", [](DType d) { return d == DType::float16; }, 3, bits_of_float32, true},
    {"bfloat16 results", [](DType d) { return d == DType::bfloat16; }, 3, bits_of_float32, true},
    {"float32 results", [](DType d) { return d == DType::float32; }, fewest_of_float32, bits_of_float32 - 3},
    // Where numbers cancel, fewer bits than those of float32 are right.
    {"float64 results", is_float64, bits_of_float32 - 10, 2 * bits_of_float32 - 13, true},
    {"float64 results", is_float64, fewest_of_float32, bits_of_float32 - 11},
    {"results", is_floating, fewest_of_float32, bits_of_float32 - 3},
});

std::string losing(const Output& output, const Precision& p, int bits) {
  const std::string results = concat(p.results, output.after("of"));
  if (!p.may_pass) return fmt::format("give {} that are right to {} bits only", results, bits);
  return p.has(DType::float64) ? fmt::format("compute {} in float32", results)
                               : fmt::format("lose bits in {}", results);
}

bool is_of_halves(const Precision& p) {
  return (p.has(DType::float16) || p.has(DType::bfloat16)) && !p.has(DType::float64);
}
// Whether the half types that a precision tells are those of the failing calls.
bool are_told(const Precision& p, const std::set<DType>& failing) {
  const auto is_told = [&](DType d) { return p.has(d) == failing.contains(d); };
  return !is_of_halves(p) || (is_told(DType::float16) && is_told(DType::bfloat16));
}

// Where calls of other floating dtypes fail, too, their mistake may be that of half types. Then nearly all bits must be
// right.
Precision precise(Precision p, const std::set<DType>& failing) {
  const bool fail_others = failing.contains(DType::float32) || failing.contains(DType::float64);
  if (is_of_halves(p) && fail_others) p.is_strict = true;
  return p;
}

// All wrong results of a precision are near the right ones, as if they were held in fewer bits.
std::optional<Hypothesis> lost_bits(const Output& output, std::span<const Seen> all, const Precision& precision) {
  const auto may_lose = [at = output.at, has = precision.has](const cases::HostCall& call) {
    return ResultElements::are_known(call, at) && has(call.expected.outs[at].dtype);
  };
  std::vector<int> bits;
  std::size_t looked_at = 0;
  for (const Seen& s : all)
    if (may_lose(s.answer->call)) {
      ++looked_at;
      if (const auto b = right_bits(output, s)) bits.push_back(precision.counted(*b, s.dtype()));
    }
  if (bits.empty() || static_cast<double>(bits.size()) < most_meant * static_cast<double>(looked_at))
    return std::nullopt;
  std::ranges::sort(bits);
  int usual = bits[bits.size() / 20];
  // Answers with fewer bits have another cause, as numbers that cancel.
  const auto with_fewest = std::ranges::count_if(bits, [&](int b) { return b >= precision.fewest_bits; });
  if (precision.may_pass && static_cast<double>(with_fewest) >= most_meant * static_cast<double>(bits.size()))
    usual = std::max(usual, precision.fewest_bits);
  if (usual < precision.fewest_bits || usual > precision.most_bits) return std::nullopt;
  // Arithmetic with fewer bits loses about as many in each call. Where the errors of calls differ much, it is no cause.
  if (!precision.may_pass && bits[bits.size() / 2] > usual + most_spread) return std::nullopt;
  const auto is_different = [output, usual, may_lose, precision](const cases::HostCall& call) {
    if (!may_lose(call) || precision.may_pass) return may_lose(call);
    const ResultElements elements(output.op, call, output.at);
    const std::vector<Real> bounds = judge::error_bounds(output.op, call.expected, output.at);
    for (Int k = 0; k < elements.count(); ++k)
      if (const Real right = elements.at(k).right;
          std::isfinite(right) && std::fabs(with_bits(right, usual) - right) > 8 * bounds[static_cast<std::size_t>(k)])
        return true;
    return false;
  };
  const auto explains = [output, usual, may_lose, precision](const Answered& a) {
    const auto seen = compared(output.op, a, output.at);
    const auto b = seen && may_lose(a.call) ? right_bits(output, *seen) : std::nullopt;
    return b && precision.counted(*b, seen->dtype()) >= usual;
  };
  return Hypothesis{
      losing(output, precision, usual), About::computation, true, precision.may_pass, is_different, explains};
}

// How well a condition tells the wrong elements of some answers, with a substitute or without. The numbers are of the
// answers that the condition explains. A long answer weighs no more than a short one.
struct Fit {
  std::size_t outside = 0;              // right elements outside of the condition
  std::size_t answers = 0;              // explained answers; those alone that have elements outside of a place
  std::size_t against = 0;              // answers with elements that meet the condition, which it does not explain
  double score = 0, share_outside = 0;  // sums over the answers

  // An answer without an element outside of a place, as one that is shorter than a vector, is no evidence.
  bool separates() const {
    return outside >= fewest_outside && share_outside >= fewest_share_outside * static_cast<double>(answers) &&
           answers >= against;
  }
};
Fit fit(std::span<const Seen> all, const Condition& condition, const Substitute* substitute) {
  Fit sum;
  for (const Seen& s : all) {
    const Counts c = counts(s, condition, substitute);
    if (c.explains())
      sum.answers += !condition.is_place || c.outside > 0, sum.outside += c.outside, sum.score += c.share(),
          sum.share_outside += c.share_outside();
    else
      sum.against += condition.is_place && c.meant > 0;
  }
  return sum;
}

// The hypotheses that a condition gives, with their scores: one with the best substitute, and one without.
std::vector<std::pair<double, Hypothesis>> told_by(const Condition& condition, const Output& output,
                                                   std::span<const Seen> all, std::span<const Substitute> substitutes,
                                                   bool unwritten) {
  std::vector<std::pair<double, Hypothesis>> found;
  const Fit plain = fit(all, condition, nullptr);
  const Substitute* best = nullptr;
  double best_score = 0;
  for (const Substitute& s : substitutes)
    if (const double now = fit(all, condition, &s).score; now > best_score) best = &s, best_score = now;
  const bool is_nearly_all = best && best_score >= nearly_all_wrong * plain.score;
  if (best && (is_nearly_all || 2 * best_score >= plain.score) && (plain.separates() || !condition.is_place))
    found.emplace_back(condition.weight * best_score, about_elements(output, condition, best, unwritten));
  // Passing calls can refute a condition on numbers that all elements of these answers meet.
  if (plain.score > 0 && !is_nearly_all &&
      (plain.separates() || (!condition.is_place && !condition.says.empty() && !unwritten)))
    found.emplace_back(condition.weight * (plain.separates() ? plain.score : plain.score / 2),
                       about_elements(output, condition, nullptr, unwritten));
  return found;
}

std::vector<Hypothesis> mistakes_in(const Output& output, std::span<const Answered> failing,
                                    const std::set<DType>& dtypes) {
  std::vector<Seen> all;
  for (const Answered& a : failing)
    if (auto seen = compared(output.op, a, output.at)) all.push_back(std::move(*seen));
  if (all.empty()) return {};
  const auto is_unwritten = [](const Seen& s) { return s.answer->failure == verdict::Class::unwritten; };
  const bool unwritten = 2 * std::ranges::count_if(all, is_unwritten) > std::ssize(all);
  std::vector<Substitute> substitutes = substitutes_of(output.op);
  for (auto constant : {constant_in(all), constant_difference_in(all)})
    if (constant) substitutes.push_back(std::move(*constant));
  std::vector<std::pair<double, Hypothesis>> found;
  for (const Condition& condition : conditions_of(output.op, all))
    std::ranges::move(told_by(condition, output, all, substitutes, unwritten), std::back_inserter(found));
  std::ranges::stable_sort(found, std::greater(), [](const auto& f) { return f.first; });
  std::vector<Hypothesis> best;
  for (auto& [score, hypothesis] : found)
    if (best.size() < most_found) best.push_back(std::move(hypothesis));
  for (const Precision& p : precisions)
    if (auto lost = are_told(p, dtypes) ? lost_bits(output, all, precise(p, dtypes)) : std::nullopt)
      best.push_back(std::move(*lost));
  return best;
}

}  // namespace

std::vector<Hypothesis> mistakes_in_elements(const Operator& op, std::span<const Answered> failing,
                                             const std::set<DType>& dtypes) {
  std::vector<Hypothesis> all;
  for (std::size_t k = 0; k < op.outs(); ++k)
    std::ranges::move(mistakes_in({op, k}, failing, dtypes), std::back_inserter(all));
  return all;
}

}  // namespace assay::defects
