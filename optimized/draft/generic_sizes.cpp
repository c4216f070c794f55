#include "optimized/draft/generic_sizes.h"

#include <algorithm>

namespace assay::optimized {
namespace {

// The largest primes below 2^13. The product of four of them and 2^11 fits in 64 bits.
constexpr std::int32_t primes[] = {8191, 8179, 8171, 8167, 8161, 8147};

}  // namespace

GenericSizes::~GenericSizes() {
  for (const Taken& taken : std::span(taken_, count_)) {
    if (taken.value->kind == ValueKind::integer)
      taken.value->integer = taken.before;
    else
      std::copy_n(taken.value->tensor->declared, taken.value->tensor->rank, taken.value->tensor->sizes);
  }
}

bool GenericSizes::replace(std::int32_t& size) {
  static_assert(std::size(primes) == most_symbols);
  if (size >= 0 || size == unknown_size) return size >= 0;
  const std::span<const std::int32_t> seen(symbols_, count_of_symbols_);
  const auto i = static_cast<std::size_t>(std::ranges::find(seen, size) - seen.begin());
  if (i == most_symbols) return false;
  if (i == count_of_symbols_) symbols_[count_of_symbols_++] = size;
  size = primes[i];
  return true;
}

bool GenericSizes::set(Value& v) {
  if (v.kind == ValueKind::integer) {
    std::int32_t size = draft_.sizes->integer_of(v);
    return replace(size) && (v.integer = size, true);
  }
  auto shape = draft_.sizes_of(*v.tensor);
  if (!shape || !std::all_of(shape->sizes, shape->sizes + shape->rank, [&](std::int32_t& n) { return replace(n); }))
    return false;
  std::ranges::copy(shape->span(), v.tensor->sizes);
  return true;
}

bool GenericSizes::take(const Value& value) {
  if (value.kind == ValueKind::integers)
    return std::ranges::all_of(value.items(), [&](const Value* item) { return take(*item); });
  Value& v = draft_.values[draft_.index_of(value)];
  const bool moves = v.kind == ValueKind::tensor ? v.tensor->moves : v.kind == ValueKind::integer && v.changes;
  if (!moves) return v.kind == ValueKind::tensor || !v.changes;
  if (std::ranges::any_of(taken_, taken_ + count_, [&](const Taken& t) { return t.value == &v; })) return true;
  if (count_ == most_values) return false;
  taken_[count_++] = {&v, v.kind == ValueKind::integer ? v.integer : 0};
  return set(v);
}

bool GenericSizes::take(const Call& call) {
  return std::ranges::all_of(call.arguments, [&](const Value* v) { return !v || take(*v); });
}

}  // namespace assay::optimized
