#include <algorithm>
#include <cmath>
#include <map>

#include "proof/precision/precision.h"

namespace assay::precision {
namespace {

struct Tally {
  Int numbers = 0, vacuous_numbers = 0, infinities = 0, vacuous_infinities = 0, nans = 0, vacuous_nans = 0;

  void add(const Tally& other) {
    numbers += other.numbers, vacuous_numbers += other.vacuous_numbers, infinities += other.infinities;
    vacuous_infinities += other.vacuous_infinities, nans += other.nans, vacuous_nans += other.vacuous_nans;
  }
  bool is_loose() const {
    return vacuous_numbers * 1000 > numbers || vacuous_infinities * 50 > infinities || vacuous_nans * 50 > nans;
  }
  std::string counts() const {
    return fmt::format("{:>8} {:>6} {:>7} {:>6} {:>7} {:>6}", numbers, vacuous_numbers, infinities, vacuous_infinities,
                       nans, vacuous_nans);
  }
};

struct Row {
  Tally tally;
  double needed = 0;           // the largest distance of a recorded result, in units of its bound
  std::vector<double> caught;  // for each number, the least error that is wrong, in ulp
};

// The tensor with f(value) for each value.
template <class F>
Tensor replaced(const Tensor& tensor, F f) {
  Array<Real> values = read<Real>(tensor);
  for (Real& v : values.data) v = f(v);
  Tensor other = tensor;
  write(values, other);
  return other;
}

void look(Row& row, const Operator& op, const judge::Expectation& expected, std::size_t output) {
  const Tensor& want = expected.outs[output];
  const auto right = [&](auto f) { return judge::right_elements(op, expected, output, replaced(want, f)); };
  const auto zero = right([](Real v) { return std::copysign(Real{0}, v); }),
             twice = right([](Real v) { return 2 * v; }), opposite = right([](Real v) { return -v; });
  const Real smallest_normal = std::ldexp(Real{1}, info(want.dtype).least_exponent);
  const Buffer<Real> values = read<Real>(want).data;
  const std::vector<Buffer<Real>>& all = expected.magnitudes(op);
  const Buffer<Real>* magnitudes = output < all.size() ? &all[output] : nullptr;
  const Buffer<Real>& exact = expected.answer.unrounded[output].values;
  const auto cancels = [&](std::size_t k, Real times) {
    if (!magnitudes || magnitudes->empty() || exact.empty()) return false;
    return (*magnitudes)[k] != unbounded && std::fabs((*magnitudes)[k]) >= times * std::fabs(exact[k]);
  };
  for (std::size_t k = 0; k < values.size(); ++k) {
    const Real v = values[k];
    if (std::isnan(v)) {
      ++row.tally.nans, row.tally.vacuous_nans += zero[k];
    } else if (std::isinf(v)) {
      ++row.tally.infinities, row.tally.vacuous_infinities += zero[k] || (opposite[k] && !cancels(k, 1 + 0x1p-40));
    } else if (std::fabs(v) >= smallest_normal) {
      ++row.tally.numbers, row.tally.vacuous_numbers += zero[k] && twice[k] && !cancels(k, 8);
    }
  }
  const auto limits = judge::right_answers(op, expected, output);
  if (!limits) return;
  const Buffer<Real> lowest = read<Real>(limits->lowest).data, highest = read<Real>(limits->highest).data;
  for (std::size_t k = 0; k < values.size(); ++k)
    if (std::isfinite(values[k]) && values[k] != 0)
      row.caught.push_back(std::max(values[k] - lowest[k], highest[k] - values[k]) / ulp(want.dtype, values[k]) + 1);
}

std::string line(std::string_view op, std::string_view dtype, Row& row) {
  std::ranges::sort(row.caught);
  const auto at = [&](double share) {
    return row.caught.empty()
               ? 0
               : row.caught[static_cast<std::size_t>(share * static_cast<double>(row.caught.size() - 1))];
  };
  return fmt::format("{:<56} {:<8} {:>8.3g} {:>8.3g} {:>8.3g} {}", op, dtype, row.needed, at(0), at(0.5),
                     row.tally.counts());
}

}  // namespace

int looseness(const Selection& selection) {
  fmt::print("{:<56} {:<8} {:>8} {:>8} {:>8} {:>8} {:>6} {:>7} {:>6} {:>7} {:>6}\n", "operator", "dtype", "needed",
             "least", "middle", "numbers", "vac.", "infin.", "vac.", "NaN", "vac.");
  Tally all;
  each_operator(selection, [&](const Operator& op, auto each_case) {
    std::map<std::pair<std::size_t, DType>, Row> rows;
    each_case([&](const cases::Case& c, const judge::Expectation& expected) {
      if (c.recorded.refused || !c.recorded.has_values) return;
      for (std::size_t k = 0; k < expected.outs.size(); ++k) {
        const Tensor& want = expected.outs[k];
        if (!is_floating(want.dtype)) continue;
        Row& row = rows[{k, want.dtype}];
        look(row, op, expected, k);
        judge::Reaction reaction;
        reaction.outs = expected.outs;
        reaction.outs[k] = c.recorded.results.at(k);
        row.needed = std::max(row.needed, judge::judge(op, c.arguments, expected, reaction).distance);
      }
    });
    for (auto& [key, row] : rows) {
      fmt::print("{}\n", line(name_of_out(op, key.first), info(key.second).name, row));
      all.add(row.tally);
    }
  });
  fmt::print("{:<92}{}\n", "all", all.counts());
  return all.is_loose();
}

}  // namespace assay::precision
