#include "optimized/kernels/pointwise.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>
#include <span>
#include <type_traits>
#include <utility>

#include "optimized/kernels/epilogue.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "optimized/kernels/pointwise.cpp"
#include <hwy/foreach_target.h>

#include <hwy/contrib/math/math-inl.h>

#include "optimized/kernels/exponential-inl.h"

// A formula is written once, on numbers; for each instruction set the compiler makes vectors of it. `simd` tells it
// that an element is read only before a result is stored in its place.
HWY_BEFORE_NAMESPACE();
namespace assay::kernels::HWY_NAMESPACE {

template <class T>
T parameter(const void* parameters, std::size_t i) {
  T x;
  std::memcpy(&x, static_cast<const std::byte*>(parameters) + i * parameter_bytes, sizeof x);
  return x;
}

// f(numbers) with as many of the parameters as f takes.
template <class F, class T, class... Numbers>
constexpr auto with_parameters(F f, T first, T second, Numbers... numbers) {
  if constexpr (std::is_invocable_v<F, Numbers..., T, T>)
    return f(numbers..., first, second);
  else if constexpr (std::is_invocable_v<F, Numbers..., T>)
    return f(numbers..., first);
  else
    return f(numbers...);
}

template <class T, class F>
using ResultOfOne = decltype(with_parameters(F(), T(), T(), T()));
template <class T, class F>
using ResultOfTwo = decltype(with_parameters(F(), T(), T(), T(), T()));

template <class T, class F>
void row_of_one(const void* const* operands, void* out, std::size_t n, const void* parameters) {
  const T first = parameter<T>(parameters, 0), second = parameter<T>(parameters, 1);
  const T* a = static_cast<const T*>(operands[0]);
  auto* y = static_cast<ResultOfOne<T, F>*>(out);
#pragma omp simd
  for (std::size_t i = 0; i < n; ++i) y[i] = with_parameters(F(), first, second, a[i]);
}

template <class T, class F>
void row_of_two(const void* const* operands, void* out, std::size_t n, const void* parameters) {
  const T first = parameter<T>(parameters, 0), second = parameter<T>(parameters, 1);
  const T *a = static_cast<const T*>(operands[0]), *b = static_cast<const T*>(operands[1]);
  auto* y = static_cast<ResultOfTwo<T, F>*>(out);
#pragma omp simd
  for (std::size_t i = 0; i < n; ++i) y[i] = with_parameters(F(), first, second, a[i], b[i]);
}

using Byte = std::uint8_t;  // a truth: 1 or 0

// A formula of one number, or of two, and of up to two parameters. It has no state.
template <class T, class F>
constexpr PointwiseFormula one(F) {
  return {row_of_one<T, F>, 1, std::is_same_v<ResultOfOne<T, F>, Byte>};
}
template <class T, class F>
constexpr PointwiseFormula two(F) {
  return {row_of_two<T, F>, 2, std::is_same_v<ResultOfTwo<T, F>, Byte>};
}

// The type in which sums and products of T are computed: an unsigned integer wraps.
template <class T>
using Wrapping = std::conditional_t<std::is_same_v<T, std::int64_t>, std::uint64_t, T>;
// An unsigned integer of as many bits as T: float, double, std::int64_t or Byte.
template <class T>
using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::conditional_t<sizeof(T) == 4, std::uint32_t, T>>;

// The second number where the first, a byte, is not 0, else the third. By masks of bits: the compiler makes no vectors
// of a choice between elements by bytes.
template <class T>
void where_row(const void* const* operands, void* out, std::size_t n, const void*) {
  const auto* condition = static_cast<const std::uint8_t*>(operands[0]);
  const T *b = static_cast<const T*>(operands[1]), *c = static_cast<const T*>(operands[2]);
  T* y = static_cast<T*>(out);
  using U = Bits<T>;
#pragma omp simd
  for (std::size_t i = 0; i < n; ++i) {
    const U of_c = static_cast<U>(U(condition[i] != 0) - 1);
    y[i] = std::bit_cast<T>(static_cast<U>((std::bit_cast<U>(b[i]) & U(~of_c)) | (std::bit_cast<U>(c[i]) & of_c)));
  }
}

// The first number, but at least the second and at most the third; NaN where one of them is.
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
  Epilogue epilogue;
  epilogue.activation = activation;
  activate(instruction_set, epilogue, static_cast<const float*>(operands[0]), static_cast<float*>(out), n);
}

