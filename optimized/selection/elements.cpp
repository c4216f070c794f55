#include "optimized/selection/elements.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "optimized/selection/gather.h"

namespace assay::optimized {
namespace {

// Returns null if elements of this dtype are not read as T.
template <class T>
Gather gather_to(DType from) {
  return with_type_of(from, []<class D>() -> Gather {
    if constexpr (!is_only_cast<D> && (std::is_integral_v<D> || std::is_same_v<T, float>)) return gather_as<D, T>;
    return nullptr;
  });
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

// The wider of two dtypes of one kind. For uint8 and int8 it is int16, for the two half types float32.
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
  if (dtype == DType::boolean) return Element::boolean;
  return with_type_of(dtype, []<class D>() -> std::optional<Element> {
    if (is_only_cast<D>) return std::nullopt;
    return std::is_integral_v<D> ? Element::i64 : Element::f32;
  });
}

bool holds(DType dtype, DType from) {
  const int a = static_cast<int>(dtype), b = static_cast<int>(from);
  return level(a) > level(b) || (level(a) == level(b) && (is_floating(dtype) || wider(a, b) == a));
}

DType dtype_of(Element element) {
  return element == Element::f32 ? DType::float32 : element == Element::i64 ? DType::int64 : DType::boolean;
}

Gather find_gather(DType from, Element to) {
  if (to == Element::f32) return gather_to<float>(from);
  if (to == Element::i64) return gather_to<std::int64_t>(from);
  return from == DType::boolean || from == DType::uint8 ? gather_as<std::uint8_t, std::uint8_t, truth> : nullptr;
}

Store find_store(Element from, DType to) {
  if (to == DType::boolean) return nullptr;
  return with_type_of(to, [=]<class D>() -> Store {
    if constexpr (is_half<D>)
      return from == Element::f32 ? store_halves<D> : nullptr;
    else if constexpr (std::is_integral_v<D> && !is_only_cast<D> && !std::is_same_v<D, std::int64_t>)
      return from == Element::i64 ? store<D> : nullptr;
    else
      return nullptr;
  });
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
