#include "conformance/files/some_inputs.h"

namespace assay::files {
namespace {

Tensor some_tensor(const pte::Tensor& t) {
  Dims sizes, order;
  for (const auto n : *t.sizes()) sizes.push_back(n);
  for (const auto d : *t.dim_order()) order.push_back(d);
  Tensor tensor = make(*dtype_numbered(t.scalar_type()), sizes, order);
  if (info(tensor.dtype).kind == Kind::opaque) return tensor;
  const bool floating = is_floating(info(tensor.dtype).part);
  Array<Real> values(sizes);
  for (Int k = 0; k < values.count(); ++k)
    values[k] = floating ? static_cast<Real>(k % 7) * 0.75 - 1.5 : static_cast<Real>(k % 2);
  write(values, tensor);
  return tensor;
}

bool is_small(const pte::Tensor& t) {
  constexpr Int most = 1 << 20;  // a photograph of 512 x 512 pixels has fewer elements
  Int n = 1;
  for (const auto size : *t.sizes()) n = std::min<Int>(n * size, most + 1);
  return n <= most;
}

}  // namespace

std::vector<std::optional<Value>> some_inputs(const Method& method) {
  std::vector<std::optional<Value>> inputs;
  for (const auto i : *method.plan().inputs()) {
    const auto at = static_cast<std::size_t>(i);
    if (const auto* t = method.plan().values()->Get(static_cast<std::uint32_t>(i))->val_as_Tensor())
      inputs.push_back(is_small(*t) ? std::optional<Value>(some_tensor(*t)) : std::nullopt);
    else
      inputs.push_back(method.value(at).value);
  }
  return inputs;
}

}  // namespace assay::files