struct NamedFormula {
  Operation operation;
  PointwiseFormula formula;
};

// Formulas of floats and of integers, which wrap. The parameter of a sum is alpha, of differences its opposite. Where
// an operand of minimum or maximum is NaN, so is the result.
template <class T, class U = Wrapping<T>>
constexpr NamedFormula number_formulas[] = {
    {"add", two<T>([](T a, T b, T alpha) { return T(U(a) + U(alpha) * U(b)); })},
    {"sub", two<T>([](T a, T b, T alpha) { return T(U(a) + U(alpha) * U(b)); })},
    {"rsub", two<T>([](T a, T b, T alpha) { return T(U(b) + U(alpha) * U(a)); })},
    {"mul", two<T>([](T a, T b) { return T(U(a) * U(b)); })},
    {"minimum", two<T>([](T a, T b) { return a < b || a != a ? a : b; })},
    {"maximum", two<T>([](T a, T b) { return a > b || a != a ? a : b; })},
    {"lt", two<T>([](T a, T b) { return Byte(a < b); })},
    {"le", two<T>([](T a, T b) { return Byte(a <= b); })},
    {"gt", two<T>([](T a, T b) { return Byte(a > b); })},
    {"ge", two<T>([](T a, T b) { return Byte(a >= b); })},
    {"eq", two<T>([](T a, T b) { return Byte(a == b); })},
    {"ne", two<T>([](T a, T b) { return Byte(a != b); })},
    {"logical_and", two<T>([](T a, T b) { return Byte((a != 0) & (b != 0)); })},
    {"logical_or", two<T>([](T a, T b) { return Byte((a != 0) | (b != 0)); })},
    {"logical_xor", two<T>([](T a, T b) { return Byte((a != 0) != (b != 0)); })},
    {"logical_not", one<T>([](T a) { return Byte(a == 0); })},
    {"sign", one<T>([](T a) { return T((a > 0) - (a < 0)); })},
    {"neg", one<T>([](T a) { return T(-U(a)); })},
    {"relu", one<T>([](T a) { return a < 0 ? T(0) : a; })},
    {"clamp", one<T>([](T a, T low, T high) {
       const T x = a < low ? low : a;
       return x > high ? high : x;
     })},
    {"square", one<T>([](T a) { return T(U(a) * U(a)); })},
    {"clamp_between", {clamp_row<T>, 3}},
    {"where", {where_row<T>, 3}},
};

// Formulas of doubles, most of them functions of libm, for elements that are floats or doubles. The compiler makes no
// vectors of these.
template <class T, double (*function)(double)>
void double_row(const void* const* operands, void* out, std::size_t n, const void*) {
  const T* a = static_cast<const T*>(operands[0]);
  for (std::size_t i = 0; i < n; ++i) static_cast<T*>(out)[i] = static_cast<T>(function(static_cast<double>(a[i])));
}
template <class T, double (*function)(double, double)>
void double_row(const void* const* operands, void* out, std::size_t n, const void*) {
  const T *a = static_cast<const T*>(operands[0]), *b = static_cast<const T*>(operands[1]);
  for (std::size_t i = 0; i < n; ++i)
    static_cast<T*>(out)[i] = static_cast<T>(function(static_cast<double>(a[i]), static_cast<double>(b[i])));
}

constexpr float least = std::numeric_limits<float>::min(), largest = std::numeric_limits<float>::max();

