#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <random>
#include <ranges>

#include "proof/precision/evaluate.h"
#include "proof/precision/precision.h"

namespace assay::precision {
namespace {

constexpr double loose = 4;  // times what is needed

// The ways in which a kernel may compute sums, functions and more, in the precision of the results.
constexpr std::array orders = {Order::rising,     Order::falling,       Order::halves,          Order::blocks,
                               Order::four_lanes, Order::sixteen_lanes, Order::sixty_four_lanes};
constexpr std::array functions = {Functions::nearest, Functions::above, Functions::below, Functions::either};
constexpr std::array manners = {
    Manner{},
    Manner{.order = Order::falling},
    Manner{.order = Order::halves},
    Manner{.order = Order::blocks},
    Manner{.order = Order::four_lanes},
    Manner{.order = Order::sixteen_lanes},
    Manner{.order = Order::sixty_four_lanes},
    Manner{.functions = Functions::above},
    Manner{.functions = Functions::below},
    Manner{.functions = Functions::either},
    Manner{.fused = true},
    Manner{.running = true},
    Manner{.apart = true},
};

// The manner without the choices that a formula does not use. Functions of half types are computed in float32 and
// rounded.
Manner noticed(Manner manner, const Met& met) {
  if (!met.sums) manner.order = Order::rising;
  const bool is_half = manner.precision == Precision::float16 || manner.precision == Precision::bfloat16;
  if (!met.functions || is_half) manner.functions = Functions::nearest;
  manner.fused &= met.products, manner.running &= met.means, manner.apart &= met.differences;
  return manner;
}

// Values in place of the recorded ones, which tend to be of one size: of many sizes; all positive; with sums that
// cancel; or all the same, so that their roundings do not cancel.
enum class Data : std::uint8_t { recorded, log_uniform, positive, alternating, constant };
constexpr std::array harder = {Data::log_uniform, Data::positive, Data::alternating, Data::constant};

Real draw(Data data, Int k, std::mt19937_64& bits) {
  const auto uniform = [&] { return std::ldexp(static_cast<Real>(bits() >> 11), -53); };
  if (data == Data::positive || data == Data::constant) return 0.5 + uniform();
  if (data == Data::alternating) return (k % 2 == 0 ? 1 : -1) * (1 + uniform() / 16);
  return (uniform() < 0.5 ? 1 : -1) * std::exp2(16 * uniform() - 8);
}

// The floating tensors, and complex ones, among the inputs of a call.
std::vector<Tensor*> floating_tensors(const Operator& op, std::vector<Value>& arguments) {
  std::vector<Tensor*> found;
  const auto add = [&](Tensor& tensor) {
    if (is_floating(info(tensor.dtype).part) && tensor.count() > 0) found.push_back(&tensor);
  };
  for (std::size_t i = 0; i + op.outs() < arguments.size(); ++i) {
    if (Tensor* tensor = std::get_if<Tensor>(&arguments[i])) add(*tensor);
    if (Tensors* list = std::get_if<Tensors>(&arguments[i]))
      for (auto& tensor : *list)
        if (tensor) add(*tensor);
  }
  return found;
}

// The call with drawn numbers in its floating and complex tensors.
std::vector<Value> with_data(const Operator& op, std::vector<Value> arguments, Data data, std::mt19937_64& bits) {
  for (Tensor* tensor : floating_tensors(op, arguments)) {
    const DTypeInfo& d = info(info(tensor->dtype).part);
    Array<Bits> numbers = read_parts(*tensor);
    for (Int k = 0; k < numbers.count(); ++k)
      numbers[k] = data == Data::constant && k > 0 ? numbers[0] : d.bits_of_real(draw(data, k, bits));
    write_parts(numbers, *tensor);
  }
  return arguments;
}

// A step of the search for a call that needs more of a bound: another number in one place.
Bits changed(const Array<Bits>& numbers, Int k, const DTypeInfo& d, std::mt19937_64& bits) {
  const Real x = d.real_of(numbers[k]), unit = std::ldexp(Real{1}, -d.precision);
  switch (bits() % 7) {
    case 0:
      return d.bits_of_real(draw(Data::log_uniform, k, bits));
    case 1:  // about half an ulp of 1
      return d.bits_of_real((1 + draw(Data::positive, k, bits)) * unit * (bits() % 2 == 0 ? 1 : -1));
    case 2:
      return d.bits_of_real(bits() % 2 == 0 ? 2 * x : x / 2);
    case 3:
      return d.bits_of_real(-x);
    case 4:
      return numbers[static_cast<Int>(bits() % static_cast<Bits>(numbers.count()))];
    case 5:
      return d.bits_of_real(0);
    default:  // a few ulp
      return d.bits_of_real(x * (1 + (draw(Data::positive, k, bits) - 1) * 32 * unit));
  }
}

// The number of terms of a result, as a class.
std::string_view size_class(Int terms) { return terms == 1 ? "1" : terms <= 16 ? "16" : terms <= 256 ? "256" : "more"; }

// A call that needs much of a bound, made in a manner.
struct Start {
  double share;
  std::string name;
  std::vector<Value> arguments;
  Manner manner;
};

// How much of their bound the results of one dtype and size need.
struct Need {
  double largest = 0;         // the largest error, in units of the bound
  std::string of;             // its case
  bool rounds = false;        // whether an exact result cannot be represented in the dtype
  std::vector<Start> starts;  // the calls of different cases that need most

