#include "conformance/delegates/intervals.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "conformance/cases/tensors.h"
#include "reference/numerics/bounds.h"

namespace assay::delegates {
namespace {

constexpr Real infinity = std::numeric_limits<Real>::infinity();
constexpr Real float16_unit = 0x1p-11;  // unit roundoff

// Bounds as numbers, in row-major order.
struct Bounds {
  Array<Real> lowest, highest;
};

Bounds numbers_of(const Interval& interval) { return {read<Real>(interval.lowest), read<Real>(interval.highest)}; }

// The nearest number of the dtype at or beyond x in this direction, -1 or 1.
Real outward(DType dtype, Real x, int direction) {
  if (!std::isfinite(x)) return x;
  const Real rounded = round_to(dtype, x);
  if (direction * (rounded - x) >= 0) return rounded;
  if (std::isinf(rounded)) return std::copysign(largest(dtype), rounded);
  return round_to(dtype, rounded + direction * ulp(dtype, rounded));
}

Interval interval_of(const Tensor& like, Bounds bounds) {
  const bool floating = is_floating(like.dtype);
  const Real least = floating ? -infinity : least_integer(like.dtype),
             most = floating ? infinity : largest_integer(like.dtype);
  for (Int k = 0; k < bounds.lowest.count(); ++k) {
    Real &low = bounds.lowest[k], &high = bounds.highest[k];
    if (std::isnan(low) != std::isnan(high)) low = least, high = most;
    if (floating) low = outward(like.dtype, low, -1), high = outward(like.dtype, high, 1);
    low = std::max(low, least), high = std::min(high, most);
  }
  Interval interval{like, like};
  write(bounds.lowest, interval.lowest), write(bounds.highest, interval.highest);
  return interval;
}

Interval anything(const Tensor& like) {
  Bounds all{Array<Real>(like.sizes), Array<Real>(like.sizes)};
  std::ranges::fill(all.lowest.data, -infinity), std::ranges::fill(all.highest.data, infinity);
  return interval_of(like, std::move(all));
}

// The numbers of `center`, each with the numbers that are at most so far away.
Interval around(const Tensor& center, const Array<Real>& radius) {
  Bounds bounds{read<Real>(center), read<Real>(center)};
  for (Int k = 0; k < radius.count(); ++k) {
    Real &low = bounds.lowest[k], &high = bounds.highest[k];
    if (radius[k] == 0 || (std::isnan(low) && std::isfinite(radius[k]))) continue;
    const bool is_bounded = std::isfinite(low) && std::isfinite(radius[k]);  // a little less than inf may be finite
    low = is_bounded ? low - radius[k] : -infinity, high = is_bounded ? high + radius[k] : infinity;
  }
  return interval_of(center, std::move(bounds));
}

// -- one call with one value of each argument -------------------------------------------------------------------------

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

bool is_product(const Operator& op) {
  return is_one_of(op.name, {"aten::mm.out", "aten::addmm.out", "aten::bmm.out", "aten::convolution.out"});
}

bool are_integers(const Tensor& t) {
  if (!is_floating(t.dtype)) return true;
  const Array<Real> numbers = read<Real>(t);
  return std::ranges::all_of(numbers.data, [](Real x) { return x == std::trunc(x); });
}
// Whether all elements of the tensors that the call reads are integers.
bool reads_integers(const Operator& op, std::span<const Value> arguments) {
  bool all = true;
  cases::each_tensor(arguments,
                     [&](const Tensor& t, std::size_t i) { all = all && (op.arguments[i].out || are_integers(t)); });
  return all;
}

// The number of terms of each element.
Real terms_of(const judge::Expectation& expected, std::size_t output) {
  return static_cast<Real>(expected.answer.unrounded[output].terms);
}

bool is_sum(const Operator& op) { return is_product(op) || op.name == "aten::sum.IntList_out"; }

// The largest error of sums each of whose roundings has at most this error, relative to the magnitude of the sum.
Array<Real> errors_of_sums(const Operator& op, const judge::Expectation& expected, std::size_t output, Real rounding,
                           Real roundings) {
  Array<Real> errors(expected.outs[output].sizes);
  for (Int k = 0; k < errors.count(); ++k)
    errors[k] = rounding * roundings * expected.magnitudes(op)[output][static_cast<std::size_t>(k)];
  return errors;
}

// A composition computes in float64 what an implementation computes in float32, with one rounding or with several, and
// sums of integers, which are exact. Each product and each sum of other numbers has the rounding errors of float32.
Array<Real> errors_in_float32(const Operator& op, std::span<const Value> inputs, const judge::Expectation& expected,
                              std::size_t output) {
  Array<Real> errors(expected.outs[output].sizes);
  const bool rounds = is_sum(op) || op.name == "aten::mul.out" || op.name == "aten::add.out";
  if (!rounds || reads_integers(op, inputs)) return errors;
  if (is_sum(op)) return errors_of_sums(op, expected, output, float32_unit, roundoffs(terms_of(expected, output)));
  const Array<Real> numbers = read<Real>(expected.outs[output]);
  for (Int k = 0; k < errors.count(); ++k) errors[k] = float32_unit * std::fabs(numbers[k]);
  return errors;
}

// The product x c of a Hardswish, x c / 6 with c = clamp(x + 3, 0, 6). All errors of the node are counted here. Beyond
// -3 and 3, the clamp leaves no error of c.
Interval product_of_hardswish(std::span<const Value> inputs, const Tensor& want) {
  const Array<Real> x = read<Real>(std::get<Tensor>(inputs[0])), c = read<Real>(std::get<Tensor>(inputs[1]));
  const Real unit = want.dtype == DType::float16 ? float16_unit : float32_unit;
  Bounds bounds{read<Real>(want), read<Real>(want)};
  for (Int k = 0; k < x.count(); ++k) {
    if (!std::isfinite(x[k] * c[k])) continue;
    const Real sum = round_to(want.dtype, x[k] + 3) == c[k] ? x[k] + 3 : c[k];
    const Real error = std::fabs(x[k]) > 3 * (1 + 4 * unit) ? 0 : unit * (sum + 1.5 * std::fabs(x[k]));
    const Real a = x[k] * std::max<Real>(sum - error, 0), b = x[k] * std::min<Real>(sum + error, 6);
    const Real low = std::min(a, b), high = std::max(a, b);
    bounds.lowest[k] = low - 2.5 * unit * std::fabs(low), bounds.highest[k] = high + 2.5 * unit * std::fabs(high);
  }
  return interval_of(want, std::move(bounds));
}

Interval right_numbers(const Operator& op, std::span<const Value> inputs, const judge::Expectation& expected,
                       std::size_t output, Arithmetic arithmetic) {
  const Tensor& want = expected.outs[output];
  // If the dtypes of a node with float16 values differ, its composition computes in float32.
  if (arithmetic == Arithmetic::half_sums && want.dtype == DType::float32 && is_sum(op))
    return around(want, errors_of_sums(op, expected, output, float16_unit, terms_of(expected, output)));
  if (want.dtype == DType::float64) return around(want, errors_in_float32(op, inputs, expected, output));
  if (arithmetic == Arithmetic::hardswish && op.name == "aten::mul.out") return product_of_hardswish(inputs, want);
  const bool rounds_correctly =
      (arithmetic == Arithmetic::exact || arithmetic == Arithmetic::hardswish) && op.file == "arithmetic";
  if (rounds_correctly || !is_floating(want.dtype)) return {want, want};
  const auto mode =
      arithmetic == Arithmetic::half_sums ? judge::ArithmeticMode::half_accumulation : judge::ArithmeticMode::ieee;
  const auto right = judge::right_answers(op, expected, output, mode);
  return right ? Interval{right->lowest, right->highest} : anything(want);
}

// The exponentials of a softmax and their sum may err by one ulp each, which is two unit roundoffs. A sum may also lose
// small terms, always in one direction. All elements of a row have the error of one sum, so that few rows tell nothing.
Real most_common_error_of_softmax(std::span<const Value> inputs, const Tensor& want) {
  constexpr Real of_exponentials = 4, small = 16;  // in unit roundoffs
  constexpr Int least_rows = 100;
  const Int dim = std::get<Int>(inputs[1]);
  const int rank = want.rank();
  if (rank == 0 || (dim + rank) % rank != rank - 1) return infinity;
  const Array<Real> y = read<Real>(want);
  const Int columns = want.sizes[rank - 1];
  if (y.count() < least_rows * columns) return infinity;
  Real most_lost = 0;
  for (Int row = 0; row < y.count(); row += columns) {
    Real lost = 0;
    for (Int k = row; k < row + columns; ++k)
      if (const Real term = y[k] / float32_unit; term < small) lost += std::min<Real>(term, 1);
    most_lost = std::max(most_lost, lost);
  }
  return of_exponentials + most_lost;
}

Real most_common_error(const Operator& op, std::span<const Value> inputs, const Tensor& want, Arithmetic arithmetic) {
  constexpr Real of_sums = 2;  // a mean may multiply by a rounded reciprocal
  if (arithmetic != Arithmetic::rounded) return infinity;
  if (is_sum(op) || is_one_of(op.name, {"aten::mean.out", "aten::avg_pool2d.out"})) return of_sums;
  return op.name == "aten::_softmax.out" ? most_common_error_of_softmax(inputs, want) : infinity;
}

Interval right_for(const Operator& op, std::span<const Value> inputs, const judge::Expectation& expected,
                   std::size_t output, Arithmetic arithmetic) {
  Interval right = right_numbers(op, inputs, expected, output, arithmetic);
  right.most_common_error = most_common_error(op, inputs, expected.outs[output], arithmetic);
  return right;
}

// -- rules for arguments with intervals -------------------------------------------------------------------------------

class Push {
 public:
  Push(const Operator& op, std::span<const Argument> arguments, const judge::Expectation& expected,
       Arithmetic arithmetic, const Budget& budget)
      : op_(op), arguments_(arguments), expected_(expected), arithmetic_(arithmetic), budget_(budget) {}

