#include "reference/words/dtypes.h"

#include <array>

namespace assay::types {
namespace {

using enum DType;

bool is_wide_unsigned(DType d) { return d == uint16 || d == uint32 || d == uint64; }
int level(DType d) { return static_cast<int>(info(d).kind); }

// The wider of two dtypes of one kind, in the order of their numbers. The common dtype of bfloat16 and float16 is
// float32. The common dtype of uint8 and int8 is int16.
DType wider(DType a, DType b) {
  if (is_half(a) && is_half(b)) return float32;
  if (is_half(a)) return b;
  if (is_half(b)) return a;
  const DType most = std::max(a, b), least = std::min(a, b);
  return least == uint8 && most == int8 ? int16 : most;
}

void raise(std::optional<DType>& to, DType dtype) { to = to ? promote(*to, dtype) : dtype; }

}  // namespace

DType promote(DType a, DType b) {
  if (a == b) return a;
  const bool meets_floating_only = is_wide_unsigned(a) || is_wide_unsigned(b);
  const bool meets = info(a).kind != Kind::opaque && info(b).kind != Kind::opaque &&
                     (!meets_floating_only || is_floating(a) || is_floating(b));
  require(meets, a, " and ", b, " have no common dtype");
  if (is_complex(a) != is_complex(b) && (is_floating(a) || is_floating(b)))
    return complex_of(promote(part(a), part(b)));
  if (level(a) != level(b)) return level(a) > level(b) ? a : b;
  return wider(a, b);
}

void Promotion::add(const Tensor& tensor) { raise(tensor.rank() > 0 ? dimensioned_ : zero_dimensional_, tensor.dtype); }
void Promotion::add(DType dtype) { raise(dimensioned_, dtype); }
void Promotion::add(const Scalar& scalar) {
  raise(scalar_, is_floating(scalar) ? float32 : is_bool(scalar) ? boolean : int64);
}

// A category counts only if its dtype is of a higher kind than the dtypes of the categories before it; a floating dtype
// keeps its width when it becomes complex.
DType Promotion::result() const {
  std::optional<DType> common;
  for (const auto& next : {dimensioned_, zero_dimensional_, scalar_}) {
    if (!next || (common && level(*next) <= level(*common))) continue;
    if (common && is_complex(*next))
      common = is_floating(*common) ? complex_of(*common) : *next;
    else
      raise(common, *next);
  }
  return common.value_or(float32);
}

DType named(Argument<Int> dtype) {
  const auto found = dtype_numbered(dtype.value);
  require(found.has_value(), dtype.name, " is ", dtype.value, ", which is the number of no dtype");
  return *found;
}

DType named(Argument<std::optional<Int>> dtype, DType otherwise) { return dtype ? named(some(dtype)) : otherwise; }

DType of(Argument<Scalar> scalar) {
  Promotion p;
  p.add(scalar.value);
  return p.result();
}

}  // namespace assay::types