// The floats [low, high] for which an approximation is valid.
template <class Approximation>
constexpr bool is_valid(float x) {
  return x >= Approximation::low && x <= Approximation::high;
}
struct Finite {
  static constexpr float low = -largest, high = largest;
};
struct Positive {
  static constexpr float low = least, high = largest;
};
struct NotNegative {
  static constexpr float low = 0, high = largest;
};
struct Angles {
  static constexpr float low = -39000, high = 39000;
};

// Approximations of functions of libm by vectors of doubles. The sign of a zero stays.
struct Expm1 {
  static constexpr float low = -largest, high = 700;
  template <class D, class V>
  static HWY_INLINE V of(D tag, V x) {
    return hn::CopySign(hn::Expm1(tag, x), x);
  }
};
struct Log : Positive {
  template <class D, class V>
  static HWY_INLINE V of(D tag, V x) {
    return hn::Log(tag, x);
  }
};
struct Log2 : Positive {
  template <class D, class V>
  static HWY_INLINE V of(D tag, V x) {
    return hn::Log2(tag, x);
  }
};
struct Log10 : Positive {
  template <class D, class V>
  static HWY_INLINE V of(D tag, V x) {
    return hn::Log10(tag, x);
  }
};
struct Log1p : NotNegative {
  template <class D, class V>
  static HWY_INLINE V of(D tag, V x) {
    return hn::Log1p(tag, x);
  }
};
struct Sin : Angles {
  template <class D, class V>
  static HWY_INLINE V of(D tag, V x) {
    return hn::IfThenElse(hn::Eq(x, hn::Zero(tag)), x, hn::Sin(tag, x));
  }
};
struct Cos : Angles {
  template <class D, class V>
  static HWY_INLINE V of(D tag, V x) {
    return hn::Cos(tag, x);
  }
};
struct Atan : Finite {
  template <class D, class V>
  static HWY_INLINE V of(D tag, V x) {
    return hn::Atan(tag, x);
  }
};

constexpr hn::ScalableTag<double> vector_of_doubles;
constexpr hn::Rebind<float, hn::ScalableTag<double>> some_floats;  // as many as there are doubles in a vector
constexpr std::size_t width = hn::MaxLanes(vector_of_doubles);

// A function of a vector of floats, approximated in doubles: the errors of a few ulp vanish when results are rounded to
// floats. Numbers for which this is not valid, and NaN, are computed by libm: a result depends on its number alone.
template <double (*function)(double), class Approximation>
HWY_INLINE void approximate(const float* in, float* out) {
  const auto x = hn::LoadU(some_floats, in);
  const auto y = hn::DemoteTo(some_floats, Approximation::of(vector_of_doubles, hn::PromoteTo(vector_of_doubles, x)));
  const auto are_valid = hn::And(hn::Ge(x, hn::Set(some_floats, Approximation::low)),
                                 hn::Le(x, hn::Set(some_floats, Approximation::high)));
  hn::StoreU(y, some_floats, out);
  if (HWY_LIKELY(hn::AllTrue(some_floats, are_valid))) return;
  HWY_ALIGN float numbers[width];
  hn::Store(x, some_floats, numbers);
  for (std::size_t i = 0; i < width; ++i)
    if (!is_valid<Approximation>(numbers[i])) out[i] = static_cast<float>(function(static_cast<double>(numbers[i])));
}

template <double (*function)(double), class Approximation>
void approximated_row(const void* const* operands, void* out, std::size_t n, const void*) {
  const float* a = static_cast<const float*>(operands[0]);
  auto* y = static_cast<float*>(out);
  std::size_t i = 0;
  for (; i + width <= n; i += width) approximate<function, Approximation>(a + i, y + i);
  if (i == n) return;
  HWY_ALIGN float numbers[width] = {}, results[width];
  std::memcpy(numbers, a + i, (n - i) * sizeof(float));
  approximate<function, Approximation>(numbers, results);
  std::memcpy(y + i, results, (n - i) * sizeof(float));
}