  Interval out(std::size_t output) const {
    if (output > 0) return anything(expected_.outs[output]);  // positions of the largest elements
    if (op_.name == "aten::eq.Scalar_out") return of_equality();
    if (is_product(op_)) return of_product();
    if (const auto slope = largest_slope()) return of_slope(*slope);
    if (!is_monotone()) return anything(expected_.outs[output]);
    Interval right = of_corners();
    if (keeps_elements()) right.most_common_error = most_common_error_of_arguments();
    return right;
  }

 private:
  std::vector<Value> values(const std::function<Value(const Argument&, std::size_t)>& value) const {
    std::vector<Value> all;
    for (std::size_t i = 0; i < arguments_.size(); ++i) all.push_back(value(arguments_[i], i));
    return all;
  }

  // Whether each element of the result is an element of an argument, or a bound of a clamp.
  bool keeps_elements() const {
    return op_.file == "movement" ||
           is_one_of(op_.name, {"aten::_to_copy.out", "aten::clamp.out", "aten::clamp.Tensor_out", "aten::relu.out"});
  }
  Real most_common_error_of_arguments() const {
    Real most = 0;
    for (const Argument& a : arguments_)
      for (const auto& interval : a.intervals)
        if (interval) most = std::max(most, interval->most_common_error);
    return most;
  }

