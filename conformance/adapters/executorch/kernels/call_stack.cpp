#include "conformance/adapters/executorch/kernels/call_stack.h"

#include <executorch/runtime/core/exec_aten/util/dim_order_util.h>
#include <executorch/runtime/core/exec_aten/util/scalar_type_util.h>
#include <executorch/runtime/core/exec_aten/util/tensor_util.h>

#include <cstring>
#include <limits>
#include <memory>
#include <optional>

namespace assay::executorch_kernels {

using executorch::runtime::BoxedEvalueList;
using ETensor = executorch::aten::Tensor;
using executorch::aten::ScalarType;
using executorch::aten::TensorImpl;

namespace {

// An argument of a schema, such as "Tensor(a!) out" or "int[2] stride=[]".
struct Argument {
  std::string_view type;
  bool mutated, out;
};

// The arguments of "aten::name.overload(Tensor self, *, Tensor(a!) out) -> Tensor(a!)".
std::vector<Argument> arguments_in(std::string_view schema) {
  constexpr std::string_view comma = ", ";
  std::string_view rest = schema.substr(0, schema.rfind(") -> "));
  rest.remove_prefix(rest.find('(') + 1);
  std::vector<Argument> all;
  for (bool by_name = false; !rest.empty();) {
    const std::string_view argument = rest.substr(0, rest.find(comma));
    rest.remove_prefix(std::min(argument.size() + comma.size(), rest.size()));
    const bool changes = argument.find('!') != argument.npos;
    if (argument == "*")
      by_name = true;
    else
      all.push_back({argument.substr(0, argument.rfind(' ')), changes && !by_name, changes && by_name});
  }
  return all;
}

std::size_t bytes_of(const assay_kernel_tensor& t) {
  std::size_t bytes = executorch::runtime::elementSize(static_cast<ScalarType>(t.dtype));
  for (std::uint32_t d = 0; d < t.rank; ++d) bytes *= static_cast<std::size_t>(t.sizes[d]);
  return bytes;
}

bool hand_back(const assay_kernel_host& host, const ETensor& result, assay_kernel_tensor& to) {
  const std::vector<std::int64_t> sizes(result.sizes().begin(), result.sizes().end());
  return std::equal(sizes.begin(), sizes.end(), to.sizes, to.sizes + to.rank) ||
         host.resize(host.context, &to, static_cast<std::uint32_t>(sizes.size()), sizes.data());
}

template <class T>
void store(ScalarType dtype, T number, assay_kernel_tensor& to) {
  to.dtype = static_cast<std::int32_t>(dtype);
  std::memcpy(to.data, &number, sizeof number);
}

void store(const executorch::runtime::EValue& number, assay_kernel_tensor& to) {
  if (number.isBool()) return store(ScalarType::Bool, number.toBool(), to);
  if (number.isDouble()) return store(ScalarType::Double, number.toDouble(), to);
  store(ScalarType::Long, number.toInt(), to);
}

}  // namespace

CallStack::CallStack(std::string_view schema, std::span<assay_kernel_value> values) {
  const std::vector<Argument> arguments = arguments_in(schema);
  std::size_t added = arguments.size();
  for (std::size_t i = 0; i < std::min(arguments.size(), values.size()); ++i) {
    const auto& [type, is_mutated, is_out] = arguments[i];
    assay_kernel_value& result = is_mutated ? values[added++] : values[i];
    stack_.push_back(
        made<EValue>(is_mutated ? mutated(values[i].as.tensor, result.as.tensor) : value(type, values[i], is_out)));
    if (is_mutated || is_out) results_.push_back({stack_.back(), &result});
  }
  if (added < values.size()) number_ = &values[added];
  stack_.push_back(made<EValue>());
}

CallStack::EValue CallStack::mutated(const assay_kernel_tensor& old, const assay_kernel_tensor& new_value) {
  std::memcpy(new_value.data, old.data, std::min(bytes_of(old), new_value.capacity));
  assay_kernel_tensor copy = old;
  copy.data = new_value.data, copy.capacity = new_value.capacity;
  return tensor(copy, true);
}

CallStack::EValue CallStack::tensor(const assay_kernel_tensor& from, bool is_out) {
  constexpr std::int64_t most = std::numeric_limits<executorch::aten::SizesType>::max();
  if (std::any_of(from.sizes, from.sizes + from.rank, [](std::int64_t n) { return n > most; })) throw TooLarge();
  auto* sizes = copied<executorch::aten::SizesType>(from.sizes, from.rank);
  auto* dim_order = copied<executorch::aten::DimOrderType>(from.dim_order, from.rank);
  auto* strides = room<executorch::aten::StridesType>(from.rank);
  // The sizes of the constructor state how many elements fit.
  const std::size_t room = from.capacity / executorch::runtime::elementSize(static_cast<ScalarType>(from.dtype));
  const bool has_more_room = is_out && from.rank > 0 && from.capacity > bytes_of(from);
  if (has_more_room) std::fill_n(sizes, from.rank, 1), sizes[0] = static_cast<executorch::aten::SizesType>(room);
  executorch::runtime::dim_order_to_stride_nocheck(sizes, dim_order, from.rank, strides);
  // Every tensor may be resized within its memory, like the outs for dynamic values of a program.
  const ETensor made_tensor(made<TensorImpl>(static_cast<ScalarType>(from.dtype), static_cast<ssize_t>(from.rank),
                                             sizes, from.data, dim_order, strides,
                                             executorch::aten::TensorShapeDynamism::DYNAMIC_BOUND));
  if (has_more_room)
    static_cast<void>(executorch::runtime::resize_tensor(
        made_tensor, {copied<executorch::aten::SizesType>(from.sizes, from.rank), from.rank}));
  return made_tensor;
}

template <class T, class List, class Box>
CallStack::EValue CallStack::boxed(const List& list, const T& unset, Box box) {
  auto** pointers = room<EValue*>(list.count);
  for (std::size_t k = 0; k < list.count; ++k) pointers[k] = made<EValue>(box(list.items[k]));
  T* unboxed = room<T>(list.count);
  std::uninitialized_fill_n(unboxed, list.count, unset);
  return made<BoxedEvalueList<T>>(pointers, unboxed, static_cast<int>(list.count));
}

template <class T, class Item>
CallStack::EValue CallStack::plain(const Item* items, std::size_t count) {
  return made<executorch::aten::ArrayRef<T>>(copied<T>(items, count), count);
}

CallStack::EValue CallStack::value(std::string_view type, const assay_kernel_value& from, bool is_out) {
  // Kernels for the CPU ignore layout and device, whatever a program states.
  if (type.starts_with("Layout") || type.starts_with("Device")) return {};
  const auto item = [this, is_out](const assay_kernel_value& v) {
    return v.kind == ASSAY_KERNEL_TENSOR ? tensor(v.as.tensor, is_out) : EValue();
  };
  switch (from.kind) {
    case ASSAY_KERNEL_TENSOR:
      return tensor(from.as.tensor, is_out);
    case ASSAY_KERNEL_INT:
      return from.as.integer;
    case ASSAY_KERNEL_DOUBLE:
      return from.as.real;
    case ASSAY_KERNEL_BOOL:
      return from.as.boolean != 0;
    case ASSAY_KERNEL_STRING:
      return plain<char>(from.as.string.text, from.as.string.length);
    case ASSAY_KERNEL_INTS:
      return boxed<std::int64_t>(from.as.integers, 0, [](std::int64_t n) { return EValue(n); });
    case ASSAY_KERNEL_DOUBLES:
      return plain<double>(from.as.reals.items, from.as.reals.count);
    case ASSAY_KERNEL_BOOLS:
      return plain<bool>(from.as.booleans.items, from.as.booleans.count);
    case ASSAY_KERNEL_TENSORS:
      return type.starts_with("Tensor?") ? boxed<std::optional<ETensor>>(from.as.tensors, std::nullopt, item)
                                         : boxed<ETensor>(from.as.tensors, ETensor(nullptr), item);
    default:
      return {};
  }
}

bool CallStack::read_back(const assay_kernel_host& host) const {
  for (const auto& [from, to] : results_) {
    if (to->kind == ASSAY_KERNEL_TENSOR && !hand_back(host, from->toTensor(), to->as.tensor)) return false;
    for (std::size_t k = 0; to->kind == ASSAY_KERNEL_TENSORS && k < to->as.tensors.count; ++k)
      if (!hand_back(host, from->toTensorList()[k], to->as.tensors.items[k].as.tensor)) return false;
  }
  if (number_) store(*stack_.back(), number_->as.tensor);
  return true;
}

}  // namespace assay::executorch_kernels