  bool is_loose() const { return largest * loose < 1 && (largest > 0 || rounds); }
};

std::string_view name_of(Data data) {
  constexpr std::string_view names[] = {"recorded", "log-uniform", "positive", "alternating", "constant"};
  return names[static_cast<std::size_t>(data)];
}

// The precision in which a kernel may make results of a floating dtype; half types may also be stored only.
Precision precision_of(DType part) {
  using enum DType;
  return part == float16    ? Precision::float16
         : part == bfloat16 ? Precision::bfloat16
         : part == float64  ? Precision::float64
                            : Precision::float32;
}

Real unit_of(Precision precision) {
  using enum Precision;
  return std::ldexp(1, precision == float16 ? -11 : precision == bfloat16 ? -8 : precision == float32 ? -24 : -53);
}

class Needs {
 public:
  Needs(const Operator& op) : op_(op) {}

  void look(const Case& c, const std::vector<Value>& arguments, const Expectation& expected, Data data) {
    const Evaluation wide = evaluate(op_.name, arguments, {});
    if (wide.outcome != Outcome::ok) return;
    const Question question{arguments, expected, wide, to_text(c.id),
                            fmt::format("{} {}", to_text(c.id), name_of(data))};
    for (const Precision precision :
         {Precision::float16, Precision::bfloat16, Precision::float32, Precision::float64}) {
      const auto judged = [&](std::size_t k) { return is_made_in(precision, expected, k); };
      if (std::ranges::none_of(std::views::iota(std::size_t{0}, expected.outs.size()), judged)) continue;
      for (Manner manner : manners) {
        manner.precision = precision;
        if (noticed(manner, wide.met) != manner) continue;
        const Evaluation made = evaluate(op_.name, arguments, manner);
        if (made.outcome != Outcome::ok) continue;
        const std::vector<Tensor> outs = out_tensors(op_, made.arguments);
        for (std::size_t k = 0; k < outs.size(); ++k)
          if (judged(k)) add(question, k, outs[k], manner);
      }
    }
    if (data != Data::recorded || c.recorded.refused || !c.recorded.has_values) return;
    for (std::size_t k = 0; k < expected.outs.size(); ++k)
      if (is_judged(expected, k)) add_right(question, k, c.recorded.results.at(k), {});
  }

  // Starts at the calls that need most of a bound that is loose: a few of their numbers or the manner change at random,
  // and a change that needs no less stays. Ends when the bound is not loose any more.
  void search() {
    for (auto& [row, need] : rows) {
      std::mt19937_64 bits(rows.size());
      std::vector<Start> starts;
      std::swap(starts, need.starts);
      for (Start& start : starts)
        for (Int work = 0; work < most_work && need.is_loose();) work += step(row, need, start, bits);
    }
  }

  using Row = std::tuple<std::size_t, DType, std::string_view>;  // out, dtype and size
  std::map<Row, Need> rows;

 private:
  struct Question {
    const std::vector<Value>& arguments;
    const Expectation& expected;
    const Evaluation& exact;
    std::string id, name;  // the name of the case without and with its data
  };