  // -- monotone in each argument --------------------------------------------------------------------------------------

  bool is_monotone() const {
    return op_.file == "movement" ||
           is_one_of(op_.name, {"aten::add.out",
                                "aten::add.Scalar_out",
                                "aten::sub.out",
                                "aten::rsub.Scalar_out",
                                "aten::mul.out",
                                "aten::mul.Scalar_out",
                                "aten::div.Scalar_out",
                                "aten::div.Scalar_mode_out",
                                "aten::maximum.out",
                                "aten::minimum.out",
                                "aten::clamp.out",
                                "aten::clamp.Tensor_out",
                                "aten::relu.out",
                                "aten::neg.out",
                                "aten::floor.out",
                                "aten::ceil.out",
                                "aten::round.out",
                                "aten::exp.out",
                                "aten::log.out",
                                "aten::sqrt.out",
                                "aten::sigmoid.out",
                                "aten::tanh.out",
                                "aten::elu.out",
                                "aten::amax.out",
                                "aten::amin.out",
                                "aten::sum.IntList_out",
                                "aten::mean.out",
                                "aten::avg_pool2d.out",
                                "aten::max_pool2d_with_indices.out",
                                "aten::upsample_bilinear2d.vec_out",
                                "aten::where.self_out",
                                "aten::gt.Scalar_out",
                                "aten::lt.Scalar_out",
                                "aten::full_like.out",
                                "quantized_decomposed::quantize_per_tensor.out",
                                "quantized_decomposed::dequantize_per_tensor.out"}) ||
           (is_one_of(op_.name, {"aten::div.out", "aten::reciprocal.out", "aten::rsqrt.out"}) && keeps_from_zero());
  }

