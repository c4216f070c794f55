#include "optimized/refusals/values.h"

#include <algorithm>

#include "reference/fault.h"
#include "reference/program/rule.h"

namespace assay::optimized {
namespace {

Dims dims(std::span<const std::int32_t> sizes) {
  Dims d;
  for (const std::int32_t n : sizes) d.push_back(n);
  return d;
}

assay::Tensor to_reference(const Tensor& t, bool with_elements) {
  assay::Tensor tensor{t.dtype, dims(t.shape()), {}, {}};
  for (int i = 0; i < t.rank; ++i) tensor.dim_order.push_back(t.dim_order[i]);
  if (with_elements) tensor.bytes.assign(t.data, t.data + t.bytes());
  return tensor;
}

Ints integers(const Value& list) {
  Ints all;
  for (const Value* v : list.items()) {
    if (v->kind != ValueKind::integer) throw broken("V3", {}, "a list of integers has a value that is not an integer");
    all.push_back(v->integer);
  }
  return all;
}

bool is_number(ValueKind kind) { return kind <= ValueKind::boolean; }

// Checks that a result fits its target, and arranges its elements in the target's dim order.
void prepare(Result& r, format::RuleId rule) {
  if (r.to->kind != ValueKind::tensor) {
    const bool fits = std::holds_alternative<std::monostate>(r.value) || std::holds_alternative<Int>(r.value) ||
                      std::holds_alternative<double>(r.value) || std::holds_alternative<bool>(r.value);
    if (!fits || !is_number(r.to->kind))
      throw broken(rule, {}, "the operator gives ", kind_name(r.value),
                   ", but the method has a value of another kind for it");
    return;
  }
  assay::Tensor* from = std::get_if<assay::Tensor>(&r.value);
  Tensor& to = *r.to->tensor;
  if (!from || from->dtype != to.dtype)
    throw broken(rule, {}, "the operator gives ", kind_name(r.value),
                 ", but the method has a tensor of another dtype for it");
  Dims order;
  for (int i = 0; i < to.rank; ++i) order.push_back(to.dim_order[i]);
  if (from->rank() == to.rank && from->dim_order != order) *from = arranged(*from, order);
  std::int32_t sizes[max_rank];
  std::ranges::copy(from->sizes, sizes);
  Tensor room = to;
  std::int32_t now[max_rank];
  room.sizes = now;
  const auto rank = static_cast<std::size_t>(from->rank());
  if (!resize(room, {sizes, rank}))
    throw broken(rule_of_sizes(to, rank, "T24"), {nullptr, "result"}, "has sizes ", from->sizes,
                 ", but can only have those of ", dims({to.declared, to.rank}),
                 to.moves ? " or fewer, as its memory allows" : "");
}

}  // namespace

assay::Value to_reference(const Value& value, bool with_elements) {
  switch (value.kind) {
    case ValueKind::none:
      return {};
    case ValueKind::integer:
      return Int{value.integer};
    case ValueKind::real:
      return value.real;
    case ValueKind::boolean:
      return value.boolean;
    case ValueKind::string:
      return std::string(value.string());
    case ValueKind::tensor:
      return to_reference(*value.tensor, with_elements);
    case ValueKind::integers:
      return integers(value);
    case ValueKind::tensors: {
      Tensors all;
      for (const Value* v : value.items())
        all.push_back(v && v->kind == ValueKind::tensor ? std::optional(to_reference(*v->tensor, with_elements))
                                                        : std::nullopt);
      return all;
    }
    case ValueKind::reals:
      return Doubles(value.reals, value.reals + value.count);
    case ValueKind::booleans: {
      Bools all;
      for (std::uint32_t i = 0; i < value.count; ++i) all.push_back(value.booleans[i] != 0);
      return all;
    }
  }
  return {};
}

void require_fit(std::span<Result> results, format::RuleId rule) {
  for (Result& r : results) prepare(r, rule);
}

}  // namespace assay::optimized
