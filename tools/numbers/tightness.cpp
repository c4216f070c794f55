#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <random>
#include <ranges>
#include <set>

#include "conformance/judge/judge.h"
#include "conformance/runner/case_list.h"
#include "tools/numbers/evaluate.h"
#include "tools/numbers/numbers.h"

namespace assay::numbers {
namespace {

// How a kernel may make sums and functions. Which precision is that of the results.
constexpr std::array manners = {
    Manner{.order = Order::rising},        Manner{.order = Order::falling},
    Manner{.order = Order::halves},        Manner{.order = Order::four_lanes},
    Manner{.order = Order::sixteen_lanes}, Manner{.functions = Functions::above},
    Manner{.functions = Functions::below}, Manner{.functions = Functions::either},
};

// Values in place of recorded ones, which tend to be of one size: of many; all positive; such that sums cancel; or all
// the same, whose roundings do not.
enum class Data : std::uint8_t { recorded, log_uniform, positive, alternating, constant };
constexpr std::array harder = {Data::log_uniform, Data::positive, Data::alternating, Data::constant};

Real draw(Data data, Int k, std::mt19937_64& bits) {
  const auto uniform = [&] { return std::ldexp(static_cast<Real>(bits() >> 11), -53); };
  if (data == Data::positive || data == Data::constant) return 0.5 + uniform();
  if (data == Data::alternating) return (k % 2 == 0 ? 1 : -1) * (1 + uniform() / 16);
  return (uniform() < 0.5 ? 1 : -1) * std::exp2(16 * uniform() - 8);
}

// The call with other numbers in its floating and complex tensors.
std::vector<Value> with_data(const Operator& op, std::vector<Value> arguments, Data data, std::mt19937_64& bits) {
  const auto fill = [&](Tensor& tensor) {
    const DType part = info(tensor.dtype).part;
    if (!is_floating(part)) return;
    Array<Bits> numbers = read_parts(tensor);
    for (Int k = 0; k < numbers.count(); ++k)
      numbers[k] = data == Data::constant && k > 0 ? numbers[0] : info(part).bits_of_real(draw(data, k, bits));
    write_parts(numbers, tensor);
  };
  for (std::size_t i = 0; i + op.outs() < arguments.size(); ++i) {
    if (Tensor* tensor = std::get_if<Tensor>(&arguments[i])) fill(*tensor);
    if (Tensors* list = std::get_if<Tensors>(&arguments[i]))
      for (auto& tensor : *list)
        if (tensor) fill(*tensor);
  }
  return arguments;
}

// Of how many terms a result is.
std::string_view size_class(Int terms) { return terms == 1 ? "1" : terms <= 16 ? "16" : terms <= 256 ? "256" : "more"; }

// What results of one dtype and size need.
struct Need {
  double largest = 0;   // in units of the bound
  std::string of;       // the case
  bool rounds = false;  // whether any exact result is none of the dtype
};

std::string_view name_of(Data data) {
  constexpr std::string_view names[] = {"recorded", "log-uniform", "positive", "alternating", "constant"};
  return names[static_cast<std::size_t>(data)];
}

// The types of numbers in which a kernel may make results of a floating dtype, but for those that only store a half
// one.
Precision precision_of(DType part) {
  using enum DType;
  return part == float16    ? Precision::float16
         : part == bfloat16 ? Precision::bfloat16
         : part == float64  ? Precision::float64
                            : Precision::float32;
}

class Needs {
 public:
  Needs(const Operator& op) : op_(op) {}

  void look(const Case& c, const std::vector<Value>& arguments, const Expectation& expected, Data data) {
    const Evaluation wide = evaluate(op_.name, arguments, {});
    if (wide.outcome != Outcome::ok) return;
    const Question question{arguments, expected, wide, fmt::format("{} {}", to_text(c.id), name_of(data))};
    for (const Precision precision :
         {Precision::float16, Precision::bfloat16, Precision::float32, Precision::float64}) {
      const auto judged = [&](std::size_t k) { return is_made_in(precision, expected, k); };
      if (std::ranges::none_of(std::views::iota(std::size_t{0}, expected.outs.size()), judged)) continue;
      for (Manner manner : manners) {
        manner.precision = precision;
        const bool is_half = precision == Precision::float16 || precision == Precision::bfloat16;
        if (is_half && manner.functions != Functions::nearest) continue;  // made in float32, and rounded
        const Evaluation made = evaluate(op_.name, arguments, manner);
        if (made.outcome != Outcome::ok) continue;
        const std::vector<Tensor> outs = out_tensors(op_, made.arguments);
        for (std::size_t k = 0; k < outs.size(); ++k)
          if (judged(k)) add(question, k, outs[k]);
      }
    }
    if (data != Data::recorded || c.recorded.refused || !c.recorded.has_values) return;
    for (std::size_t k = 0; k < expected.outs.size(); ++k)
      if (is_judged(expected, k)) add_right(question, k, c.recorded.results.at(k));
  }

  // By out, dtype and size.
  std::map<std::tuple<std::size_t, DType, std::string_view>, Need> rows;

 private:
  struct Question {
    const std::vector<Value>& arguments;
    const Expectation& expected;
    const Evaluation& exact;
    std::string name;
  };