  // Whether no interval of the last tensor argument, by which the operator divides, contains 0.
  bool keeps_from_zero() const {
    for (const Argument& a : arguments_) {
      if (a.is_point() || !std::holds_alternative<Tensor>(a.value)) continue;
      const Bounds b = numbers_of(*a.intervals[0]);
      for (Int k = 0; k < b.lowest.count(); ++k)
        if (!(b.lowest[k] > 0 || b.highest[k] < 0)) return false;
    }
    return true;
  }

  enum class End { lowest, highest, nan };

  // One end of each interval. At the end `nan`, the elements for which any value is right are NaN.
  static Tensor end_of(const std::optional<Interval>& interval, const Tensor& t, End end) {
    if (!interval) return t;
    if (end != End::nan) return end == End::highest ? interval->highest : interval->lowest;
    const Bounds in = numbers_of(*interval);
    Array<Real> numbers = read<Real>(t);
    for (Int k = 0; k < numbers.count(); ++k)
      if (in.lowest[k] == -infinity && in.highest[k] == infinity) numbers[k] = std::numeric_limits<Real>::quiet_NaN();
    Tensor at = t;
    write(numbers, at);
    return at;
  }
  static Value corner(const Argument& a, End end) {
    if (const Tensor* t = std::get_if<Tensor>(&a.value)) return end_of(a.intervals[0], *t, end);
    Tensors list = std::get<Tensors>(a.value);
    for (std::size_t i = 0; i < list.size(); ++i)
      if (list[i]) list[i] = end_of(a.intervals[i], *list[i], end);
    return list;
  }

  // Whether an element may be NaN, because any value is right for it.
  static bool may_be_nan(const Argument& a) {
    return std::ranges::any_of(a.intervals, [](const std::optional<Interval>& interval) {
      if (!interval || !is_floating(interval->lowest.dtype)) return false;
      const Bounds in = numbers_of(*interval);
      for (Int k = 0; k < in.lowest.count(); ++k)
        if (in.lowest[k] == -infinity && in.highest[k] == infinity) return true;
      return false;
    });
  }

