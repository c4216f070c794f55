#include "conformance/judge/choice.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>

#include "reference/families.h"
#include "reference/fault.h"

namespace assay {
namespace {

bool has(const Operator& op, std::string_view name) {
  return std::ranges::find(op.arguments, name, &SchemaArgument::name) != op.arguments.end();
}

const Value& argument(const Operator& op, std::span<const Value> arguments, std::string_view name) {
  const auto at = std::ranges::find(op.arguments, name, &SchemaArgument::name);
  return arguments[static_cast<std::size_t>(at - op.arguments.begin())];
}

// The bits of a tensor's elements, with one bit pattern for every NaN, so that equal bits mean equal values.
Array<Bits> keys(const Tensor& tensor) {
  Array<Bits> bits = read_parts(tensor);
  const DTypeInfo& d = info(tensor.dtype);
  if (d.kind != Kind::floating) return bits;
  for (Bits& b : bits.data)
    if (std::isnan(d.real_of(b))) b = ~Bits{0};
  return bits;
}

// The same bits with 0 for -0: equal bits mean a tie.
Array<Bits> ranks(const Tensor& tensor) {
  Array<Bits> bits = keys(tensor);
  const DTypeInfo& d = info(tensor.dtype);
  if (d.kind != Kind::floating) return bits;
  for (Bits& b : bits.data)
    if (d.real_of(b) == 0) b = 0;
  return bits;
}

struct TopRow {
  std::vector<Bits> want, got, values, source;  // `want` and `got` as ranks
  std::vector<Int> indices;
};

std::string topk_row(TopRow row, bool sorted, bool stable) {
  const auto n = static_cast<Int>(row.source.size());
  std::vector<bool> used(row.source.size());
  for (std::size_t k = 0; k < row.indices.size(); ++k) {
    const Int at = row.indices[k];
    if (at < 0 || at >= n) return text("index ", at, " is outside the dimension of size ", n);
    const auto place = static_cast<std::size_t>(at);
    if (used[place]) return text("index ", at, " is given twice");
    if (row.source[place] != row.values[k]) return text("the element at index ", at, " is not the value given with it");
    if (stable && k > 0 && row.got[k] == row.got[k - 1] && at < row.indices[k - 1])
      return text("index ", at, " comes behind ", row.indices[k - 1], " of an equal element");
    used[place] = true;
  }
  if (!sorted) std::ranges::sort(row.want), std::ranges::sort(row.got);
  return row.want == row.got ? "" : "the values are not the k first in order";
}

bool is_sorted(const Operator& op, std::span<const Value> arguments) {
  return !has(op, "sorted") || std::get<bool>(argument(op, arguments, "sorted"));
}

bool is_stable(const Operator& op, std::span<const Value> arguments) {
  const bool* stable = has(op, "stable") ? std::get_if<bool>(&argument(op, arguments, "stable")) : nullptr;
  return stable && *stable;
}

// Accepts any order of equal elements, but their own order with stable=True; with sorted=False any order of all
// elements.
std::string topk(const Operator& op, std::span<const Value> arguments, std::span<const Tensor> expected,
                 std::span<const Tensor> got) {
  const Tensor& self = std::get<Tensor>(argument(op, arguments, "self"));
  const bool sorted = is_sorted(op, arguments), stable = is_stable(op, arguments);
  const Dims dims =
      self.rank() == 0 ? Dims{} : Dims{wrap_dim(std::get<Int>(argument(op, arguments, "dim")), self.rank())};
  const Dims result_dims = has(op, "keepdim") ? Dims{} : dims;  // one element for each row, or as many as k asks for
  const auto rows_of = [](const auto& array, const Dims& along) {
    std::vector<std::vector<std::decay_t<decltype(array.data[0])>>> rows;
    families::each_row(array, along, [&](auto row, Int) { rows.emplace_back(row.begin(), row.end()); });
    return rows;
  };
  const auto want = rows_of(ranks(expected[0]), result_dims), first = rows_of(ranks(got[0]), result_dims),
             values = rows_of(keys(got[0]), result_dims), source = rows_of(keys(self), dims);
  const auto indices = rows_of(read<Int>(got[1]), result_dims);
  for (std::size_t r = 0; r < source.size(); ++r)
    if (std::string wrong = topk_row({want[r], first[r], values[r], source[r], indices[r]}, sorted, stable);
        !wrong.empty())
      return text(wrong, ", in row ", r);
  return {};
}

// The probability that right numbers fail one of the tests below: with three tests of each of 100,000 cases, less than
// one run in a million has a false alarm.
constexpr Real false_alarm = 1e-12;

// The probability that n numbers are equal that are drawn from 2^precision equally likely numbers is below this limit.
std::string all_equal(const Buffer<Real>& drawn, int precision) {
  if (drawn.empty() || static_cast<Real>(drawn.size() - 1) * precision < -std::log2(false_alarm)) return {};
  const bool equal = std::ranges::all_of(drawn, [&](Real x) { return x == drawn[0]; });
  return equal ? text("all ", drawn.size(), " numbers are ", drawn[0]) : "";
}

Real mean(const Buffer<Real>& drawn) {
  return std::accumulate(drawn.begin(), drawn.end(), Real{0}) / static_cast<Real>(drawn.size());
}

// The mean of n numbers in [0, 1] differs from its expectation by more than this with at most the probability of a
// false alarm (Hoeffding 1963).
std::string far_mean(const Buffer<Real>& drawn, Real expected) {
  if (drawn.empty()) return {};
  const Real spread = std::sqrt(std::log(2 / false_alarm) / (2 * static_cast<Real>(drawn.size())));
  if (std::fabs(mean(drawn) - expected) <= spread) return {};
  return text("the mean of ", drawn.size(), " numbers is ", mean(drawn), ", but should be near ", expected);
}

// The numbers of a tensor; both parts of complex elements.
Buffer<Real> drawn_numbers(const Tensor& got) {
  const DTypeInfo& part = info(info(got.dtype).part);
  Buffer<Real> numbers;
  for (const Bits b : read_parts(got).data) numbers.push_back(part.real_of(b));
  return numbers;
}

int precision(DType dtype) { return info(info(dtype).part).precision; }

// Accepts numbers in [0, 1) that pass for uniformly distributed.
std::string uniform(const Tensor& got) {
  const Buffer<Real> drawn = drawn_numbers(got);
  for (const Real x : drawn)
    if (!(x >= 0 && x < 1)) return text(x, " is not in [0, 1)");
  const std::string equal = all_equal(drawn, precision(got.dtype));
  return equal.empty() ? far_mean(drawn, 0.5) : equal;
}

// Accepts numbers that pass for normally distributed. The likeliest numbers of a normal distribution come less than
// four times as often as those of a uniform one.
std::string normal(const Tensor& got) {
  constexpr Real deviations = 7.2;  // a normal number lies further from 0 with the probability of a false alarm
  Buffer<Real> drawn = drawn_numbers(got);
  if (is_complex(got.dtype))
    for (Real& x : drawn) x *= std::sqrt(Real{2});  // scaled to variance 1
  for (const Real x : drawn)
    if (!std::isfinite(x)) return text(x, " is no number");
  if (std::string equal = all_equal(drawn, precision(got.dtype) - 2); !equal.empty()) return equal;
  if (drawn.empty() || std::fabs(mean(drawn)) * std::sqrt(static_cast<Real>(drawn.size())) <= deviations) return {};
  return text("the mean of ", drawn.size(), " numbers is ", mean(drawn), ", but should be near 0");
}

// Accepts a permutation of the input. The identity is rejected where it is unlikely: it is one of n! permutations.
std::string permutation(const Tensor& expected, const Tensor& got) {
  Buffer<Real> want = read<Real>(expected).data, numbers = read<Real>(got).data;
  std::ranges::sort(want), std::ranges::sort(numbers);
  for (std::size_t k = 0; k < numbers.size(); ++k)
    if (numbers[k] != want[k]) return text("in order, number ", k, " is ", numbers[k], ", but must be ", want[k]);
  const bool moved =
      read<Real>(got).data != want || std::lgamma(static_cast<Real>(want.size()) + 1) < -std::log(false_alarm);
  return moved ? "" : text("the ", want.size(), " numbers are in order");
}

bool is_near(DType part, Real want, Real got) {
  return want == got || (std::isnan(want) && std::isnan(got)) || round_to(part, want) == got ||
         std::fabs(want - got) <= 1.5 * ulp(part, want);
}
bool is_near(DType part, const Complex& want, const Complex& got) {
  return is_near(part, want.real(), got.real()) && is_near(part, want.imag(), got.imag());
}

template <class T>
std::string wrongly_dropped(const Tensor& input, const Tensor& got, const Buffer<Real>& mask,
                            std::optional<Real> scale) {
  const Array<T> x = read<T>(input), y = read<T>(got);
  for (std::size_t k = 0; k < mask.size(); ++k) {
    const T want = scale ? x.data[k] * T(mask[k]) * T(*scale) : x.data[k];
    if (!is_near(info(got.dtype).part, want, y.data[k]))
      return text("element ", k, " is ", y.data[k], ", but its mask makes it ", want);
  }
  return {};
}

// Accepts any mask; all true without training or with p = 0, and all false with p = 1. Each element follows its mask
// within two roundings: of 1 / (1 - p) and of the product.
std::string dropout(const Operator& op, std::span<const Value> arguments, std::span<const Tensor> got) {
  const Tensor& input = std::get<Tensor>(argument(op, arguments, "input"));
  const bool* train = std::get_if<bool>(&argument(op, arguments, "train"));
  const double p = train && !*train ? 0 : std::get<double>(argument(op, arguments, "p"));
  const Buffer<Real> mask = read<Real>(got[1]).data;
  for (std::size_t k = 0; k < mask.size(); ++k)
    if ((p == 0 && mask[k] == 0) || (p == 1 && mask[k] != 0))
      return text("element ", k, " has mask ", mask[k], ", but p is ", p);
  std::optional<Real> scale;  // empty if nothing is dropped
  if (!train || *train) scale = p == 1 ? 0 : 1 / (1 - p);
  const bool complex = is_complex(input.dtype);
  const std::string wrong = complex ? wrongly_dropped<Complex>(input, got[0], mask, scale)
                                    : wrongly_dropped<Real>(input, got[0], mask, scale);
  return wrong.empty() ? far_mean(mask, 1 - p) : wrong;
}

}  // namespace

bool is_drawn(const Operator& op) {
  constexpr std::array drawn{"uniform", "normal", "permutation", "dropout"};
  return std::ranges::find(drawn, op.choice) != drawn.end();
}

bool has_one_answer(const Operator& op, std::span<const Value> arguments) {
  if (op.choice.empty()) return true;
  if (op.choice != "topk" || !is_sorted(op, arguments)) return false;
  if (is_stable(op, arguments)) return true;
  Buffer<Bits> all = ranks(std::get<Tensor>(argument(op, arguments, "self"))).data;
  std::ranges::sort(all);
  return std::ranges::adjacent_find(all) == all.end();
}

std::string choice_fault(const Operator& op, std::span<const Value> arguments, std::span<const Tensor> expected,
                         std::span<const Tensor> got) {
  if (op.choice == "topk") return topk(op, arguments, expected, got);
  if (op.choice == "uniform") return uniform(got[0]);
  if (op.choice == "normal") return normal(got[0]);
  if (op.choice == "permutation") return permutation(expected[0], got[0]);
  if (op.choice == "dropout") return dropout(op, arguments, got);
  return text("the spec names the choice ", op.choice, ", of which the judge knows nothing");
}

}  // namespace assay
