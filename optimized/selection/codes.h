#pragma once

#include <cstdint>
#include <optional>

#include "dtype.gen.h"
#include "optimized/runtime/value.h"

// The dtypes of the codes of quantized tensors.
namespace assay::optimized {

// Calls f.operator()<Code>() for the dtype of codes; returns a default-constructed result for any other dtype.
template <class F>
auto with_code(DType dtype, F f) -> decltype(f.template operator()<std::int8_t>()) {
  switch (dtype) {
    case DType::uint8:
      return f.template operator()<std::uint8_t>();
    case DType::int8:
      return f.template operator()<std::int8_t>();
    case DType::int16:
      return f.template operator()<std::int16_t>();
    case DType::uint16:
      return f.template operator()<std::uint16_t>();
    case DType::int32:
      return f.template operator()<std::int32_t>();
    default:
      return {};
  }
}
inline bool is_code(DType dtype) {
  return with_code(dtype, []<class Code>() { return true; });
}

// The dtype that a number names: nothing if it changes, `otherwise` if it is None.
inline std::optional<DType> named(const Value& v, std::optional<DType> otherwise = {}) {
  if (v.changes) return {};
  if (v.kind == ValueKind::none) return otherwise;
  const DTypeFacts* facts = v.kind == ValueKind::integer ? find_dtype(v.integer) : nullptr;
  return facts ? std::optional(facts->dtype) : std::nullopt;
}

}  // namespace assay::optimized