template <class T, double (*function)(double), class Approximation>
constexpr PointwiseFormula approximated() {
  if constexpr (std::is_same_v<T, float> && HWY_TARGET <= HWY_AVX2)
    return {approximated_row<function, Approximation>, 1};
  else
    return {double_row<T, function>, 1};
}

// tanh |x| is |x| + |x|^3 p(x^2) for |x| < 1, and 1 - 2 / (e^2|x| + 1) otherwise. With fused products, the error is at
// most 0.9592 ulp.
HWY_INLINE Vector hyperbolic_tangent(Vector x) {
  constexpr float p[] = {-0.33333296f,  0.13332348f,   -0.05387999f,   0.021487199f,
                         -0.007946894f, 0.0023019298f, -0.00035861123f};
  const Vector one = number(1), size = hn::Abs(x), square = hn::Mul(x, x);
  const Vector near = hn::MulAdd(hn::Mul(size, square), polynomial(square, p), size);
  const Vector far = hn::Sub(one, hn::Div(number(2), hn::Add(exponential(hn::Add(size, size)), one)));
  return hn::CopySign(hn::IfThenElse(hn::Lt(size, one), near, far), x);
}

template <Vector (*function)(Vector)>
void vector_row(const void* const* operands, void* out, std::size_t n, const void*) {
  const float* a = static_cast<const float*>(operands[0]);
  auto* y = static_cast<float*>(out);
  each_vector(0, n, [&](std::size_t i, const auto& part) HWY_ATTR { part.store(function(part.load(a + i)), y + i); });
}

// A function of floats by vectors that need fused products for their accuracy, or by libm.
template <class T, double (*function)(double), Vector (*of_vector)(Vector)>
constexpr PointwiseFormula by_vectors() {
  if constexpr (std::is_same_v<T, float> && (HWY_TARGET <= HWY_AVX2 || HWY_TARGET == HWY_NEON))
    return {vector_row<of_vector>, 1};
  else
    return {double_row<T, function>, 1};
}

template <class T>
void power_row(const void* const* operands, void* out, std::size_t n, const void* parameters) {
  const T* a = static_cast<const T*>(operands[0]);
  const double exponent = parameter<double>(parameters, 0);
  for (std::size_t i = 0; i < n; ++i)
    static_cast<T*>(out)[i] = static_cast<T>(std::pow(static_cast<double>(a[i]), exponent));
}

template <class T>
void elu_row(const void* const* operands, void* out, std::size_t n, const void* parameters) {
  const T* a = static_cast<const T*>(operands[0]);
  const double alpha = static_cast<double>(parameter<T>(parameters, 0));
  const double scale = static_cast<double>(parameter<T>(parameters, 1));
  const double input_scale = static_cast<double>(parameter<T>(parameters, 2));
  for (std::size_t i = 0; i < n; ++i) {
    const double x = static_cast<double>(a[i]);
    static_cast<T*>(out)[i] = static_cast<T>(x < 0 ? alpha * scale * std::expm1(input_scale * x) : scale * x);
  }
}

// The nearest multiple of a power of 10. The power and the number that becomes an integer are rounded to T.
template <class T>
void round_decimals_row(const void* const* operands, void* out, std::size_t n, const void* parameters) {
  const T* a = static_cast<const T*>(operands[0]);
  const T decimals = parameter<T>(parameters, 0);
  const T power = static_cast<T>(std::pow(10.0, std::fabs(static_cast<double>(decimals))));
  for (std::size_t i = 0; i < n; ++i)
    static_cast<T*>(out)[i] =
        decimals < 0 ? std::nearbyint(a[i] / power) * power : std::nearbyint(a[i] * power) / power;
}

template <class T>
bool crosses(T left, T divisor) {
  return left != 0 && (left < 0) != (divisor < 0);
}

// Has the sign of the divisor.
double remainder_of(double a, double b) {
  const double left = std::fmod(a, b);
  return crosses(left, b) ? left + b : left;
}

