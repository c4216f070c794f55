#include "conformance/adapters/executorch/values.h"

#include "reference/fault.h"

namespace assay::executorch_kernels {
namespace {

using executorch::runtime::EValue;
using executorch::runtime::Tag;

executorch::extension::TensorPtr alias(Tensor& t) {
  return executorch::extension::make_tensor_ptr({t.sizes.begin(), t.sizes.end()}, t.bytes.data(),
                                                {t.dim_order.begin(), t.dim_order.end()}, {},
                                                static_cast<executorch::aten::ScalarType>(t.dtype));
}

Tensor copy(const executorch::aten::Tensor& t) {
  Dims sizes, order;
  for (const auto n : t.sizes()) sizes.push_back(n);
  for (const auto d : t.dim_order()) order.push_back(d);
  Tensor copy{*dtype_numbered(static_cast<Int>(t.scalar_type())), sizes, order, {}};
  const auto* raw = static_cast<const std::byte*>(t.const_data_ptr());
  if (t.nbytes() > 0) copy.bytes.assign(raw, raw + t.nbytes());
  return copy;
}

}  // namespace

EValue input(Value& value, std::vector<executorch::extension::TensorPtr>& held) {
  return std::visit(
      [&]<class T>(T& v) -> EValue {
        if constexpr (std::is_same_v<T, Tensor>)
          return *held.emplace_back(alias(v));
        else if constexpr (std::is_same_v<T, Int> || std::is_same_v<T, double> || std::is_same_v<T, bool>)
          return v;
        else if constexpr (std::is_same_v<T, std::monostate>)
          return {};
        else
          throw Fault(Outcome::unsupported, "executorch.input", "the module takes no lists and strings");
      },
      value);
}

Value output(const EValue& value) {
  switch (value.tag) {
    case Tag::Tensor:
      return copy(value.toTensor());
    case Tag::Int:
      return Int{value.toInt()};
    case Tag::Double:
      return value.toDouble();
    case Tag::Bool:
      return value.toBool();
    case Tag::String:
      return std::string(value.toString().data(), value.toString().size());
    default:
      return {};
  }
}

}  // namespace assay::executorch_kernels