  // The hull of what is right for the ends of the intervals. The tensors of a list are at the same end, because each
  // element of the result depends on one of them.
  Interval of_corners() const {
    std::size_t intervals = 0;
    for (const Argument& a : arguments_) intervals += !a.is_point();
    std::optional<Bounds> hull;
    const auto add_corner = [&](const std::function<End(std::size_t interval)>& end) {
      std::size_t next = 0;
      const std::vector<Value> inputs =
          values([&](const Argument& a, std::size_t) { return a.is_point() ? a.value : corner(a, end(next++)); });
      const judge::Expectation expected = judge::expect(op_, inputs, budget_);
      const bool is_answered = expected.answer.outcome == Outcome::ok;
      if (is_answered) add(hull, numbers_of(right_for(op_, inputs, expected, 0, arithmetic_)));
      return is_answered;
    };
    bool all = true;
    for (std::size_t at = 0; all && at < (std::size_t{1} << intervals); ++at)
      all = add_corner([at](std::size_t i) { return ((at >> i) & 1) != 0 ? End::highest : End::lowest; });
    if (all && std::ranges::any_of(arguments_, may_be_nan)) all = add_corner([](std::size_t) { return End::nan; });
    return all ? interval_of(expected_.outs[0], std::move(*hull)) : anything(expected_.outs[0]);
  }
  static void add(std::optional<Bounds>& hull, Bounds more) {
    if (!hull) return void(hull = std::move(more));
    for (Int k = 0; k < more.lowest.count(); ++k) {
      Real &low = hull->lowest[k], &high = hull->highest[k];
      const bool one_is_nan =
          std::isnan(low) != std::isnan(more.lowest[k]) || std::isnan(high) != std::isnan(more.highest[k]);
      low = one_is_nan ? -infinity : std::min(low, more.lowest[k]);
      high = one_is_nan ? infinity : std::max(high, more.highest[k]);
    }
  }

  // -- limited slope --------------------------------------------------------------------------------------------------

  // The largest change of an element of the result over the largest change of an element of the argument.
  std::optional<Real> largest_slope() const {
    if (is_one_of(op_.name, {"aten::abs.out", "aten::sin.out", "aten::cos.out"})) return 1;
    if (op_.name == "aten::_softmax.out") return 0.5;
    if (op_.name == "aten::gelu.out") return 1.13;  // the derivative at sqrt(2) is 1.1289
    if (op_.name != "aten::leaky_relu.out") return {};
    const auto slope = number_in(arguments_[1].value);
    return std::max(Real{1}, std::fabs(slope ? exact<Real>(*slope) : 0));
  }

  // An element of a softmax depends on a whole row: the widest interval counts for all.
  Interval of_slope(Real slope) const {
    Array<Real> radius = radius_of(arguments_[0]);
    for (Real& r : radius.data) r *= slope;
    if (op_.name == "aten::_softmax.out" && radius.count() > 0)
      std::ranges::fill(radius.data, std::ranges::max(radius.data));
    Bounds right = numbers_of(
        right_for(op_, values([](const Argument& a, std::size_t) { return a.value; }), expected_, 0, arithmetic_));
    for (Int k = 0; k < radius.count(); ++k) {
      const bool is_bounded = std::isfinite(radius[k]);
      right.lowest[k] = is_bounded ? right.lowest[k] - radius[k] : -infinity;
      right.highest[k] = is_bounded ? right.highest[k] + radius[k] : infinity;
    }
    return interval_of(expected_.outs[0], std::move(right));
  }

  // -- equality -------------------------------------------------------------------------------------------------------

  Interval of_equality() const {
    const Bounds in = numbers_of(*arguments_[0].intervals[0]);
    const auto number = number_in(arguments_[1].value);
    const Real x = number ? exact<Real>(*number) : 0;
    Bounds truth{Array<Real>(in.lowest.sizes), Array<Real>(in.lowest.sizes)};
    for (Int k = 0; k < in.lowest.count(); ++k) {
      truth.lowest[k] = in.lowest[k] == x && in.highest[k] == x;
      truth.highest[k] = in.lowest[k] <= x && x <= in.highest[k];
    }
    return interval_of(expected_.outs[0], std::move(truth));
  }

  // -- products -------------------------------------------------------------------------------------------------------