  // Whether a result has a bound and is not stored in another dtype.
  bool is_judged(const Expectation& expected, std::size_t output) const {
    const DType dtype = expected.outs[output].dtype;
    const Accuracy::Measure measure = row(output, dtype).measure;
    return is_floating(info(dtype).part) && expected.answer.unrounded[output].dtype == dtype &&
           (measure == Accuracy::Measure::ulp || measure == Accuracy::Measure::dot);
  }
  // Half types are computed in float32, and also in the half type if the row allows it.
  bool is_made_in(Precision precision, const Expectation& expected, std::size_t output) const {
    if (!is_judged(expected, output)) return false;
    const DType dtype = expected.outs[output].dtype, part = info(dtype).part;
    return precision == precision_of(compute_dtype(part)) ||
           (row(output, dtype).half_partials && precision == precision_of(part));
  }
  Accuracy row(std::size_t output, DType dtype) const { return accuracy(op_, static_cast<int>(output), dtype); }

  static Row row_of(const Expectation& expected, std::size_t output) {
    return {output, expected.outs[output].dtype, size_class(expected.answer.unrounded[output].terms)};
  }
  Need& need_of(const Question& q, std::size_t output) { return rows[row_of(q.expected, output)]; }

  // The largest share of its bound by which a right number is off from the reference or from the exact result. This
  // counts correctly rounded numbers, too, which the judge takes for no error. 0 where no number has a bound.
  double share_of(const Question& q, std::size_t output, const Tensor& out, bool& rounds) const {
    const Buffer<Real>& reference = q.expected.answer.unrounded[output].values;
    const std::vector<Pair>& exact = q.exact.unrounded[output];
    const std::vector<Real> bounds = error_bounds(op_, q.expected, output);
    const DTypeInfo& d = info(info(out.dtype).part);
    const Array<Bits> got = read_parts(out);
    double largest = 0;
    if (reference.size() != bounds.size() || exact.size() != bounds.size()) return largest;
    for (std::size_t k = 0; k < bounds.size(); ++k) {
      const double x = d.real_of(got[static_cast<Int>(k)]), high = exact[k].high;
      if (!std::isfinite(x) || !std::isfinite(high)) continue;
      rounds |= exact[k].low != 0 || d.real_of(d.bits_of_real(high)) != high;
      const double off = std::max(std::fabs(x - reference[k]), std::fabs(x - high - exact[k].low));
      const double share = off / bounds[k];
      if (std::fabs(x - reference[k]) <= bounds[k] && share > largest) largest = share;
    }
    return largest;
  }

  void add_right(const Question& q, std::size_t output, const Tensor& out, const Manner& manner) {
    if (out.count() == 0 || q.exact.unrounded[output].size() != q.expected.answer.unrounded[output].values.size())
      return;
    Need& need = need_of(q, output);
    raise(need, share_of(q, output, out, need.rounds), q, manner);
  }

  void add(const Question& q, std::size_t output, const Tensor& out, const Manner& manner) {
    add_right(q, output, out, manner);
    Reaction reaction;
    reaction.outs = q.expected.outs;
    reaction.outs[output] = out;
    const double judged = judge(op_, q.arguments, q.expected, reaction).distance;
    if (judged > 1) raise(need_of(q, output), judged, q, manner);
  }

  static void raise(Need& need, double share, const Question& q, const Manner& manner) {
    if (share > need.largest || need.of.empty()) need.largest = share, need.of = q.name;
    std::vector<Start>& starts = need.starts;
    const auto same = std::ranges::find(starts, q.id, &Start::name);
    if (same != starts.end() ? share <= same->share : starts.size() == most_starts && share <= starts.back().share)
      return;
    if (same != starts.end())
      *same = {share, q.id, q.arguments, manner};
    else if (starts.size() < most_starts)
      starts.push_back({share, q.id, q.arguments, manner});
    else
      starts.back() = {share, q.id, q.arguments, manner};
    std::ranges::stable_sort(starts, std::greater(), &Start::share);
  }

