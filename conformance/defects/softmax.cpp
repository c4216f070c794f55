#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "conformance/defects/foretold.h"
#include "conformance/defects/numbers.h"

// The mistakes of softmax and its logarithm.
namespace assay::defects {
namespace {

// Results with the errors within which they are foretold.
struct Foretold {
  Array<Real> results;
  std::vector<Real> errors;
};
// Of the rows of a call, with the dtype in which it is computed.
using OfRows = std::function<Foretold(const families::Rows&, const Array<Real>& self, DType)>;

// A softmax by another formula.
void by_rows(const Operator& op, std::string does, const OfRows& formula, std::vector<Hypothesis>& found) {
  const auto foretell = [&op, formula](DType dtype, const cases::HostCall& call) -> std::optional<Foretold> {
    const auto rows = rows_of(op, call);
    if (!rows || !is_floating(dtype)) return std::nullopt;
    return formula(*rows, read<Real>(std::get<Tensor>(call.arguments[0])), compute_dtype(dtype));
  };
  Hypothesis h = spoiling(op, std::move(does), [foretell](Tensor& out, const cases::HostCall& call) {
    const auto f = foretell(out.dtype, call);
    if (f) write(f->results, out);
    return f.has_value();
  });
  h.explains = [explains = h.explains, foretell](const Answered& a) {
    std::vector<Tensor> outs = a.outs;
    const auto f = a.call.valid() && !outs.empty() ? foretell(outs[0].dtype, a.call) : std::nullopt;
    if (!f || f->results.sizes != outs[0].sizes) return explains(a);
    Array<Real> got = read<Real>(outs[0]);
    for (Int k = 0; k < got.count(); ++k)
      if (std::fabs(got[k] - f->results[k]) <= f->errors[static_cast<std::size_t>(k)]) got[k] = f->results[k];
    write(got, outs[0]);
    return explains({a.call, a.failure, outs});
  };
  found.push_back(std::move(h));
}

// Calls each(place) with a function from the number of an element of the row to its place, for each row.
void each_row(const families::Rows& rows, const auto& each) {
  for (Int r = 0; r < rows.number; ++r)
    each([&](Int k) { return rows.source[static_cast<std::size_t>(r * rows.length + k)]; });
}

Real largest_of(const Array<Real>& self, Int length, const auto& place) {
  Real most = -std::numeric_limits<Real>::infinity();
  for (Int k = 0; k < length; ++k) most = std::max(most, self[place(k)]);
  return most;
}

// Sums of exponentials that overflow, or that have few bits left, so that results are foretold roughly or not at all.
void overflowing_exponentials(const Operator& op, std::string does, Real (*subtracted)(Real maximum),
                              std::vector<Hypothesis>& found) {
  const bool logarithm = op.name == "aten::_log_softmax.out";
  by_rows(
      op, std::move(does),
      [logarithm, subtracted](const families::Rows& rows, Array<Real> self, DType dtype) {
        Foretold f{Array<Real>(self.sizes), std::vector<Real>(self.data.size())};
        each_row(rows, [&](const auto& place) {
          Real sum = 0;
          const Real less = subtracted(largest_of(self, rows.length, place));
          for (Int k = 0; k < rows.length; ++k) self[place(k)] -= less;
          for (Int k = 0; k < rows.length; ++k) sum = round_to(dtype, sum + round_to(dtype, std::exp(self[place(k)])));
          for (Int k = 0; k < rows.length; ++k) {
            f.results[place(k)] =
                logarithm ? self[place(k)] - std::log(sum) : round_to(dtype, std::exp(self[place(k)])) / sum;
            const Real size = std::max(std::fabs(std::log(sum)), std::fabs(self[place(k)]));
            const bool has_few_bits = sum > 0 && std::isfinite(sum) && std::fabs(std::log(sum)) > 80;
            f.errors[static_cast<std::size_t>(place(k))] = has_few_bits ? std::numeric_limits<Real>::infinity()
                                                           : logarithm && std::isfinite(size) ? 4 * ulp(dtype, size)
                                                                                              : 0;
          }
        });
        return f;
      },
      found);
}

// Exponentials of no number below a limit, so that no result is 0. NaN, as the difference of two infinities is, may
// become the limit, too.
void limited_exponentials(const Operator& op, Real least, std::vector<Hypothesis>& found) {
  for (const bool keeps_nan : {true, false})
    by_rows(
        op,
        fmt::format("take numbers below {0} in exp as {0}{1}", static_cast<double>(least),
                    keeps_nan ? "" : ", and NaN of infinities, too"),
        [=](const families::Rows& rows, const Array<Real>& self, DType dtype) {
          Foretold f{Array<Real>(self.sizes), std::vector<Real>(self.data.size())};
          each_row(rows, [&](const auto& place) {
            const Real most = largest_of(self, rows.length, place);
            const auto exponential = [&](Int k) {
              const Real x = self[place(k)] - most;
              const bool stays =
                  x >= least || std::isnan(self[place(k)]) || most == std::numeric_limits<Real>::infinity();
              return std::exp(stays || (keeps_nan && std::isnan(x)) ? x : least);
            };
            Real sum = 0;
            for (Int k = 0; k < rows.length; ++k) sum += exponential(k);
            for (Int k = 0; k < rows.length; ++k) {
              const Real result = exponential(k) / sum;
              f.results[place(k)] = result;
              f.errors[static_cast<std::size_t>(place(k))] = 4 * ulp(dtype, std::isfinite(result) ? result : 0);
            }
          });
          return f;
        },
        found);
}

// The logarithm of a rounded softmax, which loses small numbers.
void logarithm_of_softmax(const Operator& op, std::vector<Hypothesis>& found) {
  if (op.name != "aten::_log_softmax.out") return;
  const auto of = [](Real x, DType dtype) {
    return std::log(round_to(dtype == DType::float64 ? dtype : DType::float32, std::exp(x)));
  };
  const auto differs = [of](const cases::HostCall& call) {
    if (!call.valid() || !is_floating(call.expected.outs[0].dtype)) return false;
    const Tensor& out = call.expected.outs[0];
    return std::ranges::any_of(read<Real>(out).data,
                               [&](Real x) { return std::isfinite(x) && std::isinf(of(x, out.dtype)); });
  };
  const auto explains = [of, differs](const Answered& a) {
    constexpr Real near = 0x1p-6;  // of numbers that were computed from few bits
    if (!differs(a.call) || a.refused() || a.outs.size() != 1 || a.outs[0].dtype != a.call.expected.outs[0].dtype ||
        a.outs[0].sizes != a.call.expected.outs[0].sizes)
      return false;
    const Array<Real> got = read<Real>(a.outs[0]), right = read<Real>(a.call.expected.outs[0]);
    for (Int k = 0; k < got.count(); ++k) {
      const Real now = std::isfinite(right[k]) ? of(right[k], a.outs[0].dtype) : right[k];
      if (!is_same_number(got[k], now) && !(std::fabs(got[k] - now) <= near * std::max(Real{1}, std::fabs(now))))
        return false;
    }
    return true;
  };
  found.push_back(
      {"take the logarithm of a softmax that underflows to 0", About::computation, false, false, differs, explains});
}

}  // namespace

std::vector<Hypothesis> mistakes_of_softmax(const Operator& op) {
  std::vector<Hypothesis> found;
  if (op.name == "aten::_softmax.out" || op.name == "aten::_log_softmax.out") {
    overflowing_exponentials(
        op, "do not subtract the maximum, so that exponentials overflow", [](Real) { return Real{0}; }, found);
    overflowing_exponentials(
        op, "do not subtract a negative maximum, so that exponentials underflow",
        [](Real maximum) { return std::max(Real{0}, maximum); }, found);
  }
  if (op.name == "aten::_softmax.out")
    for (const Real least : {-80.0, -87.0, -87.3365, -88.0, -88.3763, -103.0}) limited_exponentials(op, least, found);
  logarithm_of_softmax(op, found);
  for (Hypothesis& h : found) h.about = About::computation;
  return found;
}

}  // namespace assay::defects
