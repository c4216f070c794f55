#include "optimized/kernels/pointwise.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "optimized/kernels/epilogue.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "optimized/kernels/pointwise.cpp"
#include <hwy/foreach_target.h>

#include "optimized/kernels/vectors-inl.h"

// A formula is written once, of numbers; the compiler makes vectors of it for each instruction set. An element is only
// ever read before a result is stored in its place, which `simd` says.
HWY_BEFORE_NAMESPACE();
namespace assay::kernels::HWY_NAMESPACE {

template <class T>
T parameter(const void* parameters, std::size_t i) {
  T x;
  std::memcpy(&x, static_cast<const std::byte*>(parameters) + i * parameter_bytes, sizeof x);
  return x;
}

template <class T, class F>
void row_of(const void* const* operands, void* out, std::size_t n, const void* parameters) {
  const F f{};
  const T first = parameter<T>(parameters, 0), second = parameter<T>(parameters, 1);
  const T* a = static_cast<const T*>(operands[0]);
  if constexpr (std::is_invocable_v<F, T, T, T, T>) {  // a, b and the parameters
    const T* b = static_cast<const T*>(operands[1]);
    auto* y = static_cast<std::invoke_result_t<F, T, T, T, T>*>(out);
#pragma omp simd
    for (std::size_t i = 0; i < n; ++i) y[i] = f(a[i], b[i], first, second);
  } else {
    auto* y = static_cast<std::invoke_result_t<F, T, T, T>*>(out);
#pragma omp simd
    for (std::size_t i = 0; i < n; ++i) y[i] = f(a[i], first, second);
  }
}
template <class T, class F>
constexpr PointwiseRow row(F) {
  return row_of<T, F>;
}

// By masks of bits: the compiler makes no vectors of a choice between elements by bytes.
template <class T, class Bits>
void where_row(const void* const* operands, void* out, std::size_t n, const void*) {
  const auto* condition = static_cast<const std::uint8_t*>(operands[0]);
  const T *b = static_cast<const T*>(operands[1]), *c = static_cast<const T*>(operands[2]);
  T* y = static_cast<T*>(out);
#pragma omp simd
  for (std::size_t i = 0; i < n; ++i) {
    const Bits of_c = static_cast<Bits>(Bits(condition[i] != 0) - 1);
    y[i] = std::bit_cast<T>(
        static_cast<Bits>((std::bit_cast<Bits>(b[i]) & Bits(~of_c)) | (std::bit_cast<Bits>(c[i]) & of_c)));
  }
}

template <class T>
void clamp_row(const void* const* operands, void* out, std::size_t n, const void*) {
  const T *a = static_cast<const T*>(operands[0]), *low = static_cast<const T*>(operands[1]),
          *high = static_cast<const T*>(operands[2]);
#pragma omp simd
  for (std::size_t i = 0; i < n; ++i) {
    const T x = a[i] < low[i] || low[i] != low[i] ? low[i] : a[i];
    const T y = x > high[i] || high[i] != high[i] ? high[i] : x;
    static_cast<T*>(out)[i] = a[i] != a[i] ? a[i] : y;
  }
}

template <Activation activation>
void activation_row(const void* const* operands, void* out, std::size_t n, const void*) {
  activate(instruction_set, activation, 0, 0, static_cast<const float*>(operands[0]), static_cast<float*>(out), n);
}

using Byte = std::uint8_t;

// Of any elements; integers wrap.
template <class T>
constexpr PointwiseRow number_row(Pointwise operation) {
  using U = std::conditional_t<std::is_same_v<T, std::int64_t>, std::uint64_t, T>;
  switch (operation) {
    using enum Pointwise;
    case add:
    case sub:
      return row<T>([](T a, T b, T alpha, T) { return T(U(a) + U(alpha) * U(b)); });
    case rsub:
      return row<T>([](T a, T b, T alpha, T) { return T(U(b) + U(alpha) * U(a)); });
    case mul:
      return row<T>([](T a, T b, T, T) { return T(U(a) * U(b)); });
    case minimum:
      return row<T>([](T a, T b, T, T) { return a < b || a != a ? a : b; });
    case maximum:
      return row<T>([](T a, T b, T, T) { return a > b || a != a ? a : b; });
    case lt:
      return row<T>([](T a, T b, T, T) { return Byte(a < b); });
    case le:
      return row<T>([](T a, T b, T, T) { return Byte(a <= b); });
    case gt:
      return row<T>([](T a, T b, T, T) { return Byte(a > b); });
    case ge:
      return row<T>([](T a, T b, T, T) { return Byte(a >= b); });
    case eq:
      return row<T>([](T a, T b, T, T) { return Byte(a == b); });
    case ne:
      return row<T>([](T a, T b, T, T) { return Byte(a != b); });
    case logical_and:
      return row<T>([](T a, T b, T, T) { return Byte((a != 0) & (b != 0)); });
    case logical_or:
      return row<T>([](T a, T b, T, T) { return Byte((a != 0) | (b != 0)); });
    case logical_xor:
      return row<T>([](T a, T b, T, T) { return Byte((a != 0) != (b != 0)); });
    case logical_not:
      return row<T>([](T a, T, T) { return Byte(a == 0); });
    case sign:
      return row<T>([](T a, T, T) { return T((a > 0) - (a < 0)); });
    case neg:
      return row<T>([](T a, T, T) { return T(-U(a)); });
    case relu:
      return row<T>([](T a, T, T) { return a < 0 ? T(0) : a; });
    case clamp:
      return row<T>([](T a, T low, T high) {
        const T x = a < low ? low : a;
        return x > high ? high : x;
      });
    case square:
      return row<T>([](T a, T, T) { return T(U(a) * U(a)); });
    case clamp_between:
      return clamp_row<T>;
    case where:
      return where_row<T, std::conditional_t<std::is_same_v<T, float>, std::uint32_t, U>>;
    default:
      return nullptr;
  }
}

// By formulas of doubles, the functions of libm above all, which no vectors are made of.
template <double (*function)(double)>
void double_row(const void* const* operands, void* out, std::size_t n, const void*) {
  const float* a = static_cast<const float*>(operands[0]);
  for (std::size_t i = 0; i < n; ++i)
    static_cast<float*>(out)[i] = static_cast<float>(function(static_cast<double>(a[i])));
}
template <double (*function)(double, double)>
void double_row(const void* const* operands, void* out, std::size_t n, const void*) {
  const float *a = static_cast<const float*>(operands[0]), *b = static_cast<const float*>(operands[1]);
  for (std::size_t i = 0; i < n; ++i)
    static_cast<float*>(out)[i] = static_cast<float>(function(static_cast<double>(a[i]), static_cast<double>(b[i])));
}

void power_row(const void* const* operands, void* out, std::size_t n, const void* parameters) {
  const float* a = static_cast<const float*>(operands[0]);
  const double exponent = parameter<double>(parameters, 0);
  for (std::size_t i = 0; i < n; ++i)
    static_cast<float*>(out)[i] = static_cast<float>(std::pow(static_cast<double>(a[i]), exponent));
}

void elu_row(const void* const* operands, void* out, std::size_t n, const void* parameters) {
  const float* a = static_cast<const float*>(operands[0]);
  const double alpha = static_cast<double>(parameter<float>(parameters, 0));
  const double scale = static_cast<double>(parameter<float>(parameters, 1));
  const double input_scale = static_cast<double>(parameter<float>(parameters, 2));
  for (std::size_t i = 0; i < n; ++i) {
    const double x = static_cast<double>(a[i]);
    static_cast<float*>(out)[i] = static_cast<float>(x < 0 ? alpha * scale * std::expm1(input_scale * x) : scale * x);
  }
}

template <class T>
bool crosses(T left, T divisor) {
  return left != 0 && (left < 0) != (divisor < 0);
}

double remainder_of(double a, double b) {
  const double left = std::fmod(a, b);
  return crosses(left, b) ? left + b : left;
}

// What is left of a without its remainder is a multiple of b. A zero has the sign of the quotient.
double floor_of(double a, double b) {
  if (b == 0) return a / b;
  const double left = std::fmod(a, b);
  const double whole = (a - left) / b - (crosses(left, b) ? 1 : 0);
  return whole == 0 ? std::copysign(0.0, a / b) : std::round(whole);
}

constexpr PointwiseRow float_row(Pointwise operation) {
  switch (operation) {
    using enum Pointwise;
    case div:
      return row<float>([](float a, float b, float, float) { return a / b; });
    case div_trunc:
      return row<float>([](float a, float b, float, float) { return std::trunc(a / b); });
    case div_floor:
      return double_row<floor_of>;
    case fmod:
      return double_row<std::fmod>;
    case remainder:
      return double_row<remainder_of>;
    case pow:
      return double_row<std::pow>;
    case atan2:
      return double_row<std::atan2>;
    case isnan:
      return row<float>([](float a, float, float) { return Byte(a != a); });
    case isinf:
      return row<float>([](float a, float, float) { return Byte(std::fabs(a) > std::numeric_limits<float>::max()); });
    case floor:
      return row<float>([](float a, float, float) { return std::floor(a); });
    case ceil:
      return row<float>([](float a, float, float) { return std::ceil(a); });
    case trunc:
      return row<float>([](float a, float, float) { return std::trunc(a); });
    case round:
      return row<float>([](float a, float, float) { return std::nearbyint(a); });
    case leaky_relu:
      return row<float>([](float a, float slope, float) { return a > 0 ? a : slope * a; });
    case elu:
      return elu_row;
    case abs:
      return row<float>([](float a, float, float) { return std::fabs(a); });
    case neg:
      return row<float>([](float a, float, float) { return -a; });
    case sqrt:
      return row<float>([](float a, float, float) { return std::sqrt(a); });
    case rsqrt:
      return row<float>([](float a, float, float) { return 1 / std::sqrt(a); });
    case reciprocal:
      return row<float>([](float a, float, float) { return 1 / a; });
    case cube:
      return row<float>([](float a, float, float) { return a * a * a; });
    case inverse_square:
      return row<float>([](float a, float, float) { return 1 / (a * a); });
    case power:
      return power_row;
    case exp:
      return double_row<std::exp>;
    case expm1:
      return double_row<std::expm1>;
    case log:
      return double_row<std::log>;
    case log1p:
      return double_row<std::log1p>;
    case log2:
      return double_row<std::log2>;
    case log10:
      return double_row<std::log10>;
    case sin:
      return double_row<std::sin>;
    case cos:
      return double_row<std::cos>;
    case tan:
      return double_row<std::tan>;
    case asin:
      return double_row<std::asin>;
    case acos:
      return double_row<std::acos>;
    case atan:
      return double_row<std::atan>;
    case sinh:
      return double_row<std::sinh>;
    case cosh:
      return double_row<std::cosh>;
    case tanh:
      return double_row<std::tanh>;
    case asinh:
      return double_row<std::asinh>;
    case acosh:
      return double_row<std::acosh>;
    case atanh:
      return double_row<std::atanh>;
    case erf:
      return double_row<std::erf>;
    case sigmoid:
      return activation_row<Activation::sigmoid>;
    case gelu:
      return activation_row<Activation::gelu>;
    case gelu_tanh:
      return activation_row<Activation::gelu_tanh>;
    default:
      return number_row<float>(operation);
  }
}

// The one quotient beyond the range wraps.
using Int = std::int64_t;
Int negated(Int a) { return static_cast<Int>(-static_cast<std::uint64_t>(a)); }
Int quotient(Int a, Int b) { return b == -1 ? negated(a) : a / b; }
Int rest(Int a, Int b) { return b == -1 ? 0 : a % b; }

// Of integers only 1 and -1 have a power other than 0 below the zeroth.
Int power_of(Int a, Int exponent) {
  if (exponent < 0) return a == 1 ? 1 : a == -1 ? 1 - 2 * (exponent & 1) : 0;
  std::uint64_t power = 1, square = static_cast<std::uint64_t>(a);
  for (; exponent > 0; exponent /= 2, square *= square)
    if (exponent & 1) power *= square;
  return static_cast<Int>(power);
}

constexpr PointwiseRow integer_row(Pointwise operation) {
  switch (operation) {
    using enum Pointwise;
    case div_trunc:
      return row<Int>([](Int a, Int b, Int, Int) { return quotient(a, b); });
    case div_floor:
      return row<Int>([](Int a, Int b, Int, Int) { return quotient(a, b) - crosses(rest(a, b), b); });
    case fmod:
      return row<Int>([](Int a, Int b, Int, Int) { return rest(a, b); });
    case remainder:
      return row<Int>([](Int a, Int b, Int, Int) { return crosses(rest(a, b), b) ? rest(a, b) + b : rest(a, b); });
    case pow:
      return row<Int>([](Int a, Int b, Int, Int) { return power_of(a, b); });
    case bitwise_and:
      return row<Int>([](Int a, Int b, Int, Int) { return a & b; });
    case bitwise_or:
      return row<Int>([](Int a, Int b, Int, Int) { return a | b; });
    case bitwise_xor:
      return row<Int>([](Int a, Int b, Int, Int) { return a ^ b; });
    case bitwise_not:
      return row<Int>([](Int a, Int, Int) { return ~a; });
    case shift_left:
      return row<Int>([](Int a, Int b, Int, Int) { return b < 0 || b > 63 ? 0 : Int(std::uint64_t(a) << b); });
    case shift_right:
      return row<Int>([](Int a, Int b, Int, Int) { return a >> (b < 0 || b > 63 ? 63 : b); });
    case abs:
      return row<Int>([](Int a, Int, Int) { return a < 0 ? negated(a) : a; });
    case floor:
    case ceil:
    case trunc:
    case round:
      return row<Int>([](Int a, Int, Int) { return a; });
    case isnan:
    case isinf:
      return row<Int>([](Int, Int, Int) { return Byte(0); });
    default:
      return number_row<Int>(operation);
  }
}

constexpr PointwiseRow boolean_row(Pointwise operation) {
  switch (operation) {
    using enum Pointwise;
    case add:
      return row<Byte>([](Byte a, Byte b, Byte alpha, Byte) { return Byte((a != 0) | ((b != 0) & (alpha != 0))); });
    case mul:
    case minimum:
    case logical_and:
    case bitwise_and:
      return row<Byte>([](Byte a, Byte b, Byte, Byte) { return Byte((a != 0) & (b != 0)); });
    case maximum:
    case logical_or:
    case bitwise_or:
      return row<Byte>([](Byte a, Byte b, Byte, Byte) { return Byte((a != 0) | (b != 0)); });
    case eq:
      return row<Byte>([](Byte a, Byte b, Byte, Byte) { return Byte((a != 0) == (b != 0)); });
    case ne:
    case logical_xor:
    case bitwise_xor:
      return row<Byte>([](Byte a, Byte b, Byte, Byte) { return Byte((a != 0) != (b != 0)); });
    case sign:
      return row<Byte>([](Byte a, Byte, Byte) { return Byte(a != 0); });
    case isnan:
    case isinf:
      return row<Byte>([](Byte, Byte, Byte) { return Byte(0); });
    case logical_not:
    case bitwise_not:
      return number_row<Byte>(logical_not);
    case where:
      return number_row<Byte>(operation);
    default:
      return nullptr;
  }
}

constexpr PointwiseRow find_row_of(Pointwise operation, Element element) {
  switch (element) {
    case Element::f32:
      return float_row(operation);
    case Element::i64:
      return integer_row(operation);
    case Element::boolean:
      return boolean_row(operation);
  }
  return nullptr;
}

// Which operation on which elements, decided when this is compiled.
template <class Asked>
PointwiseRow row_asked() {
  constexpr PointwiseRow found = find_row_of(Asked::operation(), Asked::element());
  return found;
}

}  // namespace assay::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {
template <Pointwise asked_operation, Element asked_element>
PointwiseRow find_row(InstructionSet set) {
  struct Asked {
    static constexpr Pointwise operation() { return asked_operation; }
    static constexpr Element element() { return asked_element; }
  };
  constexpr PointwiseRow (*of_set[])() = ASSAY_OF_EACH_SET(row_asked<Asked>);
  return of_set[static_cast<std::size_t>(set)]();
}

template <Pointwise operation, Element element>
bool has_row() {
  return HWY_NAMESPACE::find_row_of(operation, element) != nullptr;
}

// All of them, for whom the linker finds them here; nobody reads it.
struct Rows {
  FindRow find;
  bool (*has)();
};
template <std::size_t... i>
constexpr std::array<Rows, sizeof...(i)> all_rows(std::index_sequence<i...>) {
  return {Rows{find_row<Pointwise(i / 3), Element(i % 3)>, has_row<Pointwise(i / 3), Element(i % 3)>}...};
}
extern const std::array<Rows, 3 * pointwise_operations> rows;
const std::array<Rows, 3 * pointwise_operations> rows = all_rows(std::make_index_sequence<3 * pointwise_operations>());

}  // namespace assay::kernels
#endif
