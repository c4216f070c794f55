#include "conformance/testees/executorch/call_stack.h"

#include <executorch/runtime/core/exec_aten/util/dim_order_util.h>

#include <algorithm>
#include <limits>
#include <memory>

#include "conformance/testees/stack.h"
#include "reference/fault.h"

namespace assay::executorch_kernels {

using executorch::runtime::BoxedEvalueList;
using ETensor = executorch::aten::Tensor;
using executorch::aten::TensorImpl;

namespace {

void require_small(const TensorView& view) {
  constexpr Int most = std::numeric_limits<executorch::aten::SizesType>::max();
  for (Int n : view.sizes)
    if (n > most)
      throw Fault(Outcome::unsupported, "executorch.sizes",
                  text("ExecuTorch holds sizes in 32 bits, but a tensor has sizes ", view.sizes));
}

Dims sizes_of(const ETensor& tensor) {
  Dims sizes;
  for (auto n : tensor.sizes()) sizes.push_back(n);
  return sizes;
}

Scalar number_in(const executorch::runtime::EValue& value) {
  if (value.isBool()) return value.toBool();
  if (value.isDouble()) return value.toDouble();
  return value.toInt();
}

void store(const Scalar& number, TensorView& out) {
  const Tensor tensor = tensor_of(number);
  out.dtype = tensor.dtype;
  std::ranges::copy(std::span(tensor.bytes).first(std::min(tensor.bytes.size(), out.capacity)), out.data);
}

}  // namespace

CallStack::CallStack(const Operator& op, std::span<const HostValue> arguments) {
  for (std::size_t i = 0; i < stacked(op); ++i) {
    const SchemaArgument& a = op.arguments[i];
    stack_.push_back(made<EValue>(
        a.mutated ? mutated(std::get<TensorView>(arguments[i]), std::get<TensorView>(arguments[op.new_value_of(i)]))
                  : value(a.type, arguments[i])));
  }
  stack_.push_back(made<EValue>());
}

CallStack::EValue CallStack::mutated(const TensorView& old, const TensorView& new_value) {
  const std::span<const std::byte> bytes(old.data, std::min(old.bytes(), new_value.capacity));
  std::ranges::copy(bytes, new_value.data);
  return tensor(new_value);
}

CallStack::EValue CallStack::tensor(const TensorView& view) {
  require_small(view);
  auto* sizes = copied<executorch::aten::SizesType>(view.sizes);
  auto* dim_order = copied<executorch::aten::DimOrderType>(view.dim_order);
  auto* strides = room<executorch::aten::StridesType>(view.sizes.size());
  executorch::runtime::dim_order_to_stride_nocheck(sizes, dim_order, static_cast<std::size_t>(view.sizes.size()),
                                                   strides);
  // Every tensor may be resized within its memory, as outs of a program's dynamic values are.
  return ETensor(made<TensorImpl>(static_cast<executorch::aten::ScalarType>(view.dtype), view.sizes.size(), sizes,
                                  view.data, dim_order, strides, executorch::aten::TensorShapeDynamism::DYNAMIC_BOUND));
}

template <class T, class Items, class Box>
CallStack::EValue CallStack::boxed(const Items& items, const T& unset, Box box) {
  auto** pointers = room<EValue*>(items.size());
  for (std::size_t k = 0; k < items.size(); ++k) pointers[k] = made<EValue>(box(items[k]));
  T* unboxed = room<T>(items.size());
  std::uninitialized_fill_n(unboxed, items.size(), unset);
  return made<BoxedEvalueList<T>>(pointers, unboxed, static_cast<int>(items.size()));
}

template <class T, class Items>
CallStack::EValue CallStack::plain(const Items& items) {
  return made<executorch::aten::ArrayRef<T>>(copied<T>(items), items.size());
}

CallStack::EValue CallStack::value(std::string_view type, const HostValue& from) {
  // Kernels for the CPU take no layout and no device, whatever a program says.
  if (type.starts_with("Layout") || type.starts_with("Device")) return {};
  return std::visit(
      [&]<class T>(const T& v) -> EValue {
        if constexpr (std::is_same_v<T, std::monostate>) return {};
        if constexpr (std::is_same_v<T, TensorView>) return tensor(v);
        if constexpr (std::is_same_v<T, Int>)
          return type.starts_with("float") ? EValue(static_cast<double>(v)) : EValue(v);
        if constexpr (std::is_same_v<T, double> || std::is_same_v<T, bool>) return v;
        if constexpr (std::is_same_v<T, std::string>) return plain<char>(v);
        if constexpr (std::is_same_v<T, Doubles>) return plain<double>(v);
        if constexpr (std::is_same_v<T, Bools>) return plain<bool>(v);
        if constexpr (std::is_same_v<T, Ints>) return boxed<std::int64_t>(v, 0, [](Int n) { return EValue(n); });
        if constexpr (std::is_same_v<T, TensorViews>) {
          const auto box = [&](const std::optional<TensorView>& view) { return view ? tensor(*view) : EValue(); };
          return type.starts_with("Tensor?") ? boxed<std::optional<ETensor>>(v, std::nullopt, box)
                                             : boxed<ETensor>(v, ETensor(nullptr), box);
        }
      },
      from);
}

void CallStack::read_back(const Operator& op, std::span<HostValue> arguments) const {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (op.arguments[i].mutated)
      std::get<TensorView>(arguments[op.new_value_of(i)]).sizes = sizes_of(stack_[i]->toTensor());
    if (op.arguments[i].is_out_number()) store(number_in(*stack_.back()), std::get<TensorView>(arguments[i]));
    if (!op.arguments[i].out || i >= stacked(op)) continue;
    if (TensorView* one = std::get_if<TensorView>(&arguments[i])) one->sizes = sizes_of(stack_[i]->toTensor());
    TensorViews* list = std::get_if<TensorViews>(&arguments[i]);
    for (std::size_t k = 0; list && k < list->size(); ++k) (*list)[k]->sizes = sizes_of(stack_[i]->toTensorList()[k]);
  }
}

}  // namespace assay::executorch_kernels
