#include "conformance/judge/judge.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <memory>
#include <numeric>

#include "conformance/judge/choice.h"
#include "reference/numerics/bounds.h"

namespace assay::judge {
namespace {

constexpr Real infinity = std::numeric_limits<Real>::infinity();

// The expected value of one number of a result: of an element, or of a part of a complex element.
struct Row {
  Accuracy accuracy;
  DType dtype;     // the dtype of the out, or of its parts
  DType computed;  // the dtype of the result, or of its parts, before it is stored in the out
  Int terms;
  bool half_accumulation;
  bool is_part;  // a part of a complex number: a sum, even if there is one term

  bool is_dot() const { return accuracy.measure == Accuracy::Measure::dot; }
  // Partial results of a half type are stored in that type.
  bool accumulates_in_half() const { return (half_accumulation || accuracy.half_partials) && is_half(computed); }
  DType partial() const { return accumulates_in_half() ? computed : compute_dtype(computed); }
};

// Infinity counts as one step beyond the largest value, so that a result at the edge of the range is judged by its
// distance.
Real extended(Real x, DType dtype) {
  const Real edge = largest(dtype) + ulp(dtype, largest(dtype));
  return std::clamp(x, -edge, edge);
}

// The bound of a sum in unit roundoffs of its magnitude. A part of a complex sum is a sum of twice as many products. In
// float64 the reference rounds as often as the testee. Roundings of partial sums in a half type are not independent: a
// large partial sum absorbs its small addends.
Real allowed_roundoffs(const Row& row) {
  const auto terms = static_cast<Real>(row.terms);
  const Real each = (row.is_part ? 2 : 1) * (row.computed == DType::float64 ? 2 : 1);
  return static_cast<Real>(row.accuracy.amount) * (row.accumulates_in_half() ? each * terms : roundoffs(terms, each));
}

// One standard deviation of the error; a quarter of the bound where roundings are not independent.
Real usual_roundoffs(const Row& row) {
  const auto terms = static_cast<Real>(row.terms);
  const Real usual = row.accumulates_in_half() ? std::max(std::sqrt(terms), terms / 4) : std::sqrt(terms);
  return std::min(usual, allowed_roundoffs(row));
}

// `size`: the number whose units in the last place count: `exact`, or the absolute value of the complex number that it
// is a part of. A sum is computed in one dtype, then rounded to the dtypes of the result and of the out.
Real bound(const Row& row, Real exact, Real size, Real magnitude, Real roundoffs) {
  const auto rounding = [&](DType from, DType to, Real off) {
    return from == to ? 0 : ulp(to, std::fabs(exact) + off) / 2;
  };
  if (row.accuracy.measure == Accuracy::Measure::ulp)
    return static_cast<Real>(row.accuracy.amount) * ulp(row.computed, size) + rounding(row.computed, row.dtype, 0);
  const DType partial = row.partial();
  const Real unit = std::ldexp(Real{1}, -info(partial).precision);
  Real off = roundoffs * unit * std::fabs(magnitude) + ulp(partial, 0);
  off += rounding(partial, row.computed, off);
  return off + rounding(row.computed, row.dtype, off);
}
Real bound(const Row& row, Real exact, Real size, Real magnitude) {
  return bound(row, exact, size, magnitude, allowed_roundoffs(row));
}

// Whether a non-finite result is right because its terms may overflow. A sum may be computed in the dtype whose unit
// bounds it. The terms of one sign sum up to half of magnitude plus result, within the accuracy of doubles. A sum
// that overflows becomes an infinity of that sign. NaN arises from infinities of both signs, or from a product with a
// complex number that has an infinite part. An infinite result has its exact sign; a float64 sum may also have
// overflowed in the reference.
bool overflowed(const Row& row, Real exact, Real magnitude, Real got) {
  if (std::isfinite(got)) return false;
  if (magnitude < 0) {
    const Real told = std::fabs(exact) * 0x1p-40;  // a smaller share of terms of the other sign cannot be detected
    const bool of_one_sign = std::isinf(exact) || (-magnitude - std::fabs(exact) <= told && told < largest(row.dtype));
    return std::isnan(got) || std::isnan(exact) || !of_one_sign || std::signbit(exact) == std::signbit(got);
  }
  if (!row.accuracy.overflow && !(row.is_dot() && std::isfinite(magnitude))) return false;
  const Real terms = row.accuracy.mean ? static_cast<Real>(row.terms) : 1;
  const bool is_one_term = row.terms == 1 && !row.is_part;
  const auto overflows = [&](Real sum) { return terms * sum >= largest(row.partial()); };
  const auto overflows_to = [&](Real sign) {
    if (is_one_term) return sign * exact > 0;
    if (!std::isfinite(exact)) return row.computed == DType::float64;
    return overflows((magnitude + sign * exact) / 2 + magnitude * std::numeric_limits<Real>::epsilon());
  };
  if (std::isinf(got)) return overflows(magnitude) && overflows_to(std::copysign(Real{1}, got));
  if (row.is_part) return std::isinf(exact) || overflows(magnitude);
  if (!std::isfinite(exact) || (row.accuracy.overflow && is_one_term)) return overflows(magnitude);
  return overflows_to(1) && overflows_to(-1);
}

// Whether 0 is right for a subnormal result.
bool flushed(const Row& row, Real exact, Real got) {
  const int least_exponent = std::max(info(row.dtype).least_exponent, info(row.computed).least_exponent);
  return row.accuracy.flush && got == 0 && std::fabs(exact) < std::ldexp(Real{1}, least_exponent);
}

// The distance of a floating result in units of its bound; at most 1 is right. `want` is `exact` rounded.
Real distance(const Row& row, Real exact, Real size, Real magnitude, Real want, Real got) {
  if (magnitude == unbounded || overflowed(row, exact, magnitude, got)) return 0;
  if (std::isnan(exact) || std::isnan(got)) return std::isnan(exact) && std::isnan(got) ? 0 : infinity;
  if (exact == 0 && got == 0)
    return row.accuracy.either_zero || std::signbit(exact) == std::signbit(got) ? 0 : infinity;
  if (want == got) return 0;
  if (std::isinf(exact)) return infinity;
  if (flushed(row, exact, got)) return 0;
  const Real off = std::fabs(extended(got, row.dtype) - exact) / bound(row, exact, size, magnitude);
  return std::isnan(off) ? infinity : off;
}

// For integers that a Real cannot tell apart.
Bits difference(Int a, Int b) {
  return std::min(static_cast<Bits>(a) - static_cast<Bits>(b), static_cast<Bits>(b) - static_cast<Bits>(a));
}

// Bit for bit; any NaN equals any other NaN.
Real exact_distance(const Row& row, Real magnitude, Bits want, Bits got) {
  const DTypeInfo& d = info(row.dtype);
  if (want == got) return 0;
  if (d.kind == Kind::opaque || (row.dtype == DType::boolean && got > 1)) return infinity;
  if (d.kind != Kind::floating) return static_cast<Real>(difference(d.int_of(want), d.int_of(got)));
  const Real a = d.real_of(want), b = d.real_of(got);
  if (std::isnan(b) && overflowed(row, a, magnitude, b)) return 0;
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b) ? 0 : infinity;
  if (a == b) return row.accuracy.either_zero ? 0 : infinity;
  if (flushed(row, a, b)) return 0;
  return std::fabs(extended(b, row.dtype) - extended(a, row.dtype)) / ulp(row.dtype, a);
}

std::string accuracy_text(const Row& row) {
  using enum Accuracy::Measure;
  switch (row.accuracy.measure) {
    case ulp:
      return fmt::format("{} ulp of {}", row.accuracy.amount, info(row.dtype).name);
    case dot: {
      const std::string stored =
          row.partial() == row.computed ? "" : fmt::format(" and half an ulp of {}", info(row.computed).name);
      return fmt::format("{:.3g} unit roundoffs of {} of the sum of magnitudes{}",
                         static_cast<double>(allowed_roundoffs(row)), info(row.partial()).name, stored);
    }
    default:
      return "exact";
  }
}

// All digits of a number; a NaN has no sign.
std::string digits_of(Real x) { return std::isnan(x) ? "nan" : fmt::format("{:.17g}", static_cast<double>(x)); }

std::string exact_text(DType dtype, Bits bits) {
  const DTypeInfo& d = info(dtype);
  if (d.kind == Kind::floating) return digits_of(round_to(dtype, d.real_of(bits)));
  if (d.kind == Kind::opaque || (dtype == DType::boolean && bits > 1)) return fmt::format("{:#x}", bits);
  return dtype == DType::uint64 ? fmt::format("{}", bits) : fmt::format("{}", d.int_of(bits));
}

std::string place(std::size_t output, std::size_t outputs, const Dims& sizes, Int element) {
  Dims index = Dims::filled(sizes.size(), 0);
  for (int d = sizes.size() - 1; d >= 0; --d) index[d] = element % sizes[d], element /= sizes[d];
  std::string name = outputs > 1 ? fmt::format("out {}", output) : "out";
  return sizes.size() > 0 ? concat(name, " at ", index) : name;
}

// Statistics of the errors of a whole tensor, which show more than the worst error.
class Errors {
 public:
  // ulps: the signed error; distance: its absolute value in units of the usual error.
  void add(Real ulps, Real distance) {
    if (!std::isfinite(ulps) || !std::isfinite(distance)) return;
    ++count_;
    ulps_ += ulps;
    squares_ += distance * distance;
  }

