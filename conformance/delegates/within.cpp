#include "conformance/delegates/within.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "conformance/files/same.h"
#include "conformance/scenarios/expectation.h"

namespace assay::delegates {
namespace {

using verdict::Class;
using verdict::Verdict;

constexpr Real deviations_of_chance = 7.2;  // a normal variable is farther from its mean with a probability of 6e-13
constexpr std::size_t least_numbers = 100;

judge::Judgement failed(Class failure, std::string message) {
  judge::Judgement j;
  j.verdict = Verdict::fail, j.failure = failure, j.distance = HUGE_VAL, j.message = std::move(message);
  return j;
}

bool is_between(Real got, Real low, Real high) {
  if (std::isnan(low)) return std::isnan(got);
  const bool is_any = low == -HUGE_VAL && high == HUGE_VAL;
  return is_any || (low <= got && got <= high);
}

// The bound of an element with one right value is an ulp of this value, or 1 for an integer.
Real bound_of(DType dtype, Real want, Real end) {
  const Real bound = std::fabs(end - want);
  return bound > 0 ? bound : is_floating(dtype) ? ulp(dtype, want) : 1;
}

Real distance_of(DType dtype, Real got, Real want, Real low, Real high) {
  const Real distance = std::fabs(got - want) / bound_of(dtype, want, got < want ? low : high);
  return std::isnan(distance) ? HUGE_VAL : distance;
}

// The widest interval of an output, as a share of its range.
struct Width {
  Real width = 0, range = 1;
  Real share() const { return width == 0 ? 0 : width / range; }
};
Width width_of(const RightOutput& right) {
  const Array<Real> want = read<Real>(right.expected), low = read<Real>(right.interval.lowest),
                    high = read<Real>(right.interval.highest);
  Width widest;
  widest.range = is_floating(right.expected.dtype) ? 0 : 255;
  for (Int k = 0; k < want.count(); ++k) {
    if (std::isnan(low[k]) || low[k] == high[k]) continue;
    widest.width = std::max(widest.width, high[k] - low[k]);
  }
  if (widest.range == 0)
    for (const Real x : want.data)
      if (std::isfinite(x)) widest.range = std::max(widest.range, std::fabs(x));
  return widest;
}

std::string place(std::size_t output, const Dims& sizes, Int element) {
  Dims index = Dims::filled(sizes.size(), 0);
  for (int d = sizes.size() - 1; d >= 0; --d) index[d] = element % sizes[d], element /= sizes[d];
  return concat("output ", output, " at ", index);
}

judge::Judgement judge_output(const RightOutput& right, const Value& value, std::size_t output) {
  const Tensor* got = std::get_if<Tensor>(&value);
  const Tensor& want = right.expected;
  if (!got || got->dtype != want.dtype)
    return failed(Class::dtype, concat("output ", output, " is ", got ? describe(*got) : "no tensor", ", but must be ",
                                       describe(want)));
  if (got->sizes != want.sizes)
    return failed(Class::shape, concat("output ", output, " has sizes ", got->sizes, ", but must have ", want.sizes));
  const Array<Real> is = read<Real>(*got), expected = read<Real>(want), low = read<Real>(right.interval.lowest),
                    high = read<Real>(right.interval.highest);
  judge::Judgement worst;
  for (Int k = 0; k < is.count(); ++k) {
    if (is_between(is[k], low[k], high[k])) continue;
    const double distance = distance_of(want.dtype, is[k], expected[k], low[k], high[k]);
    if (worst.verdict == Verdict::fail && distance <= worst.distance) continue;
    const bool nan = std::isnan(is[k]) != std::isnan(low[k]);
    worst = failed(nan ? Class::nan : Class::value,
                   low[k] == high[k]
                       ? fmt::format("{} is {:.9g}, but must be {:.9g}", place(output, want.sizes, k), is[k], low[k])
                       : fmt::format("{} is {:.9g}, but must be within {:.9g} and {:.9g}", place(output, want.sizes, k),
                                     is[k], low[k], high[k]));
    worst.distance = distance, worst.output = static_cast<Int>(output), worst.element = k;
    worst.bound = fmt::format("{:.3g}", bound_of(want.dtype, expected[k], is[k] < expected[k] ? low[k] : high[k]));
  }
  return worst;
}

// -- the common error of elements -------------------------------------------------------------------------------------

// An error of each result that is this share of it, in unit roundoffs of float32: the least squares fit to the errors,
// each weighted by its bound. `deviation` is the standard deviation of the fit.
struct CommonError {
  Real share = 0, deviation = 0;
  std::size_t numbers = 0;  // how many different numbers there are
};

// Elements err alike if they have the same expected number, or if their sums have the same weights or the same inputs.
// Those that lie in one line of the output have. Such a group counts like one element.
template <class Group>
Real squares_of_groups(const std::vector<Real>& scores, Group group_of) {
  std::map<std::pair<Real, Real>, Real> groups;
  for (std::size_t k = 0; k < scores.size(); ++k) groups[group_of(k)] += scores[k];
  Real squares = 0;
  for (const auto& [group, score] : groups) squares += score * score;
  return squares;
}

CommonError common_error(const RightOutput& right, const Array<Real>& got) {
  const Array<Real> want = read<Real>(right.expected), low = read<Real>(right.interval.lowest),
                    high = read<Real>(right.interval.highest);
  std::vector<std::size_t> at;  // the elements that count
  std::vector<Real> sizes, errors;
  std::set<Real> numbers;
  Real products = 0, squares = 0;
  for (Int k = 0; k < want.count(); ++k) {
    const Real above = high[k] - want[k], below = want[k] - low[k], bound = std::max(above, below);
    const bool is_clamped = !(above > 0 && below > 0);
    if (is_clamped || !std::isfinite(bound) || want[k] == 0) continue;
    at.push_back(static_cast<std::size_t>(k)), numbers.insert(want[k]);
    sizes.push_back(float32_unit * want[k] / bound), errors.push_back((got[k] - want[k]) / bound);
    products += sizes.back() * errors.back(), squares += sizes.back() * sizes.back();
  }
  if (at.empty()) return {};
  const Real share = products / squares;
  std::vector<Real> scores;
  for (std::size_t i = 0; i < at.size(); ++i) scores.push_back(sizes[i] * (errors[i] - share * sizes[i]));
  const int rank = right.expected.rank();
  const auto columns = static_cast<std::size_t>(rank > 0 ? want.sizes[rank - 1] : 1);
  const Real largest = std::max(
      {squares_of_groups(scores, [&](std::size_t i) { return std::pair(want.data[at[i]], sizes[i]); }),
       squares_of_groups(scores, [&](std::size_t i) { return std::pair(static_cast<Real>(at[i] % columns), Real{0}); }),
       squares_of_groups(scores,
                         [&](std::size_t i) { return std::pair(static_cast<Real>(at[i] / columns), Real{0}); })});
  return {share, std::sqrt(largest) / squares, numbers.size()};
}

// Sums that are rounded to nearest err to both sides. spec/delegates.md states the rule.
judge::Judgement judge_common_error(const RightOutput& right, const Value& value, std::size_t output) {
  const Real most = right.interval.most_common_error;
  if (std::isinf(most) || right.expected.dtype != DType::float32) return {};
  const CommonError error = common_error(right, read<Real>(std::get<Tensor>(value)));
  const Real surely = std::fabs(error.share) - deviations_of_chance * error.deviation;
  if (error.numbers < least_numbers || !(surely > most)) return {};
  judge::Judgement j = failed(
      Class::value,
      fmt::format(
          "the elements of output {} have a common error: they are {:.3g} unit roundoffs too {}, at least {:.3g} "
          "with certainty, but rounding explains at most {:.3g}",
          output, std::fabs(error.share), error.share > 0 ? "large" : "small", surely, most));
  j.distance = surely / most, j.output = static_cast<Int>(output), j.bound = fmt::format("{:.3g}", most);
  return j;
}

judge::Judgement judge_graph(const std::vector<RightOutput>& right, std::span<const Value> outputs) {
  if (outputs.size() != right.size())
    return failed(Class::shape, concat("gives ", outputs.size(), " outputs, but has ", right.size()));
  for (std::size_t i = 0; i < right.size(); ++i)
    if (judge::Judgement j = judge_output(right[i], outputs[i], i); j.verdict != Verdict::pass) return j;
  for (std::size_t i = 0; i < right.size(); ++i)
    if (judge::Judgement j = judge_common_error(right[i], outputs[i], i); j.verdict != Verdict::pass) return j;
  judge::Judgement all;
  for (std::size_t i = 0; i < right.size(); ++i) {
    const Width width = width_of(right[i]);
    if (width.share() <= widest_decided) continue;
    all.verdict = Verdict::undecided;
    all.message = fmt::format(
        "output {} has an interval of right values of width {:.3g}, {:.3g} of its range {:.3g}; only intervals up to "
        "{:.3g} of the range decide",
        i, width.width, width.share(), width.range, widest_decided);
  }
  return all;
}

bool are_same(const std::vector<RightOutput>& a, const std::vector<RightOutput>& b) {
  return std::ranges::equal(a, b, [](const RightOutput& x, const RightOutput& y) {
    return files::same(x.interval.lowest, y.interval.lowest) && files::same(x.interval.highest, y.interval.highest);
  });
}

}  // namespace

RightGraphs right_graphs(const Payload& payload, std::span<const Tensor> inputs, const Budget& budget) {
  RightGraphs graphs;
  std::vector forms{xnnpack::Form::folded};
  if (is_folded(payload)) forms.push_back(xnnpack::Form::literal);
  for (const HalfSums sums : {HalfSums::in_float32, HalfSums::in_float16}) {
    if (sums == HalfSums::in_float16 && !has_halves(payload)) break;
    for (const xnnpack::Form form : forms) {
      auto right = right_outputs(payload, form, sums, inputs, budget);
      if (std::ranges::none_of(graphs, [&](const auto& other) { return are_same(other, right); }))
        graphs.push_back(std::move(right));
    }
  }
  return graphs;
}

judge::Judgement judge_outputs(const RightGraphs& right, std::span<const Value> outputs) {
  // pass, then undecided, then the smallest distance
  const auto rank = [](const judge::Judgement& j) {
    return std::pair(j.verdict == Verdict::pass ? 0 : verdict::is_failure(j.verdict) ? 2 : 1, j.distance);
  };
  judge::Judgement best = judge_graph(right.front(), outputs);
  for (const auto& other : std::span(right).subspan(1)) {
    if (best.verdict == Verdict::pass) break;
    if (judge::Judgement j = judge_graph(other, outputs); rank(j) < rank(best)) best = std::move(j);
  }
  return best;
}

scenarios::StepJudge is_within(std::shared_ptr<const RightGraphs> right) {
  scenarios::StepJudge judge = scenarios::is_answered();
  judge.judge = [answered = judge.judge, right = std::move(right)](const scenarios::StepResult& result) {
    judge::Judgement j = answered(result);
    return j.verdict == Verdict::pass ? judge_outputs(*right, result.outputs) : j;
  };
  return judge;
}

}  // namespace assay::delegates
