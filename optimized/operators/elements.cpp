#include "optimized/operators/elements.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace assay::optimized {
namespace {

template <class D, class T>
T converted(D x) {
  if constexpr (std::is_same_v<T, std::uint8_t>)
    return x != 0;
  else
    return static_cast<T>(x);
}

template <class D, class T>
void gather(const void* from, std::ptrdiff_t stride, void* to, std::size_t n) {
  const D* x = static_cast<const D*>(from);
  T* y = static_cast<T*>(to);
  if (stride == 0) {
    std::fill_n(y, n, converted<D, T>(*x));
  } else if (stride == 1) {
    for (std::size_t i = 0; i < n; ++i) y[i] = converted<D, T>(x[i]);
  } else {
    for (std::size_t i = 0; i < n; ++i, x += stride) y[i] = converted<D, T>(*x);
  }
}

template <class T>
Gather gather_to(DType from) {
  switch (from) {
    case DType::float32:
      return std::is_same_v<T, std::int64_t> ? nullptr : gather<float, T>;
    case DType::int64:
      return gather<std::int64_t, T>;
    case DType::int32:
      return gather<std::int32_t, T>;
    case DType::int16:
      return gather<std::int16_t, T>;
    case DType::int8:
      return gather<std::int8_t, T>;
    case DType::uint8:
    case DType::boolean:
      return gather<std::uint8_t, T>;
    default:
      return nullptr;
  }
}

template <class D>
void store(const void* from, void* to, std::size_t n) {
  const auto* x = static_cast<const std::int64_t*>(from);
  D* y = static_cast<D*>(to);
  for (std::size_t i = 0; i < n; ++i) y[i] = static_cast<D>(x[i]);
}

// The wider of two of one kind; uint8 and int8 meet in int16.
int wider(int a, int b) {
  const int most = std::max(a, b), least = std::min(a, b);
  return least == static_cast<int>(DType::uint8) && most == static_cast<int>(DType::int8)
             ? static_cast<int>(DType::int16)
             : most;
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

int level(int dtype) { return static_cast<int>(find_dtype(dtype)->kind); }

}  // namespace

std::optional<Element> element_of(DType dtype) {
  switch (dtype) {
    case DType::float32:
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
  return level(a) > level(b) || (level(a) == level(b) && wider(a, b) == a);
}

DType dtype_of(Element element) {
  return element == Element::f32 ? DType::float32 : element == Element::i64 ? DType::int64 : DType::boolean;
}

Gather find_gather(DType from, Element to) {
  return to == Element::f32   ? gather_to<float>(from)
         : to == Element::i64 ? gather_to<std::int64_t>(from)
                              : gather_to<std::uint8_t>(from);
}

Store find_store(Element from, DType to) {
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
  const bool is_real = number.kind == ValueKind::real;
  if (!is_real && number.kind != ValueKind::integer) return false;
  if (common == DType::float32) {
    const double exact = is_real ? number.real : static_cast<double>(number.integer);
    if (std::isfinite(exact) && std::fabs(exact) > std::numeric_limits<float>::max()) return false;
    const float x = is_real ? static_cast<float>(exact) : static_cast<float>(number.integer);
    return std::memcpy(to, &x, sizeof x), true;
  }
  if (is_real || !fits(common, number.integer)) return false;
  return std::memcpy(to, &number.integer, sizeof number.integer), true;
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