  // Makes a step of the search, and returns its work.
  Int step(const Row& row, Need& need, Start& from, std::mt19937_64& bits) {
    const std::size_t output = std::get<0>(row);
    Start to = from;
    change(to, bits);
    const Expectation expected = expect(op_, to.arguments);
    if (expected.answer.outcome != Outcome::ok || row_of(expected, output) != row) return 1000;
    const Unrounded& result = expected.answer.unrounded[output];
    const Int work = 1000 + static_cast<Int>(result.values.size()) * result.terms;
    const Evaluation wide = evaluate(op_.name, to.arguments, {}),
                     made = evaluate(op_.name, to.arguments, noticed(to.manner, wide.met));
    if (wide.outcome != Outcome::ok || made.outcome != Outcome::ok) return work;
    const Question question{to.arguments, expected, wide, {}, from.name + " searched"};
    to.share = share_of(question, output, out_tensors(op_, made.arguments)[output], need.rounds);
    if (to.share > 1 && result.terms > 16) return work;  // roundings that are sought are not independent
    if (to.share > need.largest) need.largest = to.share, need.of = question.name;
    if (to.share >= from.share) from = std::move(to);
    return work;
  }

  void change(Start& start, std::mt19937_64& bits) const {
    const std::vector<Tensor*> tensors = floating_tensors(op_, start.arguments);
    std::vector<Value*> scalars;
    for (std::size_t i = 0; i + op_.outs() < start.arguments.size(); ++i)
      if (const std::string_view type = op_.arguments[i].type; type == "Scalar" || type == "float")
        scalars.push_back(&start.arguments[i]);
    if (!scalars.empty() && bits() % 8 == 0) {
      *scalars[bits() % scalars.size()] = draw(Data::positive, 0, bits) * (bits() % 2 == 0 ? 2 : -2);
      return;
    }
    if (tensors.empty() || bits() % 8 == 0) {
      Manner& manner = start.manner;
      manner.order = orders[bits() % orders.size()];
      manner.functions = functions[bits() % functions.size()];
      manner.fused = bits() % 2 == 0, manner.running = bits() % 2 == 0, manner.apart = bits() % 2 == 0;
      return;
    }
    Tensor& tensor = *tensors[bits() % tensors.size()];
    const DTypeInfo& d = info(info(tensor.dtype).part);
    Array<Bits> numbers = read_parts(tensor);
    const auto count = static_cast<Bits>(numbers.count());
    if (bits() % 16 == 0) {  // a few are so large that the others are lost beside them
      const Real unit = unit_of(start.manner.precision);
      for (Bits& number : numbers.data)
        number = d.bits_of_real(bits() % 16 == 0 ? 1 : (draw(Data::positive, 0, bits) + 0.5) / 2 * unit);
      return write_parts(numbers, tensor);
    }
    for (Bits left = bits() % 2 == 0 ? 1 : 1 + bits() % std::min<Bits>(count, 8); left > 0; --left) {
      const auto k = static_cast<Int>(bits() % count);
      numbers[k] = changed(numbers, k, d, bits);
    }
    write_parts(numbers, tensor);
  }

  static constexpr std::size_t most_starts = 3;
  static constexpr Int most_work = 3'000'000;

  const Operator& op_;
};

}  // namespace

int tightness(const Selection& selection) {
  KnownRows known("known_loose.txt", selection);
  int loose_rows = 0, exact_rows = 0, all_rows = 0;
  each_operator(selection, [&](const Operator& op, auto each_case) {
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
    needs.search();
    for (const auto& [key, need] : needs.rows) {
      const auto& [output, dtype, size] = key;
      const std::string row = fmt::format("{}:{}:{}:{}", op.name, output, info(dtype).name, size);
      const bool is_exact = need.largest == 0 && !need.rounds, is_loose = need.is_loose();
      const std::string_view found = need.largest > 1 ? "refused" : is_loose ? "loose" : is_exact ? "exact" : "";
      const bool is_known = known.is_known(row, is_loose || need.largest > 1, found);
      (is_exact ? exact_rows : all_rows) += 1, loose_rows += is_loose;
      fmt::print("{:<72} {:>8.3g}  {:<5} {:<8} {}\n", row, 1 / need.largest, is_known ? "known" : "", found, need.of);
    }
  });
  fmt::print("loose {} of {}: more than {} times what is needed; {} more are of results that are never rounded\n",
             loose_rows, all_rows, loose, exact_rows);
  return known.count_wrong();
}

}  // namespace assay::precision
