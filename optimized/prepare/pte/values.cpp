#include "format/flow_places.h"
#include "optimized/prepare/pte/plan_reader.h"

// The values of a plan as the runtime has them.
namespace assay::optimized {

using format::items;

namespace {

void set(Value& to, ValueKind kind, std::span<Value* const> all) {
  to.kind = kind, to.values = all.data(), to.count = static_cast<std::uint32_t>(all.size());
}
void set(Value& to, std::string_view text) {
  to.kind = ValueKind::string, to.text = text.data(), to.count = static_cast<std::uint32_t>(text.size());
}
void set(Value& to, std::span<const double> all) {
  to.kind = ValueKind::reals, to.reals = all.data(), to.count = static_cast<std::uint32_t>(all.size());
}
void set(Value& to, std::span<const std::uint8_t> all) {
  to.kind = ValueKind::booleans, to.booleans = all.data(), to.count = static_cast<std::uint32_t>(all.size());
}

}  // namespace

// A negative index is None.
template <class Index>
std::span<Value*> PlanReader::pointers(std::span<const Index> indices) {
  const auto all = tables_.take<Value*>(indices.size());
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = indices[i] < 0 ? nullptr : &source_.values[static_cast<std::size_t>(indices[i])];
  return all;
}
template std::span<Value*> PlanReader::pointers(std::span<const std::int32_t>);

void PlanReader::read_tensor(std::uint32_t v, const pte::Tensor& from) {
  Tensor& t = source_.tensors[v];
  const auto declared = items(from.sizes());
  const auto sizes = tables_.take<std::int32_t>(declared.size());
  std::copy_n(declared.begin(), sizes.size(), sizes.begin());
  t.sizes = sizes.data(), t.declared = declared.data();
  t.dim_order = items(from.dim_order()).data();
  t.dtype = static_cast<DType>(from.scalar_type());
  t.rank = static_cast<std::uint8_t>(declared.size());
  t.moves = !format::is_static(from);
  t.unbounded = format::is_unbounded(from);
  t.constant = format::is_constant(from);
  source_.values[v].kind = ValueKind::tensor, source_.values[v].tensor = &t;
}

void PlanReader::read_value(std::uint32_t v) {
  const pte::EValue& from = *plan_.values()->Get(v);
  Value& to = source_.values[v];
  switch (from.val_type()) {
    case pte::KernelTypes::NONE:
    case pte::KernelTypes::Null:
      return;
    case pte::KernelTypes::Int:
      to.kind = ValueKind::integer, to.integer = from.val_as_Int()->int_val();
      return;
    case pte::KernelTypes::Double:
      to.kind = ValueKind::real, to.real = from.val_as_Double()->double_val();
      return;
    case pte::KernelTypes::Bool:
      to.kind = ValueKind::boolean, to.boolean = from.val_as_Bool()->bool_val();
      return;
    case pte::KernelTypes::String:
      return set(to, format::text_of(from.val_as_String()->string_val()));
    case pte::KernelTypes::Tensor:
      return read_tensor(v, *from.val_as_Tensor());
    case pte::KernelTypes::IntList:
      return set(to, ValueKind::integers, pointers(items(from.val_as_IntList()->items())));
    case pte::KernelTypes::TensorList:
      return set(to, ValueKind::tensors, pointers(items(from.val_as_TensorList()->items())));
    case pte::KernelTypes::OptionalTensorList:
      return set(to, ValueKind::tensors, pointers(items(from.val_as_OptionalTensorList()->items())));
    case pte::KernelTypes::DoubleList:
      return set(to, items(from.val_as_DoubleList()->items()));
    case pte::KernelTypes::BoolList:
      return set(to, items(from.val_as_BoolList()->items()));
  }
}

}  // namespace assay::optimized