  // Independent roundings average out; a systematic error does not.
  bool biased() const { return enough() && std::fabs(ulps_ / count_) > 0.25 + 3 / std::sqrt(count_); }

  // The variance exceeds that of errors spread evenly over the usual range by three standard deviations of its
  // estimate.
  bool noisy() const { return enough() && squares_ / count_ > (1 + 3 * std::sqrt(0.8 / count_)) / 3; }

 private:
  bool enough() const { return count_ >= 256; }

  Real count_ = 0, ulps_ = 0, squares_ = 0;
};

// The numbers of a floating dtype in order: 0 has place 0, -0 has place -1.
class Numbers {
 public:
  explicit Numbers(DType dtype) : dtype_(info(dtype)) {}

  Bits nearest(Real x) const { return dtype_.bits_of_real(x); }
  Int place(Bits number) const {
    return (number & sign_) != 0 ? -1 - static_cast<Int>(number ^ sign_) : static_cast<Int>(number);
  }
  static bool is_zero(Int place) { return place == 0 || place == -1; }
  Bits at(Int place) const { return place < 0 ? static_cast<Bits>(-1 - place) | sign_ : static_cast<Bits>(place); }

 private:
  const DTypeInfo& dtype_;
  Bits sign_ = Bits{1} << (8 * dtype_.bytes - 1);
};

class TensorJudge {
 public:
  TensorJudge(const Operator& op, const Expectation& expected, std::size_t output, ArithmeticMode mode)
      : op_(op),
        expected_(expected),
        output_(output),
        want_(expected.outs[output]),
        unrounded_(expected.answer.unrounded[output]),
        want_bits_(read_parts(want_)),
        parts_(info(want_.dtype).parts()) {
    const DType computed = unrounded_.values.empty() ? want_.dtype : unrounded_.dtype;
    row_.dtype = info(want_.dtype).part;
    row_.computed = info(computed).part;
    row_.accuracy = accuracy(op, static_cast<int>(op.arguments.back().type == "Tensor[]" ? 0 : output), computed);
    row_.accuracy.flush = row_.accuracy.flush || mode == ArithmeticMode::flush_to_zero;
    row_.half_accumulation = mode == ArithmeticMode::half_accumulation;
    row_.terms = unrounded_.terms;
    row_.is_part = parts_ > 1;
  }

