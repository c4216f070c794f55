#include "conformance/delegates/within.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "conformance/files/same.h"
#include "conformance/scenarios/expectation.h"

namespace assay::delegates {
namespace {

using verdict::Class;
using verdict::Verdict;

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

judge::Judgement judge_graph(const std::vector<RightOutput>& right, std::span<const Value> outputs) {
  if (outputs.size() != right.size())
    return failed(Class::shape, concat("gives ", outputs.size(), " outputs, but has ", right.size()));
  for (std::size_t i = 0; i < right.size(); ++i)
    if (judge::Judgement j = judge_output(right[i], outputs[i], i); j.verdict != Verdict::pass) return j;
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

RightGraphs right_graphs(const Payload& payload, std::span<const Tensor> inputs) {
  RightGraphs graphs;
  for (const HalfSums sums : {HalfSums::in_float32, HalfSums::in_float16}) {
    if (sums == HalfSums::in_float16 && !has_halves(payload)) break;
    for (const xnnpack::Form form : {xnnpack::Form::folded, xnnpack::Form::literal}) {
      auto right = right_outputs(payload, form, sums, inputs);
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
