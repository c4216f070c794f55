#include "proof/precision/evaluate.h"

#include "reference/call.h"

namespace assay::precision {

Evaluation evaluate(std::string_view operator_name, std::span<const Value> arguments, const Manner& how) {
  manner = how;
  met = {};
  Evaluation e;
  e.arguments.assign(arguments.begin(), arguments.end());
  const Answer answer = call(*find_operator(operator_name), e.arguments);
  e.outcome = answer.outcome;
  e.met = met;
  for (const Unrounded& u : answer.unrounded) {
    std::vector<Pair>& pairs = e.unrounded.emplace_back();
    for (const Real x : u.values) {
      const double high = static_cast<double>(x);
      pairs.push_back({high, std::isfinite(high) ? static_cast<double>(x.wide() - high) : 0});
    }
  }
  return e;
}

}  // namespace assay::precision
