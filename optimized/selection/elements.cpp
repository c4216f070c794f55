#include "optimized/selection/elements.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "optimized/selection/gather.h"
#include "optimized/selection/numbers.h"

namespace assay::optimized {
namespace {

// The signed dtype whose elements have the same bits as those of a wide unsigned one.
DType low_bits_of(DType dtype) {
  return dtype == DType::uint16   ? DType::int16
         : dtype == DType::uint32 ? DType::int32
         : dtype == DType::uint64 ? DType::int64
                                  : dtype;
}

// Elements as numbers. Returns null if this dtype has no elements that T can hold.
template <class T>
Gather gather_to(DType from) {
  return with_type_of(from, []<class D>() -> Gather {
    if constexpr (std::is_integral_v<D> || std::is_floating_point_v<T>) return gather_as<D, T>;
    return nullptr;
  });
}

template <class D>
std::uint8_t truth(D x) {
  if constexpr (is_half<D>)
    return static_cast<float>(x) != 0;
  else
    return x != D{};
}
// Signed and unsigned integers of one size have equal truths.
Gather gather_truths(DType from) {
  return with_type_of(low_bits_of(from), []<class D>() -> Gather {
    if constexpr (std::is_integral_v<D> && sizeof(D) == 1)
      return gather_as<std::uint8_t, std::uint8_t, truth>;
    else
      return gather_as<D, std::uint8_t, truth<D>>;
  });
}

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

// A real number as a complex one.
template <class Part, class T>
void store_parts(const void* from, void* to, std::size_t n) {
  const T* x = static_cast<const T*>(from);
  Part* y = static_cast<Part*>(to);
  for (std::size_t i = 0; i < n; ++i) {
    if constexpr (is_half<Part>)
      y[2 * i] = Part::of(x[i]);
    else
      y[2 * i] = x[i];
    y[2 * i + 1] = {};
  }
}

// The wider of two dtypes of one kind. For uint8 and int8 it is int16, for the two half types float32.
int wider(int a, int b) {
  const int most = std::max(a, b), least = std::min(a, b);
  if (least == static_cast<int>(DType::uint8) && most == static_cast<int>(DType::int8))
    return static_cast<int>(DType::int16);
  const bool meets_bfloat16 = most == static_cast<int>(DType::bfloat16) && least != most;
  return meets_bfloat16 ? std::max(least, static_cast<int>(DType::float32)) : most;
}

std::int64_t wrapped(DType dtype, std::int64_t x) {
  const Store wraps = find_store(Element::i64, dtype);
  if (wraps) wraps(&x, &x, 1), find_gather(dtype, Element::i64)(&x, 1, &x, 1);
  return x;
}

// The least and the largest integer of a dtype.
struct Limits {
  double least, largest;
};
Limits limits_of(DType dtype) {
  return with_type_of(dtype, []<class D>() -> Limits {
    if constexpr (std::is_integral_v<D>)
      return {static_cast<double>(std::numeric_limits<D>::min()), static_cast<double>(std::numeric_limits<D>::max())};
    return {};
  });
}

// A negative integer fits an unsigned dtype if its opposite does.
bool fits(DType dtype, double x, bool is_real) {
  const auto [least, largest] = limits_of(dtype);
  return x >= (!is_real && least == 0 ? -largest : least) && x <= largest && (!is_real || x < 0x1p63);
}

int level(int dtype) { return static_cast<int>(find_dtype(dtype)->kind); }

// The complex dtype with such parts. Its parts are never bfloat16.
int complex_of(DType part) {
  return static_cast<int>(part == DType::float64   ? DType::complex128
                          : part == DType::float16 ? DType::complex32
                                                   : DType::complex64);
}

// The common dtype of two dtypes of which the first is complex. Its parts are the wider of those that are floats.
int promote_complex(DType a, DType b) {
  if (is_wide_unsigned(b)) return -1;
  if (!is_floating(part_of(b))) return static_cast<int>(a);
  return complex_of(static_cast<DType>(wider(static_cast<int>(part_of(a)), static_cast<int>(part_of(b)))));
}

// The common dtype of two dtypes; -1 if they have none, or kernels do not support it.
int promote(int a, int b) {
  if (a == b) return a;
  if (is_complex(static_cast<DType>(a))) return promote_complex(static_cast<DType>(a), static_cast<DType>(b));
  if (is_complex(static_cast<DType>(b))) return promote_complex(static_cast<DType>(b), static_cast<DType>(a));
  const bool is_floating = level(a) == static_cast<int>(Kind::floating) || level(b) == static_cast<int>(Kind::floating);
  const auto is_wide = [](int dtype) { return is_wide_unsigned(static_cast<DType>(dtype)); };
  if ((is_wide(a) || is_wide(b)) && !is_floating) return -1;
  return level(a) == level(b) ? wider(a, b) : level(a) > level(b) ? a : b;
}

}  // namespace

std::optional<Element> element_of(DType dtype) {
  if (dtype == DType::boolean) return Element::boolean;
  if (dtype == DType::float64) return Element::f64;
  return with_type_of(dtype, []<class D>() -> std::optional<Element> {
    if (is_only_cast<D>) return std::nullopt;
    return std::is_integral_v<D> ? Element::i64 : Element::f32;
  });
}
std::optional<Element> carrier_of(DType dtype) { return is_wide_unsigned(dtype) ? Element::i64 : element_of(dtype); }

bool holds(DType dtype, DType from) {
  const int a = static_cast<int>(dtype), b = static_cast<int>(from);
  return level(a) > level(b) || (level(a) == level(b) && (is_floating(dtype) || wider(a, b) == a));
}

DType dtype_of(Element element) {
  constexpr DType of_each[] = {DType::float32, DType::int64, DType::boolean, DType::float64};
  return of_each[static_cast<std::size_t>(element)];
}

Gather find_gather(DType from, Element to) {
  if (to == Element::f32) return gather_to<float>(from);
  if (to == Element::i64) return gather_to<std::int64_t>(from);
  return to == Element::f64 ? gather_to<double>(from) : gather_truths(from);
}

Store find_store(Element from, DType to) {
  if (to == DType::boolean) return nullptr;
  if (to == DType::complex128) return from == Element::f64 ? store_parts<double, double> : nullptr;
  if (to == DType::complex64) return from == Element::f32 ? store_parts<float, float> : nullptr;
  if (to == DType::complex32) return from == Element::f32 ? store_parts<Float16, float> : nullptr;
  return with_type_of(to, [=]<class D>() -> Store {
    if constexpr (is_half<D>)
      return from == Element::f32 ? store_halves<D> : nullptr;
    else if constexpr (std::is_integral_v<D> && !std::is_same_v<D, std::int64_t>)
      return from == Element::i64 ? store<D> : nullptr;
    else
      return nullptr;
  });
}

Gather find_gather(DType from, Element to, kernels::InstructionSet set) {
  if (to == Element::f32 && from == DType::float16) return kernels::find_widen<Float16>(set);
  if (to == Element::f32 && from == DType::bfloat16) return kernels::find_widen<BFloat16>(set);
  return find_gather(from, to);
}

Store find_store(Element from, DType to, kernels::InstructionSet set) {
  if (from == Element::f32 && to == DType::float16) return kernels::find_narrow<Float16>(set);
  if (from == Element::f32 && to == DType::bfloat16) return kernels::find_narrow<BFloat16>(set);
  return find_store(from, to);
}

void convert(DType from, const void* element, DType to, void* converted) {
  if (from == to)
    return static_cast<void>(
        std::memcpy(converted, element, static_cast<std::size_t>(find_dtype(static_cast<int>(to))->bytes)));
  if (is_complex(from) || is_complex(to))
    return find_writer<Complex>(to)(find_reader<Complex>(from)(element), converted);
  const Element carrier = *carrier_of(to);
  if (is_floating(from) && carrier == Element::i64) return find_writer(to)(find_reader(from)(element), converted);
  std::uint64_t carried = 0;
  const Store store = find_store(carrier, to);
  find_gather(from, carrier)(element, 1, store ? &carried : converted, 1);
  if (store) store(&carried, converted, 1);
}

bool number_as(DType common, const Value& number, void* to, bool is_operand) {
  const bool is_real = number.kind == ValueKind::real, is_truth = number.kind == ValueKind::boolean;
  if (!is_real && !is_truth && number.kind != ValueKind::integer) return false;
  const std::int64_t whole = is_truth ? number.boolean : is_real ? 0 : number.integer;
  const double exact = is_real ? number.real : static_cast<double>(whole);
  if (common == DType::float64) return std::memcpy(to, &exact, sizeof exact), true;
  if (is_floating(common)) {
    if (!is_operand && std::isfinite(exact) && std::fabs(exact) > std::numeric_limits<float>::max()) return false;
    const float x = is_real ? static_cast<float>(exact) : static_cast<float>(whole);
    return std::memcpy(to, &x, sizeof x), true;
  }
  if (common == DType::boolean) return *static_cast<std::uint8_t*>(to) = exact != 0, true;
  if (is_operand ? is_real : !fits(common, exact, is_real)) return false;
  const std::int64_t x = wrapped(common, is_real ? static_cast<std::int64_t>(exact) : whole);
  return std::memcpy(to, &x, sizeof x), true;
}

bool rounded_number_as(DType dtype, const Value& number, void* to, bool is_operand) {
  if (!number_as(dtype, number, to, is_operand)) return false;
  const Store round = is_floating(dtype) ? find_store(Element::f32, dtype) : nullptr;
  if (!round) return true;
  const auto is_finite = [&] { return std::isfinite(*static_cast<const float*>(to)); };
  const bool was_finite = is_finite();
  std::uint16_t half;
  round(to, &half, 1), find_gather(dtype, Element::f32)(&half, 1, to, 1);
  return is_operand || is_finite() || !was_finite;
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
  known_ = known_ && level(dtype) <= static_cast<int>(Kind::complex);
  int& to = of_[place];
  to = !known_ || to < 0 ? dtype : promote(dtype, to);
  known_ = known_ && to >= 0;
}

std::optional<DType> Promotion::result() const {
  int common = -1;
  bool known = known_;
  for (const int next : of_) {
    if (next < 0 || (common >= 0 && level(next) <= level(common))) continue;
    const bool keeps_parts = common >= 0 && is_complex(static_cast<DType>(next));
    if (keeps_parts)
      common = is_floating(static_cast<DType>(common)) ? complex_of(static_cast<DType>(common)) : next;
    else
      common = common < 0 || !known ? next : promote(common, next);
    known = known && common >= 0;
  }
  if (!known || common < 0) return std::nullopt;
  return static_cast<DType>(common);
}

bool casts_to(std::span<Value* const> tensors, DType dtype) {
  Promotion promotion;
  bool all_same = true;
  for (const Value* v : tensors) {
    if (!v || !v->is_tensor()) return false;
    promotion.add(*v);
    all_same = all_same && v->tensor->dtype == dtype;
  }
  const auto common = promotion.result();
  return all_same ||
         (common && find_reader<Complex>(dtype) && level(static_cast<int>(dtype)) >= level(static_cast<int>(*common)));
}
DType common_of(std::span<Value* const> tensors, DType otherwise) {
  Promotion promotion;
  for (const Value* v : tensors) promotion.add(*v);
  return promotion.result().value_or(otherwise);
}

}  // namespace assay::optimized
