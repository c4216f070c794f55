#include <algorithm>
#include <cmath>
#include <map>

#include "proof/precision/evaluate.h"
#include "proof/precision/precision.h"

namespace assay::precision {
namespace {

// The errors of the results of one dtype.
struct OwnError {
  Int numbers = 0;      // results that have a bound
  double ulps = 0;      // the largest error, in units in the last place of float64
  double share = 0;     // the largest error in units of its bound
  Int other = 0;        // results that must be exact, but would be others if the reference had more digits
  Int not_finite = 0;   // results of finite bounds that are infinite or NaN in one arithmetic alone
  std::string largest;  // the case of the largest share

  void add(double exact, const Pair& wide, double bound, DType dtype, const std::string& id) {
    if (std::isinf(bound)) return;
    ++numbers;
    const double want = round_to(dtype, wide.high), got = round_to(dtype, exact);
    if (!std::isfinite(want) || !std::isfinite(got)) {
      if (want == got || (std::isnan(want) && std::isnan(got))) return;
      ++not_finite;
      return found(share, exact, wide, id);
    }
    const double error = std::fabs((wide.high - exact) + wide.low);
    if (error == 0) return;
    ulps = std::max(ulps, error / ulp(DType::float64, wide.high));
    if (bound == 0)
      other += want != got;
    else if (error / bound > share)
      found(error / bound, exact, wide, id);
  }

 private:
  void found(double new_share, double exact, const Pair& wide, const std::string& id) {
    share = new_share;
    largest = fmt::format("{}: {:.17g}, not {:.17g}", id, exact, wide.high);
  }
};

}  // namespace

int own_error(const Selection& selection) {
  constexpr double most = 0.5;  // a bound is wrong where most of it is the reference's own error
  KnownRows known("known_own_errors.txt", selection);
  fmt::print("{:<56} {:<10} {:>8} {:>9} {:>9} {:>6} {:>6}  {}\n", "operator", "dtype", "numbers", "ulp", "of bound",
             "other", "inf.", "largest");
  each_operator(selection, [&](const Operator& op, auto each_case) {
    std::map<std::pair<std::size_t, DType>, OwnError> rows;
    each_case([&](const cases::Case& c, const judge::Expectation& expected) {
      const Evaluation wide = evaluate(op.name, c.arguments, {});
      if (wide.outcome != Outcome::ok) return;
      for (std::size_t k = 0; k < expected.outs.size(); ++k) {
        const Buffer<Real>& exact = expected.answer.unrounded[k].values;
        const std::vector<Real> bounds = judge::error_bounds(op, expected, k);
        if (exact.size() != bounds.size() || wide.unrounded[k].size() != bounds.size()) continue;
        const DType dtype = expected.outs[k].dtype;
        for (std::size_t i = 0; i < bounds.size(); ++i)
          rows[{k, dtype}].add(exact[i], wide.unrounded[k][i], bounds[i], dtype, cases::to_text(c.id));
      }
    });
    for (const auto& [key, row] : rows) {
      const std::string name = fmt::format("{}:{}:{}", op.name, key.first, info(key.second).name);
      known.is_known(name, row.share > most || row.not_finite > 0,
                     fmt::format("is more than half of its bound: {}", row.largest));
      fmt::print("{:<56} {:<10} {:>8} {:>9.3g} {:>9.2g} {:>6} {:>6}  {}\n", name_of_out(op, key.first),
                 info(key.second).name, row.numbers, row.ulps, row.share, row.other, row.not_finite, row.largest);
    }
  });
  return known.count_wrong();
}

}  // namespace assay::precision
