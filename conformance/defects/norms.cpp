#include <algorithm>
#include <cmath>
#include <functional>
#include <span>

#include "conformance/defects/foretold.h"

// The mistakes of normalisations: (input - mean) / sqrt(variance + eps) * weight + bias, where mean and
// 1 / sqrt(variance + eps) are the second and the third result.
namespace assay::defects {
namespace {

struct Norm {
  const Operator& op;
  std::size_t eps, weight, bias;  // positions of arguments
};

std::optional<Norm> norm_of(const Operator& op) {
  const auto eps = argument_of(op, "eps"), weight = argument_of(op, "weight"), bias = argument_of(op, "bias");
  if (!eps || !weight || !bias || op.outs() != 3 || op.name.find("_norm") == std::string_view::npos)
    return std::nullopt;
  return Norm{op, *eps, *weight, *bias};
}

// The statistics with which an element is normalised.
struct Statistics {
  Real mean, divisor;
};

// A call of a normalisation: the elements of a row are normalised together. The rows of a batch normalisation are its
// channels; all other rows are contiguous.
struct Rows {
  Array<Real> input, mean, rstd;
  std::vector<Real> weight, bias;  // of each element
  std::vector<Int> row_of;         // each element
  Int each = 0, in_item = 1;       // the elements of a row, and the rows of an item of the batch
  Real eps = 0;

