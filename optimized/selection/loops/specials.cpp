#include <cmath>
#include <limits>
#include <numbers>

#include "kernels.gen.h"
#include "optimized/selection/rows.h"
#include "optimized/selection/scalars.h"

// Elementwise functions and activations that only plain loops compute.
namespace assay::optimized {
namespace {

DType floating_of(DType dtype) { return is_floating(dtype) ? dtype : DType::float32; }

// Results of a floating operator may have any dtype of at least its kind.
bool casts(const Call& call) {
  const Tensor& out = call.out();
  return call[0].is_tensor() && (is_floating(out.dtype) || is_complex(out.dtype));
}

// The logarithm of |gamma(x)|, of which the C library's function also sets a global variable.
double log_gamma(double x) { return std::lgamma(x); }

// The derivative of log_gamma. A number below 0 is reflected: digamma(1 - x) - pi / tan(pi x). A number below 10 is
// raised by digamma(x) = digamma(x + 1) - 1 / x. Beyond, the asymptotic series is ln x - 1 / 2x - sum B_2k / (2k x^2k).
double digamma(double x) {
  if (x == 0) return std::copysign(std::numeric_limits<double>::infinity(), -x);
  if (x < 0) {
    if (x == std::floor(x)) return std::numeric_limits<double>::quiet_NaN();
    double whole;
    return digamma(1 - x) - std::numbers::pi / std::tan(std::numbers::pi * std::modf(x, &whole));
  }
  double less = 0;
  for (; x < 10; ++x) less += 1 / x;
  constexpr double terms[] = {1.0 / 12, -1.0 / 120, 1.0 / 252, -1.0 / 240, 1.0 / 132, -691.0 / 32760, 1.0 / 12};
  const double square = 1 / (x * x);
  double sum = 0, power = square;
  for (const double term : terms) sum += term * power, power *= square;
  return std::log(x) - 0.5 / x - sum - less;
}

template <double (*function)(double)>
bool accepts_function(const Call& call) {
  return casts(call) && is_readable(call.tensor(0).dtype);
}

// Calls the function for each element of self, converted to the common dtype.
template <class Function>
bool map(const Call& call, DType common, Function function) {
  const Tensor& self = call.tensor(0);
  Tensor& out = call.out();
  if (!resize(out, self.shape())) return false;
  const Strides strides[] = {strides_of(out), strides_of(self)};
  const Reading<double> x(self, common);
  const Writing<double> y(out, common);
  each_element(nest_of(shape_of(self), out.dim_order, strides), 2,
               [&](const std::ptrdiff_t* at) { y.set(at[0], function(x[at[1]])); });
  return true;
}
template <double (*function)(double)>
bool run_function(const Step& step, Execution&) {
  return map(step.call, floating_of(step.call.tensor(0).dtype), function);
}

// Reads a number that fits the dtype, and rounds it to the dtype.
bool read_fitting(DType dtype, const Value& number, double& to) {
  if (!read_scalar(dtype, number, to)) return false;
  const bool was_finite = std::isfinite(to);
  to = stored_as(dtype, to);
  return std::isfinite(to) == was_finite;
}

// logit: self, eps, out. ln(z / (1 - z)), where z is self, or with eps self between eps and 1 - eps.
bool accepts_logit(const Call& call) {
  if (!casts(call) || !is_readable(call.tensor(0).dtype)) return false;
  double eps;
  return call[1].kind == ValueKind::none ||
         (call[1].kind == ValueKind::real && read_fitting(floating_of(call.tensor(0).dtype), call[1], eps));
}
bool run_logit(const Step& step, Execution&) {
  const Value& given = step.call[1];
  const DType common = floating_of(step.call.tensor(0).dtype), computed = computed_in(common);
  double eps = 0;
  double rounded = 0;
  if (given.kind != ValueKind::none && (!read_fitting(common, given, rounded) || !read_scalar(common, given, eps)))
    return false;
  const double high = stored_as(computed, 1 - eps);
  return map(step.call, common, [&](double x) {
    const double z = given.kind == ValueKind::none ? x : x < eps ? eps : x > high ? high : x;
    return std::log(z / (1 - z));
  });
}

// glu: self, dim, out. The first half along a dimension, times the sigmoid of the second half.
bool accepts_glu(const Call& call) { return casts(call) && is_floating(call.tensor(0).dtype); }
bool run_glu(const Step& step, Execution&) {
  const Tensor& self = step.call.tensor(0);
  Tensor& out = step.call.out();
  const int dim = dim_of(step.call[1], self.rank);
  if (dim < 0 || self.rank == 0 || self.size(dim) % 2 != 0) return false;
  Shape shape = shape_of(self);
  shape.sizes[dim] /= 2;
  if (!resize(out, shape.span())) return false;
  const Rows rows = rows_of(dim, {&out, &self});
  const Reading<double> x(self, self.dtype);
  const Writing<double> y(out, self.dtype);
  each_of(rows, [&](const std::ptrdiff_t* at) {
    for (std::int64_t i = 0; i < rows.n; ++i) {
      const double gate = x[at[1] + (rows.n + i) * rows.step[1]];
      y.set(at[0] + i * rows.step[0], x[at[1] + i * rows.step[1]] / (1 + std::exp(-gate)));
    }
  });
  return true;
}

// hardtanh: self, min_val, max_val, out. First the lower limit, then the upper one; NaN where an operand is.
bool accepts_hardtanh(const Call& call) {
  return call[0].is_tensor() && call[3].is_tensor() && is_number(call.tensor(0).dtype) &&
         call.tensor(0).dtype == call.tensor(3).dtype;
}
template <class T>
T limited(T x, T low, T high) {
  const T y = x < low || low != low ? low : x;
  return x != x ? x : y > high || high != high ? high : y;
}
// A limit of an integer dtype loses its fraction; a negative one does not fit an unsigned dtype.
template <class T>
bool read_limit(DType dtype, Value limit, T& to) {
  if (limit.kind == ValueKind::real && std::is_integral_v<T>) {
    if (!(std::fabs(limit.real) < 0x1p63)) return false;
    limit.integer = static_cast<std::int64_t>(limit.real), limit.kind = ValueKind::integer;
  }
  if constexpr (!std::is_integral_v<T>) return read_fitting(dtype, limit, to);
  return read_scalar(dtype, limit, to) &&
         (dtype != DType::uint8 || limit.kind != ValueKind::integer || limit.integer >= 0);
}
bool run_hardtanh(const Step& step, Execution&) {
  const Tensor& self = step.call.tensor(0);
  Tensor& out = step.call.out();
  return with_number(self.dtype, [&]<class T>() {
    if constexpr (std::is_same_v<T, Complex>) {
      return false;
    } else {
      T low, high;
      if (!read_limit(self.dtype, step.call[1], low) || !read_limit(self.dtype, step.call[2], high) ||
          !resize(out, self.shape()))
        return false;
      const Strides strides[] = {strides_of(out), strides_of(self)};
      const Reading<T> x(self, self.dtype);
      const Writing<T> y(out);
      each_element(nest_of(shape_of(self), out.dim_order, strides), 2,
                   [&](const std::ptrdiff_t* at) { y.set(at[0], limited(x[at[1]], low, high)); });
      return true;
    }
  });
}

// pow: self, exponent, out. A power of exponent 0 or 1 is defined in more dtypes than other powers.
bool read_exponent(const Value& v, bool& is_one) {
  const double n = v.kind == ValueKind::real      ? v.real
                   : v.kind == ValueKind::boolean ? v.boolean
                                                  : static_cast<double>(v.integer);
  is_one = n == 1;
  return v.kind >= ValueKind::integer && v.kind <= ValueKind::boolean && (n == 0 || n == 1);
}
int level_of(DType dtype) { return static_cast<int>(find_dtype(static_cast<int>(dtype))->kind); }
std::optional<DType> common_of_both(const Call& call) {
  Promotion promotion;
  promotion.add(call[0]), promotion.add(call[1]);
  return promotion.result();
}
bool accepts_trivial_power(const Call& call) {
  bool is_one;
  if (!call[0].is_tensor() || call[1].changes || !read_exponent(call[1], is_one)) return false;
  const auto common = common_of_both(call);
  return common && find_reader<Complex>(*common) && level_of(call.out().dtype) >= level_of(*common);
}
bool run_trivial_power(const Step& step, Execution&) {
  const DType common = *common_of_both(step.call);
  Nest nest;
  bool is_one;
  if (!read_exponent(step.call[1], is_one) || !make_broadcast_nest(step.call, 1, nest)) return false;
  return with_number(common, [&]<class T>() {
    const Reading<T> x(step.call.tensor(0), common);
    const Writing<T> y(step.call.out(), common);
    each_element(nest, 2, [&](const std::ptrdiff_t* at) { y.set(at[0], is_one ? x[at[1]] : T(1)); });
    return true;
  });
}

// pow: self, exponent, out. Each power of 1 is 1, in any dtype of the out.
bool accepts_power_of_one(const Call& call) {
  const Value& base = call[0];
  const bool is_one =
      base.kind == ValueKind::real ? base.real == 1 : base.kind == ValueKind::integer && base.integer == 1;
  return is_one && !base.changes && call[1].is_tensor() && find_reader<Complex>(call.tensor(1).dtype) &&
         find_reader<Complex>(call.out().dtype);
}
bool run_power_of_one(const Step& step, Execution&) {
  Nest nest;
  if (!make_broadcast_nest(step.call, 2, nest)) return false;
  const Writing<std::int64_t> y(step.call.out());
  each_element(nest, 1, [&](const std::ptrdiff_t* at) { y.set(at[0], 1); });
  return true;
}

// div: self, other, rounding_mode, out. A quotient of half floats is rounded before it is truncated. A divisor that is
// one number is not rounded.
bool is_half(DType dtype) { return computed_in(dtype) != dtype; }
bool accepts_half_quotient(const Call& call) {
  if (!call[0].is_tensor() || call[2].kind != ValueKind::string || call[2].string() != "trunc") return false;
  const auto common = common_of_both(call);
  return common && is_half(*common) && level_of(call.out().dtype) >= level_of(*common);
}
bool run_half_quotient(const Step& step, Execution&) {
  const Call& call = step.call;
  const DType common = *common_of_both(call);
  const bool is_tensor = call[1].is_tensor(), is_one = !is_tensor || call.tensor(1).count() == 1;
  float number = 0;
  Nest nest;
  if ((!is_tensor && !number_as(DType::float32, call[1], &number, true)) || !make_broadcast_nest(call, 2, nest))
    return false;
  const Tensor& divisor = call.tensor(is_tensor ? 1 : 0);
  const Reading<double> x(call.tensor(0), common), z(divisor, is_one ? computed_in(divisor.dtype) : common);
  const Writing<double> y(call.out(), common);
  each_element(nest, 3, [&](const std::ptrdiff_t* at) {
    y.set(at[0], std::trunc(stored_as(common, x[at[1]] / (is_tensor ? z[at[2]] : static_cast<double>(number)))));
  });
  return true;
}

}  // namespace

constexpr Kernel trivial_power{"trivial_power", accepts_trivial_power, nullptr, run_trivial_power};
constexpr Kernel power_of_one{"power_of_one", accepts_power_of_one, nullptr, run_power_of_one};
constexpr Kernel half_quotient{"half_quotient", accepts_half_quotient, nullptr, run_half_quotient};
constexpr Kernel lgamma{"lgamma", accepts_function<log_gamma>, nullptr, run_function<log_gamma>};
constexpr Kernel digamma_any{"digamma_any", accepts_function<digamma>, nullptr, run_function<digamma>};
constexpr Kernel logit{"logit", accepts_logit, nullptr, run_logit};
constexpr Kernel glu{"glu", accepts_glu, nullptr, run_glu};
constexpr Kernel hardtanh_any{"hardtanh_any", accepts_hardtanh, nullptr, run_hardtanh};

}  // namespace assay::optimized
