#include "conformance/cases/fresh.h"

#include <algorithm>
#include <iterator>

#include "conformance/cases/case.h"
#include "conformance/judge/judge.h"
#include "reference/call.h"

namespace assay {
namespace {

// What the entry promises of results for which no out is given, without bytes; none where it refuses the call.
std::vector<Tensor> promised(const Operator& op, std::vector<Value> arguments) {
  forget_outs(op, arguments);
  if (call(op, arguments, {}, Mode::rules).outcome != Outcome::ok) return {};
  return out_tensors(op, arguments);
}

// The dimensions along which there is more than one element, outermost first.
std::vector<Int> nesting(const Tensor& t) {
  std::vector<Int> dims;
  if (t.count() > 0) std::ranges::copy_if(t.dim_order, std::back_inserter(dims), [&](Int d) { return t.sizes[d] > 1; });
  return dims;
}

std::string described(const std::vector<Tensor>& tensors) {
  std::string all;
  for (const Tensor& t : tensors) all += text(all.empty() ? "" : ", ", describe(t), " in ", t.dim_order);
  return all;
}

}  // namespace

bool laid_out_alike(const Tensor& a, const Tensor& b) {
  return a.dtype == b.dtype && a.sizes == b.sizes && nesting(a) == nesting(b);
}

std::string fresh_mismatch(const Operator& op, const RecordedCall& recorded) {
  if (recorded.fresh.empty()) return {};
  const std::vector<Tensor> made = promised(op, recorded.arguments);
  if (made.empty() || std::ranges::equal(made, recorded.fresh, laid_out_alike)) return {};
  return text("without outs eager makes ", described(recorded.fresh), ", promised is ", described(made));
}

bool refused_without_outs(const Operator& op, const RecordedCall& recorded) {
  std::vector<Value> arguments = recorded.arguments;
  forget_outs(op, arguments);
  return recorded.refused && call(op, arguments, {}, Mode::rules).outcome != Outcome::ok;
}

}  // namespace assay