// The largest integer not above a / b. a without its remainder is a multiple of b. A zero has the sign of the quotient.
double floor_of(double a, double b) {
  if (b == 0) return a / b;
  const double left = std::fmod(a, b);
  const double whole = (a - left) / b - (crosses(left, b) ? 1 : 0);
  return whole == 0 ? std::copysign(0.0, a / b) : std::round(whole);
}

template <class T, double (*function)(double)>
constexpr PointwiseFormula doubles() {
  return {double_row<T, function>, 1};
}
template <class T, double (*function)(double, double)>
constexpr PointwiseFormula doubles() {
  return {double_row<T, function>, 2};
}

double sigmoid_of(double x) { return 1 / (1 + std::exp(-x)); }
double gelu_of(double x) { return x * std::erfc(-x * std::sqrt(0.5)) / 2; }
double gelu_tanh_of(double x) {
  const double inner = std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x);
  return x / 2 * (1 + std::tanh(inner));
}

// An activation of floats by vectors, and of doubles by a function.
template <class T, Activation activation, double (*function)(double)>
constexpr PointwiseFormula activated() {
  if constexpr (std::is_same_v<T, float>)
    return {activation_row<activation>, 1};
  else
    return doubles<T, function>();
}

// Floats and doubles have these formulas besides, or instead.
template <class T>
constexpr NamedFormula float_formulas[] = {
    {"div", two<T>([](T a, T b) { return a / b; })},
    {"div_trunc", two<T>([](T a, T b) { return std::trunc(a / b); })},
    {"div_floor", doubles<T, floor_of>()},
    {"fmod", doubles<T, std::fmod>()},
    {"remainder", doubles<T, remainder_of>()},
    {"pow", doubles<T, std::pow>()},
    {"hypot", doubles<T, std::hypot>()},
    {"copysign", two<T>([](T a, T b) { return std::copysign(a, b); })},
    {"round_decimals", {round_decimals_row<T>, 1}},
    {"atan2", doubles<T, std::atan2>()},
    {"isnan", one<T>([](T a) { return Byte(a != a); })},
    {"isinf", one<T>([](T a) { return Byte(std::fabs(a) > std::numeric_limits<T>::max()); })},
    {"floor", one<T>([](T a) { return std::floor(a); })},
    {"ceil", one<T>([](T a) { return std::ceil(a); })},
    {"trunc", one<T>([](T a) { return std::trunc(a); })},
    {"round", one<T>([](T a) { return std::nearbyint(a); })},
    {"leaky_relu", one<T>([](T a, T slope) { return a > 0 ? a : slope * a; })},
    {"elu", {elu_row<T>, 1}},
    {"abs", one<T>([](T a) { return std::fabs(a); })},
    {"neg", one<T>([](T a) { return -a; })},
    {"sqrt", one<T>([](T a) { return std::sqrt(a); })},
    {"rsqrt", one<T>([](T a) { return 1 / std::sqrt(a); })},
    {"reciprocal", one<T>([](T a) { return 1 / a; })},
    {"cube", one<T>([](T a) { return a * a * a; })},
    {"inverse_square", one<T>([](T a) { return 1 / (a * a); })},
    {"power", {power_row<T>, 1}},
    {"exp", by_vectors<T, std::exp, exponential>()},
    {"exp2", doubles<T, std::exp2>()},
    {"expm1", approximated<T, std::expm1, Expm1>()},
    {"log", approximated<T, std::log, Log>()},
    {"log1p", approximated<T, std::log1p, Log1p>()},
    {"log2", approximated<T, std::log2, Log2>()},
    {"log10", approximated<T, std::log10, Log10>()},
    {"sin", approximated<T, std::sin, Sin>()},
    {"cos", approximated<T, std::cos, Cos>()},
    {"tan", doubles<T, std::tan>()},
    {"asin", doubles<T, std::asin>()},
    {"acos", doubles<T, std::acos>()},
    {"atan", approximated<T, std::atan, Atan>()},
    {"sinh", doubles<T, std::sinh>()},
    {"cosh", doubles<T, std::cosh>()},
    {"tanh", by_vectors<T, std::tanh, hyperbolic_tangent>()},
    {"asinh", doubles<T, std::asinh>()},
    {"acosh", doubles<T, std::acosh>()},
    {"atanh", doubles<T, std::atanh>()},
    {"erfc", doubles<T, std::erfc>()},
    {"erf", doubles<T, std::erf>()},
    {"sigmoid", activated<T, Activation::sigmoid, sigmoid_of>()},
    {"gelu", activated<T, Activation::gelu, gelu_of>()},
    {"gelu_tanh", activated<T, Activation::gelu_tanh, gelu_tanh_of>()},
};