  // Any element may instead match `other`, an expectation of the same dtype and sizes, which must outlive this.
  void admit(const TensorJudge& other) { other_ = &other; }

  Judgement judge(const Tensor& got, bool has_values) const {
    if (got.dtype != want_.dtype)
      return failure(verdict::Class::dtype,
                     concat(place(output_, outputs(), {}, 0), " is ", got.dtype, ", but must be ", want_.dtype));
    if (got.sizes != want_.sizes)
      return failure(verdict::Class::shape, concat(place(output_, outputs(), {}, 0), " has sizes ", got.sizes,
                                                   ", but must have ", want_.sizes));
    if (got.dim_order != want_.dim_order)
      return failure(verdict::Class::layout, concat(place(output_, outputs(), {}, 0), " has dim order ", got.dim_order,
                                                    ", but must have ", want_.dim_order));
    return is(Accuracy::Measure::unspecified) || is(Accuracy::Measure::choice) || !has_values ? Judgement{}
                                                                                              : values(got);
  }

  std::vector<bool> right_elements(const Tensor& got) const {
    const Array<Bits> bits = read_parts(got);
    std::vector<bool> right;
    for (Int k = 0; k < bits.count(); ++k) right.push_back(is_right(k, bits[k]));
    return right;
  }

  std::vector<Real> error_bounds() const {
    std::vector<Real> bounds;
    for (Int k = 0; k < want_bits_.count(); ++k) {
      const bool any = is(Accuracy::Measure::unspecified) || is(Accuracy::Measure::choice) || magnitude(k) == unbounded;
      bounds.push_back(any ? infinity : rounded_exactly() ? 0 : bound(row_, exact(k), size(k), magnitude(k)));
    }
    return bounds;
  }

