#include "conformance/cases/recorded_eager.h"

#include <algorithm>
#include <cstring>

#include "conformance/cases/fingerprint.h"

namespace assay::cases {
namespace {

void store(const Tensor& result, testee::TensorView& out) {
  out.dtype = result.dtype, out.sizes = result.sizes, out.dim_order = result.dim_order;
  const std::size_t bytes = std::min(result.bytes.size(), out.capacity);
  if (bytes > 0) std::memcpy(out.data, result.bytes.data(), bytes);
}

}  // namespace

testee::Reply RecordedEager::call(const Operator& op, std::span<testee::HostValue> arguments) {
  const RecordedCalls& calls = *corpus_.calls(op.name);
  if (indexed_ != op.name) {
    indexed_ = op.name;
    recorded_.clear();
    for (std::size_t i = 0; i < calls.size(); ++i) recorded_.emplace(fingerprint(op, calls.at(i).arguments), i);
  }
  const auto at = recorded_.find(fingerprint(op, std::span<const testee::HostValue>(arguments)));
  if (at == recorded_.end()) return {Outcome::unsupported, "this call was not recorded"};
  const RecordedCall call = calls.at(at->second);
  if (call.refused) return {Outcome::invalid, call.refusal};
  auto result = call.results.begin();
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (!op.arguments[i].out) continue;
    if (auto* view = std::get_if<testee::TensorView>(&arguments[i])) store(*result++, *view);
    if (auto* list = std::get_if<testee::TensorViews>(&arguments[i]))
      for (auto& view : *list)
        if (result != call.results.end()) store(*result++, *view);
  }
  return {};
}

}  // namespace assay::cases