// The one quotient beyond the range, of the least integer by -1, wraps.
using Int = std::int64_t;
Int negated(Int a) { return static_cast<Int>(-static_cast<std::uint64_t>(a)); }
Int quotient(Int a, Int b) { return b == -1 ? negated(a) : a / b; }
Int rest(Int a, Int b) { return b == -1 ? 0 : a % b; }

// To a negative exponent, only 1 and -1 have a power other than 0.
Int power_of(Int a, Int exponent) {
  if (exponent < 0) return a == 1 ? 1 : a == -1 ? 1 - 2 * (exponent & 1) : 0;
  std::uint64_t power = 1, square = static_cast<std::uint64_t>(a);
  for (; exponent > 0; exponent /= 2, square *= square)
    if (exponent & 1) power *= square;
  return static_cast<Int>(power);
}

constexpr PointwiseFormula same_integer = one<Int>([](Int a) { return a; });

// Integers have these formulas besides.
constexpr NamedFormula integer_formulas[] = {
    {"div_trunc", two<Int>([](Int a, Int b) { return quotient(a, b); })},
    {"div_floor", two<Int>([](Int a, Int b) { return quotient(a, b) - crosses(rest(a, b), b); })},
    {"fmod", two<Int>([](Int a, Int b) { return rest(a, b); })},
    {"remainder", two<Int>([](Int a, Int b) { return crosses(rest(a, b), b) ? rest(a, b) + b : rest(a, b); })},
    {"pow", two<Int>([](Int a, Int b) { return power_of(a, b); })},
    {"bitwise_and", two<Int>([](Int a, Int b) { return a & b; })},
    {"bitwise_or", two<Int>([](Int a, Int b) { return a | b; })},
    {"bitwise_xor", two<Int>([](Int a, Int b) { return a ^ b; })},
    {"bitwise_not", one<Int>([](Int a) { return ~a; })},
    {"shift_left", two<Int>([](Int a, Int b) { return b < 0 || b > 63 ? 0 : Int(std::uint64_t(a) << b); })},
    {"shift_right", two<Int>([](Int a, Int b) { return a >> (b < 0 || b > 63 ? 63 : b); })},
    {"abs", one<Int>([](Int a) { return a < 0 ? negated(a) : a; })},
    {"floor", same_integer},
    {"ceil", same_integer},
    {"trunc", same_integer},
    {"round", same_integer},
    {"isnan", one<Int>([](Int) { return Byte(0); })},
    {"isinf", one<Int>([](Int) { return Byte(0); })},
};

constexpr PointwiseFormula conjunction = two<Byte>([](Byte a, Byte b) { return Byte((a != 0) & (b != 0)); });
constexpr PointwiseFormula disjunction = two<Byte>([](Byte a, Byte b) { return Byte((a != 0) | (b != 0)); });
constexpr PointwiseFormula difference = two<Byte>([](Byte a, Byte b) { return Byte((a != 0) != (b != 0)); });
constexpr PointwiseFormula negation = one<Byte>([](Byte a) { return Byte(a == 0); });
constexpr PointwiseFormula never = one<Byte>([](Byte) { return Byte(0); });