  std::optional<RightAnswers> right_answers() const {
    if (is(Accuracy::Measure::unspecified)) return {};
    RightAnswers right{want_, want_, want_, !row_.accuracy.either_zero};
    if (is(Accuracy::Measure::choice) || !is_floating(row_.dtype)) return right;
    const Array<Bits>& want = want_bits_;
    Array<Bits> lowest = want, highest = want;
    for (Int k = 0; k < want.count(); ++k) {
      lowest[k] = farthest_right(k, want[k], -1);
      highest[k] = farthest_right(k, want[k], 1);
    }
    write_parts(lowest, right.lowest), write_parts(highest, right.highest);
    return right;
  }

 private:
  bool is(Accuracy::Measure measure) const { return row_.accuracy.measure == measure; }

  std::size_t outputs() const { return expected_.outs.size(); }

  bool rounded_exactly() const { return is(Accuracy::Measure::exact) || unrounded_.values.empty(); }

  // The last right answer below (-1) or above (1) the expected one. All numbers between the two count as right, except
  // a zero of the wrong sign.
  Bits farthest_right(Int k, Bits want, int direction) const {
    const Numbers numbers(row_.dtype);
    const Bits end = numbers.nearest(direction * infinity),
               nan = numbers.nearest(std::numeric_limits<Real>::quiet_NaN());
    const auto place_is_right = [&](Int place) {
      return is_right(k, numbers.at(place)) || (numbers.is_zero(place) && is_right(k, numbers.at(-1 - place)));
    };
    if (is_right(k, nan)) return is_right(k, end) ? end : want;
    Int right = numbers.place(want), wrong = numbers.place(end) + direction;
    const Int zero =
        direction < 0 ? 0 : -1;  // the zero that comes first; where subnormal numbers may be flushed it counts alone
    if (direction * zero > direction * right && place_is_right(zero)) right = zero;
    constexpr Int most = Int{1} << 40;            // no place of a dtype is nearer to the end of an Int
    for (Int step = 1; step < most; step *= 2) {  // most bounds are a few units in the last place
      const Int at = right + direction * step;
      if (direction * at >= direction * wrong) break;
      if (place_is_right(at)) {
        right = at;
      } else {
        wrong = at;
        break;
      }
    }
    for (Int middle; (middle = std::midpoint(right, wrong)) != right;)
      (place_is_right(middle) ? right : wrong) = middle;
    return numbers.at(is_right(k, numbers.at(right)) ? right : -1 - right);
  }