  // |sum(a b) - sum(a0 b0)| <= sum(|a0| rb + ra (|b0| + rb)), where ra and rb are the radii of the intervals around a0
  // and b0. To this come the rounding errors of a product of numbers that are as large as |a0| + ra and |b0| + rb.
  Interval of_product() const {
    const bool has_bias_first = op_.name == "aten::addmm.out";
    const std::size_t first = has_bias_first ? 1 : 0, second = first + 1;
    const std::size_t bias = has_bias_first ? 0 : op_.name == "aten::convolution.out" ? 2 : arguments_.size();
    enum class As { center, size, radius, largest, zero };
    const auto part = [&](std::size_t i, As as) -> Value {
      const Argument& a = arguments_[i];
      const Tensor* t = std::get_if<Tensor>(&a.value);
      if (!t) return a.value;
      Tensor wide = make(DType::float64, t->sizes);
      Array<Real> numbers = read<Real>(*t);
      const Array<Real> radius = radius_of(a);
      for (Int k = 0; k < numbers.count(); ++k) {
        const Real size = std::fabs(numbers[k]);
        numbers[k] = as == As::center    ? numbers[k]
                     : as == As::size    ? size
                     : as == As::radius  ? radius[k]
                     : as == As::largest ? size + radius[k]
                                         : 0;
      }
      write(numbers, wide);
      return wide;
    };
    const auto product = [&](As a, As b, As c) {
      std::vector<Value> inputs = values([](const Argument& argument, std::size_t) { return argument.value; });
      inputs[first] = part(first, a), inputs[second] = part(second, b);
      if (bias < inputs.size()) inputs[bias] = part(bias, c);
      for (std::size_t i = 0; i < inputs.size(); ++i)
        if (op_.arguments[i].out) inputs[i] = Value();
      return judge::expect(op_, inputs, budget_);
    };
    const judge::Expectation spread = product(As::size, As::radius, As::radius),
                             other = product(As::radius, As::largest, As::zero),
                             largest = product(As::largest, As::largest, As::largest);
    for (const judge::Expectation* e : {&spread, &other, &largest})
      if (e->answer.outcome != Outcome::ok) return anything(expected_.outs[0]);
    const Array<Real> s = read<Real>(spread.outs[0]), o = read<Real>(other.outs[0]), l = read<Real>(largest.outs[0]);
    const Tensor& want = expected_.outs[0];
    const bool is_float32 = want.dtype == DType::float64 || want.dtype == DType::float32;
    const Real terms = terms_of(expected_, 0);
    const Real unit = arithmetic_ == Arithmetic::half_sums ? float16_unit * terms : float32_unit * roundoffs(terms);
    Array<Real> radius(want.sizes);
    for (Int k = 0; k < radius.count(); ++k)
      radius[k] = s[k] + o[k] + unit * l[k] + (is_float32 ? 0 : ulp(want.dtype, l[k])) + 0x1p-149;
    return around(want, radius);
  }
  static Array<Real> radius_of(const Argument& a) {
    const Tensor& t = std::get<Tensor>(a.value);
    Array<Real> radius(t.sizes);
    if (a.is_point()) return radius;
    const Array<Real> at = read<Real>(t);
    const Bounds in = numbers_of(*a.intervals[0]);
    for (Int k = 0; k < at.count(); ++k) radius[k] = std::max(in.highest[k] - at[k], at[k] - in.lowest[k]);
    return radius;
  }

  const Operator& op_;
  std::span<const Argument> arguments_;
  const judge::Expectation& expected_;
  Arithmetic arithmetic_;
  const Budget& budget_;
};

}  // namespace

bool Argument::is_point() const {
  return std::ranges::none_of(intervals, [](const std::optional<Interval>& i) { return i.has_value(); });
}

std::vector<Interval> intervals_of(const Operator& op, std::span<const Argument> arguments,
                                   const judge::Expectation& expected, Arithmetic arithmetic, const Budget& budget) {
  const bool all_points = std::ranges::all_of(arguments, &Argument::is_point);
  std::vector<Value> inputs;
  if (all_points)
    for (const Argument& a : arguments) inputs.push_back(a.value);
  std::vector<Interval> all;
  for (std::size_t k = 0; k < expected.outs.size(); ++k)
    all.push_back(all_points ? right_for(op, inputs, expected, k, arithmetic)
                             : Push(op, arguments, expected, arithmetic, budget).out(k));
  return all;
}

}  // namespace assay::delegates
