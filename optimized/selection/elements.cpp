#include "optimized/selection/elements.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "optimized/selection/gather.h"

namespace assay::optimized {
namespace {

template <class T>
Gather gather_to(DType from) {
  switch (from) {
    case DType::int64:
      return gather_as<std::int64_t, T>;
    case DType::int32:
      return gather_as<std::int32_t, T>;
    case DType::int16:
      return gather_as<std::int16_t, T>;
    case DType::int8:
      return gather_as<std::int8_t, T>;
    case DType::uint8:
    case DType::boolean:
      return gather_as<std::uint8_t, T>;
    default:
      return nullptr;
  }
}
Gather gather_floats(DType from) {
  switch (from) {
    case DType::float32:
      return gather_as<float, float>;
    case DType::float16:
      return gather_as<Float16, float>;
    case DType::bfloat16:
      return gather_as<BFloat16, float>;
    default:
      return gather_to<float>(from);
  }
}

std::uint8_t truth(std::uint8_t x) { return x != 0; }

template <class D>
void store(const void* from, void* to, std::size_t n) {
  const auto* x = static_cast<const std::int64_t*>(from);
  D* y = static_cast<D*>(to);
  for (std::size_t i = 0; i < n; ++i) y[i] = static_cast<D>(x[i]);
}

template <class Half>
void store_halves(const void* from, void* to, std::size_t n) {
  const float* x = static_cast<const float*>(from);
  Half* y = static_cast<Half*>(to);
  for (std::size_t i = 0; i < n; ++i) y[i] = Half::of(x[i]);
}

// The wider of two of one kind; uint8 and int8 meet in int16, the half types in float32.
int wider(int a, int b) {
  const int most = std::max(a, b), least = std::min(a, b);
  if (least == static_cast<int>(DType::uint8) && most == static_cast<int>(DType::int8))
    return static_cast<int>(DType::int16);
  return most == static_cast<int>(DType::bfloat16) && least != most ? static_cast<int>(DType::float32) : most;
}

bool fits(DType dtype, std::int64_t x) {
  if (dtype == DType::int64) return true;
  const Store wraps = find_store(Element::i64, dtype);
  const Gather gives = find_gather(dtype, Element::i64);
  if (!wraps) return false;
  std::int64_t wrapped = 0, back = 0;
  wraps(&x, &wrapped, 1), gives(&wrapped, 1, &back, 1);
  return back == x;
}

bool is_floating(DType dtype) { return element_of(dtype) == Element::f32; }
int level(int dtype) { return static_cast<int>(find_dtype(dtype)->kind); }

}  // namespace

std::optional<Element> element_of(DType dtype) {
  switch (dtype) {
    case DType::float32:
    case DType::float16:
    case DType::bfloat16:
      return Element::f32;
    case DType::boolean:
      return Element::boolean;
    case DType::int64:
    case DType::int32:
    case DType::int16:
    case DType::int8:
    case DType::uint8:
      return Element::i64;
    default:
      return std::nullopt;
  }
}

bool holds(DType dtype, DType from) {
  const int a = static_cast<int>(dtype), b = static_cast<int>(from);
  return level(a) > level(b) || (level(a) == level(b) && (is_floating(dtype) || wider(a, b) == a));
}

DType dtype_of(Element element) {
  return element == Element::f32 ? DType::float32 : element == Element::i64 ? DType::int64 : DType::boolean;
}

Gather find_gather(DType from, Element to) {
  if (to == Element::f32) return gather_floats(from);
  if (to == Element::i64) return gather_to<std::int64_t>(from);
  return from == DType::boolean || from == DType::uint8 ? gather_as<std::uint8_t, std::uint8_t, truth> : nullptr;
}

Store find_store(Element from, DType to) {
  if (from == Element::f32)
    return to == DType::float16 ? store_halves<Float16> : to == DType::bfloat16 ? store_halves<BFloat16> : nullptr;
  if (from != Element::i64) return nullptr;
  switch (to) {
    case DType::int32:
      return store<std::int32_t>;
    case DType::int16:
      return store<std::int16_t>;
    case DType::int8:
      return store<std::int8_t>;
    case DType::uint8:
      return store<std::uint8_t>;
    default:
      return nullptr;
  }
}

bool number_as(DType common, const Value& number, void* to) {
  const bool is_real = number.kind == ValueKind::real, is_truth = number.kind == ValueKind::boolean;
  if (!is_real && !is_truth && number.kind != ValueKind::integer) return false;
  const std::int64_t whole = is_truth ? number.boolean : is_real ? 0 : number.integer;
  const double exact = is_real ? number.real : static_cast<double>(whole);
  if (common == DType::float64) return std::memcpy(to, &exact, sizeof exact), true;
  if (is_floating(common)) {
    if (std::isfinite(exact) && std::fabs(exact) > std::numeric_limits<float>::max()) return false;
    const float x = is_real ? static_cast<float>(exact) : static_cast<float>(whole);
    return std::memcpy(to, &x, sizeof x), true;
  }
  if (is_real) return false;
  if (common == DType::boolean) return *static_cast<std::uint8_t*>(to) = whole != 0, true;
  if (!fits(common, whole)) return false;
  return std::memcpy(to, &whole, sizeof whole), true;
}

bool rounded_number_as(DType dtype, const Value& number, void* to) {
  if (!number_as(dtype, number, to)) return false;
  const Store round = is_floating(dtype) ? find_store(Element::f32, dtype) : nullptr;
  if (!round) return true;
  const auto is_finite = [&] { return std::isfinite(*static_cast<const float*>(to)); };
  const bool was_finite = is_finite();
  std::uint16_t half;
  round(to, &half, 1), find_gather(dtype, Element::f32)(&half, 1, to, 1);
  return is_finite() || !was_finite;
}

void Promotion::add(const Value& operand) {
  int dtype = static_cast<int>(DType::boolean), place = 2;
  if (operand.kind == ValueKind::tensor)
    dtype = static_cast<int>(operand.tensor->dtype), place = operand.tensor->rank > 0 ? 0 : 1;
  else if (operand.kind == ValueKind::integer)
    dtype = static_cast<int>(DType::int64);
  else if (operand.kind == ValueKind::real)
    dtype = static_cast<int>(DType::float32);
  else if (operand.kind != ValueKind::boolean)
    known_ = false;
  known_ = known_ && element_of(static_cast<DType>(dtype));
  int& to = of_[place];
  if (!known_ || to == dtype) return;
  to = to < 0 || level(dtype) > level(to) ? dtype : level(dtype) == level(to) ? wider(dtype, to) : to;
}

std::optional<DType> Promotion::result() const {
  int common = -1;
  for (const int next : of_)
    if (next >= 0 && (common < 0 || level(next) > level(common))) common = next;
  if (!known_ || common < 0) return std::nullopt;
  return static_cast<DType>(common);
}

}  // namespace assay::optimized