  bool is_right(Int k, Bits got) const {
    return is(Accuracy::Measure::unspecified) || distance_of(k, got) <= (rounded_exactly() ? 0 : 1);
  }

  Judgement failure(verdict::Class c, std::string sentence) const {
    Judgement j{verdict::Verdict::fail,    c,  infinity, accuracy_text(row_), std::move(sentence),
                static_cast<Int>(output_), {}, {}};
    return j;
  }

  Real magnitude(Int k) const {
    const std::vector<Buffer<Real>>& all = expected_.magnitudes(op_);
    return output_ < all.size() && !all[output_].empty() ? part_of(all[output_], k) : 0;
  }

  // Number k of the computed values. A real value in a complex out has the imaginary part 0; a real out holds the real
  // part of a complex value.
  Real part_of(const Buffer<Real>& values, Int k) const {
    if (std::ssize(values) == want_bits_.count()) return values[static_cast<std::size_t>(k)];
    if (std::ssize(values) > want_bits_.count()) return values[static_cast<std::size_t>(2 * k)];
    return k % 2 == 0 ? values[static_cast<std::size_t>(k / 2)] : 0;
  }
  Real exact(Int k) const { return part_of(unrounded_.values, k); }

  // The absolute value of the element that number k belongs to. Beside a non-finite part the other part counts alone.
  Real size(Int k) const {
    if (parts_ == 1) return exact(k);
    const Real whole = std::hypot(exact(k - k % 2), exact(k - k % 2 + 1));
    return std::isfinite(whole) ? extended(whole, row_.dtype) : exact(k);
  }

  // The distance of element k in units of its bound; 0 when exact.
  Real distance_of(Int k, Bits got) const {
    const DTypeInfo& d = info(row_.dtype);
    const Real own = rounded_exactly()
                         ? exact_distance(row_, magnitude(k), want_bits_[k], got)
                         : distance(row_, exact(k), size(k), magnitude(k), d.real_of(want_bits_[k]), d.real_of(got));
    return other_ ? std::min(own, other_->distance_of(k, got)) : own;
  }

  // The ratio of the bound to the usual error of good results: in a sum, one standard deviation.
  Real allowed_over_usual(Int k) const {
    if (!row_.is_dot() || rounded_exactly()) return 1;
    return bound(row_, exact(k), size(k), magnitude(k)) /
           bound(row_, exact(k), size(k), magnitude(k), usual_roundoffs(row_));
  }

  Judgement values(const Tensor& got) const {
    const Array<Bits> got_bits = read_parts(got);
    const DTypeInfo& d = info(row_.dtype);
    Errors errors;
    Real worst = -1, worst_usual = -1;
    Int at = 0;
    for (Int k = 0; k < want_bits_.count(); ++k) {
      const Real now = distance_of(k, got_bits[k]), usual = now == 0 ? 0 : now * allowed_over_usual(k);
      if (now > worst) worst = now, at = k;
      worst_usual = std::max(worst_usual, usual);
      if (!rounded_exactly() && !other_)
        errors.add((d.real_of(got_bits[k]) - exact(k)) / ulp(row_.dtype, size(k)), usual);
    }
    if (worst <= 0) return {};
    const bool outside = rounded_exactly() ? worst > 0 : worst > 1;
    const bool poor = worst_usual > 1 || errors.noisy() || (!row_.is_dot() && errors.biased());
    Judgement j{outside ? verdict::Verdict::fail
                : poor  ? verdict::Verdict::quality
                        : verdict::Verdict::pass,
                verdict::Class::none,
                static_cast<double>(worst),
                accuracy_text(row_),
                {},
                static_cast<Int>(output_),
                at / parts_,
                {}};
    if (j.verdict != verdict::Verdict::pass) describe(j, want_bits_[at], got_bits[at], at);
    return j;
  }

