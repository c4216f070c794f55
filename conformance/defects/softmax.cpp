#include <algorithm>
#include <cmath>
#include <limits>

#include "conformance/defects/foretold.h"
#include "conformance/defects/numbers.h"

// The mistakes of softmax and its logarithm.
namespace assay::defects {
namespace {

// Sums of exponentials that overflow, or that have few bits left, so that results are foretold roughly or not at all.
void overflowing_exponentials(const Operator& op, std::string does, Real (*subtracted)(Real maximum),
                              std::vector<Hypothesis>& found) {
  const bool logarithm = op.name == "aten::_log_softmax.out";
  struct Foretold {
    Array<Real> results;
    std::vector<Real> errors;  // that float32 arithmetic leaves
  };
  const auto foretell = [&op, logarithm, subtracted](DType dtype,
                                                     const cases::HostCall& call) -> std::optional<Foretold> {
    const auto rows = rows_of(op, call);
    if (!rows || !is_floating(dtype)) return std::nullopt;
    dtype = compute_dtype(dtype);
    Array<Real> self = read<Real>(std::get<Tensor>(call.arguments[0]));
    Foretold f{Array<Real>(std::get<Tensor>(call.arguments[0]).sizes), std::vector<Real>(self.data.size())};
    for (Int r = 0; r < rows->number; ++r) {
      const auto place = [&](Int k) { return rows->source[static_cast<std::size_t>(r * rows->length + k)]; };
      Real sum = 0, most = -std::numeric_limits<Real>::infinity();
      for (Int k = 0; k < rows->length; ++k) most = std::max(most, self[place(k)]);
      for (Int k = 0; k < rows->length; ++k) self[place(k)] -= subtracted(most);
      for (Int k = 0; k < rows->length; ++k) sum = round_to(dtype, sum + round_to(dtype, std::exp(self[place(k)])));
      for (Int k = 0; k < rows->length; ++k) {
        f.results[place(k)] =
            logarithm ? self[place(k)] - std::log(sum) : round_to(dtype, std::exp(self[place(k)])) / sum;
        const Real size = std::max(std::fabs(std::log(sum)), std::fabs(self[place(k)]));
        const bool has_few_bits = sum > 0 && std::isfinite(sum) && std::fabs(std::log(sum)) > 80;
        f.errors[static_cast<std::size_t>(place(k))] = has_few_bits ? std::numeric_limits<Real>::infinity()
                                                       : logarithm && std::isfinite(size) ? 4 * ulp(dtype, size)
                                                                                          : 0;
      }
    }
    return f;
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
  logarithm_of_softmax(op, found);
  for (Hypothesis& h : found) h.about = About::computation;
  return found;
}

}  // namespace assay::defects
