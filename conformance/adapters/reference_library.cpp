#include "conformance/adapters/reference_library.h"

#include <algorithm>

#include "conformance/testee/copied.h"
#include "reference/fault.h"

namespace assay::adapters {
namespace {

void hand_back(const Tensor& result, testee::TensorView& out) {
  if (result.bytes.size() > out.capacity)
    throw Fault(Outcome::exhausted, "limits.out",
                concat("the result ", describe(result), " takes ", result.bytes.size(), " bytes, but its out has ",
                       out.capacity));
  out.dtype = result.dtype;
  out.sizes = result.sizes;
  out.dim_order = result.dim_order;
  std::ranges::copy(result.bytes, out.data);
}

void hand_back(const Value& result, testee::HostValue& out) {
  if (const Tensor* t = std::get_if<Tensor>(&result)) return hand_back(*t, std::get<testee::TensorView>(out));
  if (const auto number = number_in(result)) return hand_back(tensor_of(*number), std::get<testee::TensorView>(out));
  const Tensors& list = std::get<Tensors>(result);
  for (std::size_t k = 0; k < list.size(); ++k) hand_back(*list[k], *std::get<testee::TensorViews>(out)[k]);
}

}  // namespace

testee::Reply ReferenceLibrary::call(const Operator& op, std::span<testee::HostValue> arguments) {
  std::vector<Value> values;
  for (const testee::HostValue& a : arguments) values.push_back(testee::copied(a));
  const Answer answer = assay::call(op, values, Budget(limits_));
  if (answer.outcome != Outcome::ok) return {answer.outcome, answer.message};
  try {
    for (std::size_t i = 0; i < values.size(); ++i)
      if (op.arguments[i].out) hand_back(values[i], arguments[i]);
  } catch (const Fault& f) {
    return {f.outcome, f.message};
  }
  return {};
}

}  // namespace assay::adapters