  void describe(Judgement& j, Bits want, Bits got, Int at) const {
    const DTypeInfo& d = info(row_.dtype);
    const bool nan = d.kind == Kind::floating && std::isnan(d.real_of(want)) != std::isnan(d.real_of(got));
    if (j.verdict == verdict::Verdict::fail) j.failure = nan ? verdict::Class::nan : verdict::Class::value;
    const std::string_view part = parts_ == 1 ? "" : at % 2 == 0 ? "the real part of " : "the imaginary part of ";
    j.message = fmt::format("{}{} is {}, but must be {}", part, place(output_, outputs(), want_.sizes, at / parts_),
                            exact_text(row_.dtype, got), exact_text(row_.dtype, want));
    if (rounded_exactly()) return;
    if (const std::string all = digits_of(exact(at)); all != exact_text(row_.dtype, want))
      j.message += fmt::format(" (exactly {})", all);
    j.bound = fmt::format("{:.3g}", static_cast<double>(bound(row_, exact(at), size(at), magnitude(at))));
  }

  const Operator& op_;
  const Expectation& expected_;
  std::size_t output_;
  const Tensor& want_;
  const Unrounded& unrounded_;
  Array<Bits> want_bits_;  // the expected numbers; complex elements part by part
  int parts_;
  Row row_{};
  const TensorJudge* other_ = nullptr;
};

bool worse(const Judgement& a, const Judgement& b) {
  const auto rank = [](const Judgement& j) {
    return std::pair(j.verdict == verdict::Verdict::fail      ? 2
                     : j.verdict == verdict::Verdict::quality ? 1
                                                              : 0,
                     j.distance);
  };
  return rank(a) > rank(b);
}

bool uses_magnitude(const Operator& op) {
  return std::ranges::any_of(op.accuracy, [](const AccuracyRow& r) {
    return r.accuracy.overflow || r.accuracy.measure == Accuracy::Measure::dot;
  });
}

// Replaces the subnormal numbers of a floating or complex tensor by 0. Returns whether it had any.
bool flush(Tensor& t) {
  const DTypeInfo& d = info(t.dtype);
  if (!is_floating(d.part)) return false;
  Array<Bits> numbers = read_parts(t);
  bool any = false;
  for (Bits& b : numbers.data) {
    const Real x = d.real_of(b);
    if (x == 0 || !(std::fabs(x) < std::ldexp(Real{1}, d.least_exponent))) continue;
    b = d.bits_of_real(std::copysign(Real{0}, x));
    any = true;
  }
  if (any) write_parts(numbers, t);
  return any;
}

// The expectation with subnormal inputs as 0; none if it is equal, or has other sizes.
std::optional<Expectation> with_flushed_inputs(const Operator& op, const Expectation& expected) {
  std::vector<Value> arguments = expected.arguments;
  bool any = false;
  for (std::size_t i = 0; i + op.outs() < arguments.size(); ++i) {
    if (Tensor* t = std::get_if<Tensor>(&arguments[i])) any |= flush(*t);
    if (Tensors* list = std::get_if<Tensors>(&arguments[i]))
      for (auto& t : *list)
        if (t) any |= flush(*t);
  }
  if (!any) return std::nullopt;
  Expectation e = expect(op, arguments);
  const auto alike = [](const Tensor& a, const Tensor& b) { return a.dtype == b.dtype && a.sizes == b.sizes; };
  if (!std::ranges::equal(e.outs, expected.outs, alike)) return std::nullopt;
  return e;
}

}  // namespace

std::vector<Tensor> out_tensors(const Operator& op, std::span<const Value> arguments) {
  std::vector<Tensor> outs;
  for (std::size_t i = op.arguments.size() - op.outs(); i < arguments.size(); ++i) {
    if (const Tensor* t = std::get_if<Tensor>(&arguments[i])) outs.push_back(*t);
    if (const Tensors* list = std::get_if<Tensors>(&arguments[i]))
      for (const auto& t : *list) outs.push_back(*t);
    if (const auto number = number_in(arguments[i])) outs.push_back(tensor_of(*number));
  }
  return outs;
}

