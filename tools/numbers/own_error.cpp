#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "conformance/judge/judge.h"
#include "conformance/runner/case_list.h"
#include "tools/numbers/evaluate.h"
#include "tools/numbers/numbers.h"

namespace assay::numbers {
namespace {

// What is found of the results of one dtype.
struct OwnError {
  Int numbers = 0;      // that have a bound
  double ulps = 0;      // the largest error, in units in the last place of float64
  double share = 0;     // the largest in units of its bound
  Int other = 0;        // results that must be exact, of which another one would be if the reference had more digits
  Int not_finite = 0;   // of finite bounds, infinite or NaN in one arithmetic alone
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

int own_error(const Corpus& corpus, std::string_view pattern, std::size_t every, const std::string& known_file) {
  constexpr double most = 0.5;  // a bound is wrong where most of it is the reference's own error
  std::set<std::string> known = read_case_list(known_file, "known");
  int wrong = 0;
  fmt::print("{:<56} {:<10} {:>8} {:>9} {:>9} {:>6} {:>6}  {}\n", "operator", "dtype", "numbers", "ulp", "of bound",
             "other", "inf.", "largest");
  each_operator(corpus, pattern, every, [&](const Operator& op, auto each_case) {
    std::map<std::pair<std::size_t, DType>, OwnError> rows;
    each_case([&](const Case& c, const Expectation& expected) {
      const Evaluation wide = evaluate(op.name, c.arguments, {});
      if (wide.outcome != Outcome::ok) return;
      for (std::size_t k = 0; k < expected.outs.size(); ++k) {
        const Buffer<Real>& exact = expected.answer.unrounded[k].values;
        const std::vector<Real> bounds = error_bounds(op, expected, k);
        if (exact.size() != bounds.size() || wide.unrounded[k].size() != bounds.size()) continue;
        const DType dtype = expected.outs[k].dtype;
        for (std::size_t i = 0; i < bounds.size(); ++i)
          rows[{k, dtype}].add(exact[i], wide.unrounded[k][i], bounds[i], dtype, to_text(c.id));
      }
    });
    for (const auto& [key, row] : rows) {
      const std::string name = fmt::format("{}:{}:{}", op.name, key.first, info(key.second).name);
      const bool is_large = row.share > most || row.not_finite > 0, is_known = known.erase(name) > 0;
      if (is_large != is_known && (is_large || every == 1)) {
        ++wrong;
        fmt::print(stderr, "{} {}: {}\n", name, is_large ? "is more than half of its bound" : "is listed, but is not",
                   row.largest);
      }
      fmt::print("{:<56} {:<10} {:>8} {:>9.3g} {:>9.2g} {:>6} {:>6}  {}\n", name_of_out(op, key.first),
                 info(key.second).name, row.numbers, row.ulps, row.share, row.other, row.not_finite, row.largest);
    }
  });
  for (const std::string& name : pattern.empty() && every == 1 ? known : std::set<std::string>())
    ++wrong, fmt::print(stderr, "{} is listed, but there is no such row\n", name);
  return wrong;
}

}  // namespace assay::numbers