  // Whether a result has a bound, and is not stored in another dtype.
  bool is_judged(const Expectation& expected, std::size_t output) const {
    const DType dtype = expected.outs[output].dtype;
    const Accuracy::Measure measure = row(output, dtype).measure;
    return is_floating(info(dtype).part) && expected.answer.unrounded[output].dtype == dtype &&
           (measure == Accuracy::Measure::ulp || measure == Accuracy::Measure::dot);
  }
  // Half types are computed in float32, and in themselves where the row says so.
  bool is_made_in(Precision precision, const Expectation& expected, std::size_t output) const {
    if (!is_judged(expected, output)) return false;
    const DType dtype = expected.outs[output].dtype, part = info(dtype).part;
    return precision == precision_of(compute_dtype(part)) ||
           (row(output, dtype).half_partials && precision == precision_of(part));
  }
  Accuracy row(std::size_t output, DType dtype) const { return accuracy(op_, static_cast<int>(output), dtype); }

  Need& need_of(const Question& q, std::size_t output) {
    return rows[{output, q.expected.outs[output].dtype, size_class(q.expected.answer.terms)}];
  }

  // By how much of its bound a right number is off, from the reference or from what is exact: a correctly rounded one,
  // too, which the judge takes for no error.
  void add_right(const Question& q, std::size_t output, const Tensor& out) {
    const Buffer<Real>& reference = q.expected.answer.unrounded[output].values;
    const std::vector<Pair>& exact = q.exact.unrounded[output];
    const std::vector<Real> bounds = error_bounds(op_, q.expected, output);
    const DTypeInfo& d = info(info(out.dtype).part);
    const Array<Bits> got = read_parts(out);
    if (reference.size() != bounds.size() || exact.size() != bounds.size() || got.count() == 0) return;
    Need& need = need_of(q, output);
    for (std::size_t k = 0; k < bounds.size(); ++k) {
      const double x = d.real_of(got[static_cast<Int>(k)]), high = exact[k].high;
      if (!std::isfinite(x) || !std::isfinite(high)) continue;
      need.rounds |= exact[k].low != 0 || d.real_of(d.bits_of_real(high)) != high;
      const double off = std::max(std::fabs(x - reference[k]), std::fabs(x - high - exact[k].low));
      const double share = off / bounds[k];
      if (std::fabs(x - reference[k]) <= bounds[k]) raise(need, share, q);
    }
  }

  void add(const Question& q, std::size_t output, const Tensor& out) {
    add_right(q, output, out);
    Reaction reaction;
    reaction.outs = q.expected.outs;
    reaction.outs[output] = out;
    const double judged = judge(op_, q.arguments, q.expected, reaction).distance;
    if (judged > 1) raise(need_of(q, output), judged, q);
  }

  static void raise(Need& need, double share, const Question& q) {
    if (share > need.largest || need.of.empty()) need.largest = share, need.of = q.name;
  }

  const Operator& op_;
};

}  // namespace

int tightness(const Corpus& corpus, std::string_view pattern, std::size_t every, const std::string& known_file) {
  constexpr double loose = 4;  // times what is needed
  std::set<std::string> known = read_case_list(known_file, "known");
  int wrong = 0, loose_rows = 0, exact_rows = 0, all_rows = 0;
  each_operator(corpus, pattern, every, [&](const Operator& op, auto each_case) {
    Needs needs(op);
    each_case([&](const Case& c, const Expectation& expected) {
      needs.look(c, c.arguments, expected, Data::recorded);
      std::mt19937_64 bits(c.id.call);
      for (const Data data : harder) {
        const std::vector<Value> arguments = with_data(op, c.arguments, data, bits);
        const Expectation other = expect(op, arguments);
        if (other.answer.outcome == Outcome::ok) needs.look(c, arguments, other, data);
      }
    });
    for (const auto& [key, need] : needs.rows) {
      const auto& [output, dtype, size] = key;
      const std::string row = fmt::format("{}:{}:{}:{}", op.name, output, info(dtype).name, size);
      const double ratio = 1 / need.largest;
      const bool is_exact = need.largest == 0 && !need.rounds, is_known = known.erase(row) > 0,
                 is_loose = ratio > loose && !is_exact, is_wrong = is_loose || need.largest > 1;
      (is_exact ? exact_rows : all_rows) += 1, loose_rows += is_loose;
      const std::string_view verdict = need.largest > 1 ? "refused"
                                       : is_loose       ? "loose"
                                       : is_exact       ? "exact"
                                       : is_known       ? "not so"
                                                        : "";
      wrong += is_wrong != is_known && (is_wrong || every == 1);
      fmt::print("{:<72} {:>8.3g}  {:<5} {:<8} {}\n", row, ratio, is_known ? "known" : "", verdict, need.of);
    }
  });
  for (const std::string& row : pattern.empty() && every == 1 ? known : std::set<std::string>())
    ++wrong, fmt::print(stderr, "{} is listed, but there is no such row\n", row);
  fmt::print("loose {} of {}: more than {} times what is needed; {} more are of results that are never rounded\n",
             loose_rows, all_rows, loose, exact_rows);
  return wrong;
}

}  // namespace assay::numbers