Expectation expect(const Operator& op, std::span<const Value> arguments, const Budget& budget) {
  Expectation e;
  std::vector<Value> own(arguments.begin(), arguments.end());
  e.answer = call(op, own, budget);
  if (e.answer.outcome != Outcome::ok) return e;
  e.outs = out_tensors(op, own);
  e.arguments = std::move(own);
  return e;
}

const std::vector<Buffer<Real>>& Expectation::magnitudes(const Operator& op) const {
  if (magnitudes_) return *magnitudes_;
  magnitudes_.emplace();
  std::vector<Value> again = arguments;
  if (uses_magnitude(op))
    for (Unrounded& u : call(op, again, {}, Mode::magnitude).unrounded) magnitudes_->push_back(std::move(u.values));
  return *magnitudes_;
}

std::vector<bool> right_elements(const Operator& op, const Expectation& expected, std::size_t output,
                                 const Tensor& got) {
  return TensorJudge(op, expected, output, ArithmeticMode::ieee).right_elements(got);
}

std::vector<Real> error_bounds(const Operator& op, const Expectation& expected, std::size_t output) {
  return TensorJudge(op, expected, output, ArithmeticMode::ieee).error_bounds();
}

std::optional<RightAnswers> right_answers(const Operator& op, const Expectation& expected, std::size_t output,
                                          ArithmeticMode mode) {
  return TensorJudge(op, expected, output, mode).right_answers();
}

Judgement judge(const Operator& op, std::span<const Value> arguments, const Expectation& expected,
                const Reaction& reaction, ArithmeticMode mode) {
  const Answer& answer = expected.answer;
  const bool refused = reaction.outcome != Outcome::ok;
  if (answer.outcome == Outcome::exhausted)
    return {verdict::Verdict::unsupported,
            verdict::Class::none,
            0,
            answer.rule,
            concat("the reference cannot judge this: ", answer.message),
            {},
            {},
            {}};
  if (answer.outcome != Outcome::ok) {
    if (refused) return {verdict::Verdict::pass, verdict::Class::none, 0, answer.rule, {}, {}, {}, {}};
    return {verdict::Verdict::fail,
            verdict::Class::accepted_though_invalid,
            infinity,
            answer.rule,
            answer.message,
            {},
            {},
            {}};
  }
  if (refused) {
    const bool allowed = reaction.allowed == Refusals::all ||
                         (reaction.allowed == Refusals::unsupported && reaction.outcome == Outcome::unsupported);
    return {allowed ? verdict::Verdict::unsupported : verdict::Verdict::fail,
            allowed ? verdict::Class::none : verdict::Class::refused_though_valid,
            allowed ? 0 : infinity,
            {},
            reaction.message,
            {},
            {},
            {}};
  }
  if (reaction.outs.size() != expected.outs.size())
    return {verdict::Verdict::fail,
            verdict::Class::shape,
            infinity,
            {},
            fmt::format("there are {} results, but must be {}", reaction.outs.size(), expected.outs.size()),
            {},
            {},
            {}};
  Judgement worst;
  const std::optional<Expectation> flushed =
      mode == ArithmeticMode::flush_to_zero ? with_flushed_inputs(op, expected) : std::nullopt;
  for (std::size_t k = 0; k < expected.outs.size(); ++k) {
    TensorJudge judge(op, expected, k, mode);
    const auto other = flushed ? std::make_unique<TensorJudge>(op, *flushed, k, mode) : nullptr;
    if (other) judge.admit(*other);
    if (Judgement j = judge.judge(reaction.outs[k], reaction.has_values); worse(j, worst)) worst = std::move(j);
  }
  if (worst.verdict == verdict::Verdict::fail || op.choice.empty() || !reaction.has_values) return worst;
  const std::string wrong = choice_fault(op, arguments, expected.outs, reaction.outs);
  return wrong.empty() ? worst : Judgement{verdict::Verdict::fail,
                                           verdict::Class::value,
                                           infinity,
                                           concat("choice ", op.choice),
                                           wrong,
                                           {},
                                           {},
                                           {}};
}

}  // namespace assay::judge
