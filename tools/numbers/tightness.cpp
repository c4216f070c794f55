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
  double largest = 0;  // in units of the bound
  std::string of;      // the case
};

std::string_view name_of(Data data) {
  constexpr std::string_view names[] = {"recorded", "log-uniform", "positive", "alternating", "constant"};
  return names[static_cast<std::size_t>(data)];
}

class Needs {
 public:
  Needs(const Operator& op) : op_(op) {}

  void look(const Case& c, const std::vector<Value>& arguments, const Expectation& expected, Data data) {
    for (Manner manner : manners) {
      for (const bool is_double : {false, true}) {
        const auto judged = [&](std::size_t k) { return is_judged(expected, k, is_double); };
        if (std::ranges::none_of(std::views::iota(std::size_t{0}, expected.outs.size()), judged)) continue;
        manner.precision = is_double ? Precision::float64 : Precision::float32;
        const Evaluation made = evaluate(op_.name, arguments, manner);
        if (made.outcome != Outcome::ok) continue;
        const std::vector<Tensor> outs = out_tensors(op_, made.arguments);
        for (std::size_t k = 0; k < outs.size(); ++k)
          if (judged(k)) add(c, arguments, expected, k, outs[k], data);
      }
    }
  }

  // By out, dtype and size.
  std::map<std::tuple<std::size_t, DType, std::string_view>, Need> rows;

 private:
  // Whether a result is made in this precision, and not stored in another.
  static bool is_judged(const Expectation& expected, std::size_t output, bool is_double) {
    const DType dtype = expected.outs[output].dtype, part = info(dtype).part;
    return is_floating(part) && (part == DType::float64) == is_double &&
           expected.answer.unrounded[output].dtype == dtype;
  }

  // The largest share of its bound by which a number is off: a correctly rounded one, too, which the judge takes for no
  // error.
  double needed(const Expectation& expected, std::size_t output, const Tensor& out) const {
    const Buffer<Real>& exact = expected.answer.unrounded[output].values;
    const std::vector<Real> bounds = error_bounds(op_, expected, output);
    const DTypeInfo& d = info(info(out.dtype).part);
    const Array<Bits> got = read_parts(out);
    double largest = 0;
    for (std::size_t k = 0; exact.size() == bounds.size() && k < bounds.size(); ++k) {
      const double share = std::fabs(d.real_of(got[static_cast<Int>(k)]) - exact[k]) / bounds[k];
      if (share <= 1) largest = std::max(largest, share);
    }
    return largest;
  }

  void add(const Case& c, const std::vector<Value>& arguments, const Expectation& expected, std::size_t output,
           const Tensor& out, Data data) {
    const Accuracy::Measure measure = accuracy(op_, static_cast<int>(output), expected.outs[output].dtype).measure;
    if (measure != Accuracy::Measure::ulp && measure != Accuracy::Measure::dot) return;
    Reaction reaction;
    reaction.outs = expected.outs;
    reaction.outs[output] = out;
    const double judged = judge(op_, arguments, expected, reaction).distance;
    const double distance = judged > 1 ? judged : needed(expected, output, out);
    Need& need = rows[{output, expected.outs[output].dtype, size_class(expected.answer.terms)}];
    if (distance > need.largest || need.of.empty())
      need = {distance, fmt::format("{} {}", to_text(c.id), name_of(data))};
  }

  const Operator& op_;
};

}  // namespace

int tightness(const Corpus& corpus, std::string_view pattern, std::size_t every, const std::string& known_file) {
  constexpr double loose = 4;  // times what is needed
  std::set<std::string> known = read_case_list(known_file, "known");
  int wrong = 0, loose_rows = 0, all_rows = 0;
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
      const bool is_known = known.erase(row) > 0, is_loose = ratio > loose, is_wrong = is_loose || need.largest > 1;
      ++all_rows, loose_rows += is_loose;
      const std::string_view verdict = need.largest > 1 ? "refused" : is_loose ? "loose" : is_known ? "not so" : "";
      wrong += is_wrong != is_known && (is_wrong || every == 1);
      fmt::print("{:<72} {:>8.3g}  {:<5} {:<8} {}\n", row, ratio, is_known ? "known" : "", verdict, need.of);
    }
  });
  for (const std::string& row : pattern.empty() && every == 1 ? known : std::set<std::string>())
    ++wrong, fmt::print(stderr, "{} is listed, but there is no such row\n", row);
  fmt::print("{} of {} bounds are more than {} times what is needed\n", loose_rows, all_rows, loose);
  return wrong;
}

}  // namespace assay::numbers
