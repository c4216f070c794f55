#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "conformance/cases/mutation.h"
#include "conformance/defects/conditions.h"
#include "conformance/defects/foretold.h"
#include "conformance/defects/numbers.h"
#include "reference/families.h"
#include "reference/fault.h"
#include "reference/words/shapes.h"

namespace assay::defects {
namespace {

constexpr std::size_t most_found = 6;             // hypotheses for one list of answers
constexpr double fewest_share_outside = 1.0 / 6;  // of the elements of an answer, on average
constexpr int bits_of_float32 = 24;
constexpr int fewest_of_float32 =
    8;                          // right bits of results that have lost precision: with fewer, another mistake shows
constexpr int most_lost = 3;    // bits of a half type, where another mistake may be the cause
constexpr int most_spread = 5;  // bits between a usual and a bad answer of arithmetic with few bits
constexpr double nearly_all_wrong = 0.97, most_meant = 0.6;

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

// Whether a kernel that returns a substitute gives this number.
bool gives(const Substitute& s, const Result& e, Real got) {
  const Real x = stored(s.gives(e), e.dtype);
  return is_same_number(x, got) || (s.is_near && is_floating(e.dtype) && std::isfinite(x) &&
                                    std::fabs(got - x) <= 4 * ulp(e.dtype, std::max(std::fabs(x), std::fabs(e.right))));
}

// Whether the kernel's answer would differ from the right one. Without a substitute it is not known, and taken to.
bool differs(const Substitute* s, const Result& e) {
  return !s || !is_same_number(stored(s->gives(e), e.dtype), e.right);
}

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

// The limits between which a kernel holds its results: each wrong element is the one limit that the right one is
// beyond. Several right results beyond a limit show it; none may be beyond a limit and given as is right.
std::optional<Substitute> limits_in(std::span<const Seen> all) {
  struct Limit {
    Real number = no_number;
    std::set<Real> beyond;
  };
  Limit least, most;
  for (const Seen& s : all)
    for (const Int k : s.compared)
      if (const Real right = s.elements.at(k).right, got = s.got[k]; !s.is_right(k)) {
        Limit& limit = right < got ? least : most;
        if (std::isnan(right) || !std::isfinite(got) || got == 0 || (!limit.beyond.empty() && limit.number != got))
          return std::nullopt;
        limit.number = got, limit.beyond.insert(right);
      }
  if (all.size() < 2 || least.beyond.size() + most.beyond.size() < 2) return std::nullopt;
  const bool has_least = !least.beyond.empty(), has_most = !most.beyond.empty();
  if (has_least && has_most && least.number >= most.number) return std::nullopt;
  const auto says = [](std::string_view side, const Limit& l) {
    return fmt::format("nothing {} {:.6g}", side, l.number);
  };
  return Substitute{!has_most    ? says("below", least)
                    : !has_least ? says("above", most)
                                 : fmt::format("{} and {}", says("below", least), says("above", most)),
                    [=, low = least.number, high = most.number](const Result& e) {
                      return has_least && e.right < low ? low : has_most && e.right > high ? high : e.right;
                    }};
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
  if (best && (is_nearly_all || 2 * best_score >= plain.score) && (plain.separates() || !condition.is_place)) {
    // "Returns 0 for 0" does not say what is wrong with that.
    const bool is_plain = best->says != "0" || !condition.says.starts_with("for 0");
    found.emplace_back((is_plain ? condition.weight : weight_of_limits) * best_score,
                       about_elements(output, condition, best, unwritten));
  }
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
  for (auto constant : {constant_in(all), constant_difference_in(all), limits_in(all)})
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
