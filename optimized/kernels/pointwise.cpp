#include "optimized/kernels/pointwise.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
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
      return row<T>([](T a, T b, T alpha, T) { return T(U(a) + U(alpha) * U(b)); });
    case sub:
      return row<T>([](T a, T b, T alpha, T) { return T(U(a) - U(alpha) * U(b)); });
    case rsub:
      return row<T>([](T a, T b, T alpha, T) { return T(U(b) - U(alpha) * U(a)); });
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
    case logical_not:
      return row<T>([](T a, T, T) { return Byte(a == 0); });
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
    case same:
      return row<T>([](T a, T, T) { return a; });
    case where:
      return where_row<T, std::conditional_t<std::is_same_v<T, float>, std::uint32_t, U>>;
    default:
      return nullptr;
  }
}

// By the functions of libm, which no vectors are made of.
template <double (*function)(double)>
void double_row(const void* const* operands, void* out, std::size_t n, const void*) {
  const float* a = static_cast<const float*>(operands[0]);
  for (std::size_t i = 0; i < n; ++i)
    static_cast<float*>(out)[i] = static_cast<float>(function(static_cast<double>(a[i])));
}

void power_row(const void* const* operands, void* out, std::size_t n, const void* parameters) {
  const float* a = static_cast<const float*>(operands[0]);
  const double exponent = static_cast<double>(parameter<float>(parameters, 0));
  for (std::size_t i = 0; i < n; ++i)
    static_cast<float*>(out)[i] = static_cast<float>(std::pow(static_cast<double>(a[i]), exponent));
}

constexpr PointwiseRow float_row(Pointwise operation) {
  switch (operation) {
    using enum Pointwise;
    case div:
      return row<float>([](float a, float b, float, float) { return a / b; });
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
    case log:
      return double_row<std::log>;
    case sin:
      return double_row<std::sin>;
    case cos:
      return double_row<std::cos>;
    case tanh:
      return double_row<std::tanh>;
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

constexpr PointwiseRow integer_row(Pointwise operation) {
  if (operation == Pointwise::abs)
    return row<std::int64_t>([](std::int64_t a, std::int64_t, std::int64_t) {
      return a < 0 ? static_cast<std::int64_t>(-static_cast<std::uint64_t>(a)) : a;
    });
  return number_row<std::int64_t>(operation);
}

constexpr PointwiseRow boolean_row(Pointwise operation) {
  switch (operation) {
    using enum Pointwise;
    case mul:
    case minimum:
    case logical_and:
      return row<Byte>([](Byte a, Byte b, Byte, Byte) { return Byte((a != 0) & (b != 0)); });
    case maximum:
    case logical_or:
      return row<Byte>([](Byte a, Byte b, Byte, Byte) { return Byte((a != 0) | (b != 0)); });
    case eq:
      return row<Byte>([](Byte a, Byte b, Byte, Byte) { return Byte((a != 0) == (b != 0)); });
    case ne:
      return row<Byte>([](Byte a, Byte b, Byte, Byte) { return Byte((a != 0) != (b != 0)); });
    case logical_not:
    case where:
    case same:
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
  constexpr PointwiseRow (*of_set[])() = {HWY_CHOOSE_SSE4(row_asked<Asked>), HWY_CHOOSE_AVX2(row_asked<Asked>),
                                          HWY_CHOOSE_AVX3(row_asked<Asked>), HWY_CHOOSE_NEON(row_asked<Asked>)};
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