  Real variance(Int row) const { return std::max(1 / (rstd[row] * rstd[row]) - eps, Real{0}); }  // NaN stays
  std::span<const Real> row(Int r) const {
    return std::span(input.data).subspan(static_cast<std::size_t>(r * each), static_cast<std::size_t>(each));
  }
};

Array<Real> exact_result(const cases::HostCall& call, std::size_t output) {
  Array<Real> exact(call.expected.outs[output].sizes);
  std::ranges::copy(call.expected.answer.unrounded[output].values, exact.data.begin());
  return exact;
}

bool is_of_channels(const Norm& norm) { return norm.op.name.find("_batch_norm") != std::string_view::npos; }

// Sets the statistics of a batch normalisation to those that the call gives. Returns false if it gives none.
bool has_given_statistics(const Norm& norm, const cases::HostCall& call, Rows& rows) {
  const auto mean = argument_of(norm.op, "running_mean"), variance = argument_of(norm.op, "running_var");
  const Tensor* given_mean = mean ? std::get_if<Tensor>(&call.arguments[*mean]) : nullptr;
  const Tensor* given_variance = variance ? std::get_if<Tensor>(&call.arguments[*variance]) : nullptr;
  if (!given_mean || !given_variance) return false;
  rows.mean = read<Real>(*given_mean), rows.rstd = read<Real>(*given_variance);
  for (Real& x : rows.rstd.data) x = 1 / std::sqrt(x + rows.eps);
  return true;
}

std::optional<Rows> rows_in(const Norm& norm, const cases::HostCall& call) {
  const std::vector<Tensor>& outs = call.expected.outs;
  const auto group = argument_of(norm.op, "group");
  const bool is_of_layer = norm.op.name.find("layer_norm") != std::string_view::npos,
             is_of_batch = is_of_channels(norm);
  if (outs.size() != 3 || (!group && !is_of_layer && !is_of_batch) || (is_of_batch && outs[0].rank() < 2) ||
      !std::holds_alternative<double>(call.arguments[norm.eps]))
    return std::nullopt;
  for (std::size_t k = 0; k < outs.size(); ++k)
    if (!is_floating(outs[k].dtype) ||
        static_cast<Int>(call.expected.answer.unrounded.at(k).values.size()) != outs[k].count())
      return std::nullopt;
  Rows rows{read<Real>(std::get<Tensor>(call.arguments[0])), exact_result(call, 1), exact_result(call, 2), {}, {}, {}};
  rows.eps = std::get<double>(call.arguments[norm.eps]);
  if (is_of_batch && rows.rstd.count() == 0 && !has_given_statistics(norm, call, rows)) return std::nullopt;
  const Int number = rows.rstd.count();
  if (number == 0 || outs[0].count() % number != 0) return std::nullopt;
  rows.each = outs[0].count() / number;
  Int in_channel = 1;  // contiguous elements of a channel
  for (int d = 2; is_of_batch && d < outs[0].rank(); ++d) in_channel *= outs[0].sizes[d];
  for (Int k = 0; k < outs[0].count(); ++k)
    rows.row_of.push_back(is_of_batch ? k / in_channel % number : k / rows.each);
  if (group) rows.in_item = std::get<Int>(call.arguments[*group]);
  const auto of_each = [&](const Value& parameter, Real otherwise) {
    std::vector<Real> all(rows.input.data.size(), otherwise);
    const Tensor* t = std::get_if<Tensor>(&parameter);
    if (!t) return all;
    const Array<Real> numbers = read<Real>(*t);
    const Int of_group = numbers.count() / rows.in_item, along = group ? rows.each / std::max<Int>(of_group, 1) : 1;
    for (Int k = 0; k < rows.input.count(); ++k) {
      const Int row = rows.row_of[static_cast<std::size_t>(k)], in_row = k % rows.each;
      const Int at = is_of_layer ? in_row : is_of_batch ? row : row % rows.in_item * of_group + in_row / along;
      all[static_cast<std::size_t>(k)] = numbers[at];
    }
    return all;
  };
  rows.weight = of_each(call.arguments[norm.weight], 1), rows.bias = of_each(call.arguments[norm.bias], 0);
  return rows;
}

// A kernel that normalises elements with other statistics. The other results are right, or are these statistics.
using StatisticsOf = std::function<Statistics(const Rows& rows, Int row, Int at)>;  // of the element `at` of a row
void normalising(std::vector<Hypothesis>& found, const Norm& norm, const char* does, StatisticsOf statistics_of) {
  for (const bool are_told : {true, false})
    found.push_back(answering(norm.op, does, [=](const cases::HostCall& call) -> std::optional<judge::Expectation> {
      auto rows = rows_in(norm, call);
      if (!rows) return std::nullopt;
      Array<Real> result(call.expected.outs[0].sizes), mean = rows->mean, rstd = rows->rstd;
      for (Int r = 0; r < rstd.count(); ++r) {
        const Statistics first = statistics_of(*rows, r, 0);
        mean[r] = first.mean, rstd[r] = 1 / first.divisor;
      }
      for (Int at = 0; at < result.count(); ++at) {
        const auto of = static_cast<std::size_t>(at);
        const Statistics now = statistics_of(*rows, rows->row_of[of], at % rows->each);
        result[at] = (rows->input[at] - now.mean) / now.divisor * rows->weight[of] + rows->bias[of];
      }
      std::vector<Tensor> outs = call.expected.outs;
      write(result, outs[0]);
      if (are_told && outs[2].count() > 0) write(mean, outs[1]), write(rstd, outs[2]);
      return with_results(call.expected, std::move(outs));
    }));
}

Statistics of_last_dimension(const Rows& rows, Int row, Int at) {
  const Int length = std::max<Int>(rows.input.sizes[rows.input.sizes.size() - 1], 1);
  const auto some = rows.row(row).subspan(static_cast<std::size_t>(at / length * length),
                                          static_cast<std::size_t>(std::min(length, rows.each)));
  const auto n = static_cast<Real>(some.size());
  Real mean = 0, variance = 0;
  for (const Real x : some) mean += x / n;
  for (const Real x : some) variance += (x - mean) * (x - mean) / n;
  return {mean, std::sqrt(variance + rows.eps)};
}

// A kernel that takes the variance from a difference of means of squares. The variance that it has is known up to the
// rounding of the squares. An answer that one of the other mistakes foretells does not show it.
Hypothesis cancelling(const Norm& norm, std::vector<Hypothesis> others) {
  const auto squares = [](const cases::HostCall& call) {
    Real most = 0;
    for (const Real x : magnitudes(read<Real>(std::get<Tensor>(call.arguments[0]))).data) most = std::max(most, x * x);
    return most;
  };
  const auto is_meant = [](const cases::HostCall& call) {
    return call.valid() && call.expected.outs.size() >= 3 && call.expected.outs[2].count() > 0 &&
           is_floating(call.expected.outs[2].dtype) && is_floating(std::get<Tensor>(call.arguments[0]).dtype);
  };
  const auto explains = [=](const Answered& a) {
    if (!is_meant(a.call) || a.refused() || a.outs.size() != a.call.expected.outs.size()) return false;
    const Tensor &want = a.call.expected.outs[2], &out = a.outs[2];
    const Real* e = std::get_if<double>(&a.call.arguments[norm.eps]);
    if (!e || out.sizes != want.sizes || out.dtype != want.dtype) return false;
    const Array<Real> got = read<Real>(out), right = read<Real>(want);
    const Real most = 16 * ulp(DType::float32, squares(a.call));
    bool any = false;
    for (Int k = 0; k < got.count(); ++k) {
      if (got[k] == right[k] || !std::isfinite(right[k])) continue;
      any = any || std::fabs(got[k] - right[k]) > 1e-6 * right[k];
      if (!(got[k] > 0) || std::fabs(1 / (got[k] * got[k]) - 1 / (right[k] * right[k])) > most) return false;
    }
    return any && std::ranges::none_of(others, [&](const Hypothesis& h) { return h.explains(a); });
  };
  return {"compute a variance as E[x^2] - E[x]^2, which cancels", About::computation, false, true, is_meant, explains};
}

}  // namespace

std::vector<Hypothesis> mistakes_of_norms(const Operator& op) {
  std::vector<Hypothesis> found;
  const auto norm = norm_of(op);
  if (!norm) return found;
  normalising(found, *norm, "add eps outside of the square root", [](const Rows& rows, Int r, Int) {
    return Statistics{rows.mean[r], std::sqrt(rows.variance(r)) + rows.eps};
  });
  normalising(found, *norm, "divide by the variance in place of its root", [](const Rows& rows, Int r, Int) {
    return Statistics{rows.mean[r], rows.variance(r) + rows.eps};
  });
  normalising(found, *norm, "divide the variance by n - 1 in place of n", [](const Rows& rows, Int r, Int) {
    const auto n = static_cast<Real>(rows.each);
    return Statistics{rows.mean[r], std::sqrt(rows.variance(r) * n / (n - 1) + rows.eps)};
  });
  if (!is_of_channels(*norm))
    normalising(found, *norm, "use the mean and the variance of the first item for the whole batch",
                [](const Rows& rows, Int r, Int) {
                  return Statistics{rows.mean[r % rows.in_item], 1 / rows.rstd[r % rows.in_item]};
                });
  if (!argument_of(op, "group") && !is_of_channels(*norm))
    normalising(found, *norm, "take mean and variance over the last dimension alone", of_last_dimension);
  for (Hypothesis& h : found) h.about = About::computation;
  found.push_back(cancelling(*norm, found));
  return found;
}

}  // namespace assay::defects