// Truths have these formulas alone. A byte is true where it is not 0.
constexpr NamedFormula truth_formulas[] = {
    {"add", two<Byte>([](Byte a, Byte b, Byte alpha) { return Byte((a != 0) | ((b != 0) & (alpha != 0))); })},
    {"mul", conjunction},
    {"minimum", conjunction},
    {"logical_and", conjunction},
    {"bitwise_and", conjunction},
    {"maximum", disjunction},
    {"logical_or", disjunction},
    {"bitwise_or", disjunction},
    {"eq", two<Byte>([](Byte a, Byte b) { return Byte((a != 0) == (b != 0)); })},
    {"ne", difference},
    {"lt", two<Byte>([](Byte a, Byte b) { return Byte((a == 0) & (b != 0)); })},
    {"le", two<Byte>([](Byte a, Byte b) { return Byte((a == 0) | (b != 0)); })},
    {"gt", two<Byte>([](Byte a, Byte b) { return Byte((a != 0) & (b == 0)); })},
    {"ge", two<Byte>([](Byte a, Byte b) { return Byte((a != 0) | (b == 0)); })},
    {"logical_xor", difference},
    {"bitwise_xor", difference},
    {"sign", one<Byte>([](Byte a) { return Byte(a != 0); })},
    {"isnan", never},
    {"isinf", never},
    {"logical_not", negation},
    {"bitwise_not", negation},
    {"where", {where_row<Byte>, 3}},
};

constexpr PointwiseFormula find_in(std::span<const NamedFormula> table, const Operation& operation) {
  for (const NamedFormula& named : table)
    if (named.operation == operation) return named.formula;
  return {};
}

template <class T, std::size_t n>
constexpr PointwiseFormula find_in_either(const NamedFormula (&own)[n], const Operation& operation) {
  const PointwiseFormula found = find_in(own, operation);
  return found.row ? found : find_in(number_formulas<T>, operation);
}

// Evaluated by the compiler, so that a build has no table, only the formulas that its kernels name.
template <Element element>
constexpr PointwiseFormula formula_of(const Operation& operation) {
  if constexpr (element == Element::boolean)
    return find_in(truth_formulas, operation);
  else if constexpr (element == Element::i64)
    return find_in_either<Int>(integer_formulas, operation);
  else if constexpr (element == Element::f32)
    return find_in_either<float>(float_formulas<float>, operation);
  else
    return find_in_either<double>(float_formulas<double>, operation);
}

template <class Asked>
PointwiseFormula formula_asked() {
  constexpr PointwiseFormula found = formula_of<Asked::element()>(Asked::operation());
  return found;
}

}  // namespace assay::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

template <Operation asked_operation, Element asked_element>
PointwiseFormula find_formula(InstructionSet set) {
  struct Asked {
    static constexpr Operation operation() { return asked_operation; }
    static constexpr Element element() { return asked_element; }
  };
  if constexpr (asked_element == Element::f64) {
    return HWY_NAMESPACE::formula_asked<Asked>();
  } else {
    constexpr PointwiseFormula (*of_set[])() = ASSAY_OF_EACH_SET(formula_asked<Asked>);
    return of_set[static_cast<std::size_t>(set)]();
  }
}

template <Operation operation, Element element>
bool has_formula() {
  return HWY_NAMESPACE::formula_of<element>(operation).row;
}

// Instantiates both functions for each operation of a table and each type of elements, as other files declare them
// only.
struct Instance {
  FindFormula find;
  bool (*has)();
};
template <const auto& table, std::size_t... i>
constexpr auto instances_of(std::index_sequence<i...>) {
  return std::array{Instance{find_formula<table[i / element_types].operation, Element(i % element_types)>,
                             has_formula<table[i / element_types].operation, Element(i % element_types)>}...};
}
template <const auto& table>
constexpr auto instances = instances_of<table>(std::make_index_sequence<element_types * std::size(table)>());

namespace tables = HWY_NAMESPACE;
extern const std::span<const Instance> all_instances[];
const std::span<const Instance> all_instances[] = {
    instances<tables::number_formulas<float>>, instances<tables::float_formulas<float>>,
    instances<tables::integer_formulas>, instances<tables::truth_formulas>};

}  // namespace assay::kernels
#endif
