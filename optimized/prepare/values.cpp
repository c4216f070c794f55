#include "format/flow_places.h"
#include "optimized/prepare/build.h"

// The values of a plan as the runtime has them.
namespace assay::optimized {

using format::items;

namespace {

// Whether f says so of any value that an instruction writes.
template <class F>
void each_written(const format::Method& m, F f) {
  for (std::uint32_t i = 0; i < m.instructions(); ++i)
    format::each_effect(m, m.instruction(i), [&](const format::Effect& e) {
      if (format::writes(e.use)) f(i, e);
    });
}

}  // namespace

std::span<Value*> Builder::pointers(std::span<const std::int64_t> indices) {
  const auto all = tables_.take<Value*>(indices.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = &values_[static_cast<std::size_t>(indices[i])];
  return all;
}

std::span<Value*> Builder::pointers(std::span<const std::int32_t> indices) {
  const auto all = tables_.take<Value*>(indices.size());
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = indices[i] < 0 ? nullptr : &values_[static_cast<std::size_t>(indices[i])];
  return all;
}

bool Builder::make_tensor(std::uint32_t v, const pte::Tensor& from) {
  Tensor& t = tensors_[v];
  const auto declared = items(from.sizes());
  const auto sizes = tables_.take<std::int32_t>(declared.size());
  std::copy_n(declared.begin(), sizes.size(), sizes.begin());
  t.sizes = sizes.data(), t.declared = declared.data();
  t.dim_order = items(from.dim_order()).data();
  t.dtype = static_cast<DType>(from.scalar_type());
  t.rank = static_cast<std::uint8_t>(declared.size());
  t.moves = !format::is_static(from);
  t.unbounded = from.shape_dynamism() == pte::TensorShapeDynamism::DYNAMIC_UNBOUND && !from.allocation_info();
  t.constant = format::is_constant(from);
  values_[v].tensor = &t;
  return true;
}

bool Builder::make_value(std::uint32_t v) {
  const pte::EValue& from = *plan_.values()->Get(v);
  Value& to = values_[v];
  const auto list = [&](ValueKind kind, const auto& all) {
    to.kind = kind, to.values = all.data(), to.count = static_cast<std::uint32_t>(all.size());
    return true;
  };
  switch (from.val_type()) {
    case pte::KernelTypes::NONE:
    case pte::KernelTypes::Null:
      return true;
    case pte::KernelTypes::Int:
      to.kind = ValueKind::integer, to.integer = from.val_as_Int()->int_val();
      return true;
    case pte::KernelTypes::Double:
      to.kind = ValueKind::real, to.real = from.val_as_Double()->double_val();
      return true;
    case pte::KernelTypes::Bool:
      to.kind = ValueKind::boolean, to.boolean = from.val_as_Bool()->bool_val();
      return true;
    case pte::KernelTypes::String: {
      const std::string_view text = format::text_of(from.val_as_String()->string_val());
      to.kind = ValueKind::string, to.text = text.data(), to.count = static_cast<std::uint32_t>(text.size());
      return true;
    }
    case pte::KernelTypes::Tensor:
      to.kind = ValueKind::tensor;
      return make_tensor(v, *from.val_as_Tensor());
    case pte::KernelTypes::IntList:
      return list(ValueKind::integers, pointers(items(from.val_as_IntList()->items())));
    case pte::KernelTypes::TensorList:
      return list(ValueKind::tensors, pointers(items(from.val_as_TensorList()->items())));
    case pte::KernelTypes::OptionalTensorList:
      return list(ValueKind::tensors, pointers(items(from.val_as_OptionalTensorList()->items())));
    case pte::KernelTypes::DoubleList: {
      const auto all = items(from.val_as_DoubleList()->items());
      to.kind = ValueKind::reals, to.reals = all.data(), to.count = static_cast<std::uint32_t>(all.size());
      return true;
    }
    case pte::KernelTypes::BoolList: {
      const auto all = items(from.val_as_BoolList()->items());
      to.kind = ValueKind::booleans, to.booleans = all.data(), to.count = static_cast<std::uint32_t>(all.size());
      return true;
    }
  }
  return true;
}

// A number that is an input and may be any changes too: set_input says so.
void Builder::mark_changes() {
  each_written(method_, [&](std::uint32_t, const format::Effect& e) {
    Value& value = values_[e.value];
    value.changes = value.changes || value.kind != ValueKind::tensor || format::is_alias(e.use);
    made_->restores_ = made_->restores_ || value.changes;
    if (value.kind == ValueKind::tensor && tensors_[e.value].moves) made_->restores_ = true;
  });
  for (const std::int32_t i : items(plan_.inputs()))
    if (values_[static_cast<std::uint32_t>(i)].kind == ValueKind::none)
      values_[static_cast<std::uint32_t>(i)].changes = true;
}

bool Builder::make_values() {
  const std::uint32_t n = method_.values();
  values_ = tables_.take<Value>(n);
  tensors_ = tables_.take<Tensor>(n);
  made_->initial_ = tables_.take<Value>(n);
  if (!has_room()) return false;
  for (std::uint32_t v = 0; v < n; ++v)
    if (!make_value(v)) return false;
  if (!has_room()) return false;
  mark_changes();
  return true;
}

}  // namespace assay::optimized
