#include "reference/runtime/known_values.h"

#include <concepts>

#include "reference/budget.h"
#include "reference/runtime/storage.h"

namespace assay {
namespace {

using format::Effect;
using format::items;

std::uint32_t value_index(std::integral auto i) { return static_cast<std::uint32_t>(i); }

bool same_layout(const pte::Tensor& a, const pte::Tensor& b) {
  return a.scalar_type() == b.scalar_type() && a.shape_dynamism() == b.shape_dynamism() &&
         dims(a.sizes()) == dims(b.sizes()) && dims(a.dim_order()) == dims(b.dim_order());
}

Tensor tensor_of(const pte::Tensor& t, bool knows_sizes) {
  const Dims sizes = dims(t.sizes());
  return {*dtype_numbered(t.scalar_type()), knows_sizes ? sizes : Dims::unknown(sizes.size()), dims(t.dim_order()), {}};
}

bool is_static(const pte::Tensor& t) { return t.shape_dynamism() == pte::TensorShapeDynamism::STATIC; }

template <class List>
List copied(const auto& items) {
  constexpr Int work_of_item = 10;
  Budget::Scope::work(work_of_item * Int{items.size()});
  return List(items.begin(), items.end());
}

// The value itself, unless it is a tensor or a list of indices of other values.
Value value_of(const pte::EValue& v) {
  if (const auto* n = v.val_as_Int()) return Int{n->int_val()};
  if (const auto* d = v.val_as_Double()) return d->double_val();
  if (const auto* b = v.val_as_Bool()) return b->bool_val();
  if (const auto* s = v.val_as_String()) return copied<std::string>(*s->string_val());
  if (const auto* l = v.val_as_DoubleList()) return copied<Doubles>(*l->items());
  if (const auto* l = v.val_as_BoolList()) return copied<Bools>(*l->items());
  return {};
}

}  // namespace

KnownValues::KnownValues(const format::Method& method) : method_(method), replaced_(method.values()) {
  for (const std::int32_t i : items(method.plan().inputs())) replaced_[value_index(i)] = !method.tensor(value_index(i));
  for (std::uint32_t i = 0; i < method.instructions(); ++i)
    each_effect(method, method.instruction(i), [this](const Effect& e) { take(e); });
  if (!moves_keep_layouts_)
    for (const std::uint32_t to : moved_to_) replaced_[to] = true;
}

void KnownValues::take(const Effect& e) {
  Budget::Scope::work(1);
  if (!writes(e.use)) return;
  if (const pte::Tensor* to = method_.tensor(e.value); !to) {
    replaced_[e.value] = true;
  } else if (e.use == format::Use::moved || e.use == format::Use::returned) {
    moved_to_.push_back(e.value);
    moves_keep_layouts_ = moves_keep_layouts_ && same_layout(*method_.tensor(e.other), *to);
  }
}

std::optional<Value> KnownValues::value(std::uint32_t i, Facts facts) const {
  const pte::EValue& v = method_.value(i);
  if (const auto* l = v.val_as_IntList()) return integers(copied<Ints>(*l->items()), facts);
  if (const auto* l = v.val_as_TensorList()) return tensors(copied<Ints>(*l->items()), facts);
  if (const auto* l = v.val_as_OptionalTensorList()) return tensors(copied<Ints>(*l->items()), facts);
  if (is_missing(i, facts)) return {};
  if (const auto* t = v.val_as_Tensor()) return tensor_of(*t, facts == Facts::stated || is_static(*t));
  return value_of(v);
}

// The values whose indices a list has.
std::optional<Value> KnownValues::integers(Ints list, Facts facts) const {
  for (Int& i : list) {
    const pte::Int* n = method_.value(value_index(i)).val_as_Int();
    if (!n || is_missing(value_index(i), facts)) return {};
    i = n->int_val();
  }
  return list;
}

std::optional<Value> KnownValues::tensors(const Ints& list, Facts facts) const {
  Tensors all;
  for (const Int i : list) {
    const pte::Tensor* t = i < 0 ? nullptr : method_.tensor(value_index(i));
    if (t && is_missing(value_index(i), facts)) return {};
    all.push_back(t ? std::optional(tensor_of(*t, facts == Facts::stated || is_static(*t))) : std::nullopt);
  }
  return all;
}

}  // namespace assay
