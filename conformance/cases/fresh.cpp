#include "conformance/cases/fresh.h"

#include <algorithm>
#include <iterator>

#include "conformance/cases/case.h"
#include "conformance/judge/judge.h"
#include "reference/call.h"

namespace assay::cases {
namespace {

// The dimensions along which there is more than one element, outermost first.
std::vector<Int> nesting(const Tensor& t) {
  std::vector<Int> dims;
  if (t.count() > 0) std::ranges::copy_if(t.dim_order, std::back_inserter(dims), [&](Int d) { return t.sizes[d] > 1; });
  return dims;
}

std::string described(const std::vector<Tensor>& tensors) {
  std::string all;
  for (const Tensor& t : tensors) all += concat(all.empty() ? "" : ", ", describe(t), " in ", t.dim_order);
  return all;
}

}  // namespace

bool laid_out_alike(const Tensor& a, const Tensor& b) {
  return a.dtype == b.dtype && a.sizes == b.sizes && nesting(a) == nesting(b);
}

std::string fresh_mismatch(const Operator& op, const RecordedCall& recorded) {
  if (!recorded.refused && recorded.fresh.empty()) return {};
  std::vector<Value> arguments = recorded.arguments;
  forget_outs(op, arguments);
  const Answer answer = call(op, arguments, {}, Mode::rules);
  if (answer.outcome != Outcome::ok)
    return recorded.fresh.empty() ? ""
                                  : concat("without outs eager makes ", described(recorded.fresh),
                                           ", but it is refused: ", answer.message);
  if (recorded.fresh.empty()) return concat("without outs it is not refused: ", recorded.refusal);
  const std::vector<Tensor> promised = judge::out_tensors(op, arguments);
  if (promised.empty() || std::ranges::equal(promised, recorded.fresh, laid_out_alike)) return {};
  return concat("without outs eager makes ", described(recorded.fresh), ", promised is ", described(promised));
}

}  // namespace assay::cases
