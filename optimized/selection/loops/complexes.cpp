#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

#include "kernels.gen.h"
#include "optimized/selection/copy.h"
#include "optimized/selection/scalars.h"
#include "optimized/selection/views.h"

// Elementwise operators on complex numbers, by plain loops, and operators that make complex numbers or take them apart.
namespace assay::optimized {
namespace {

// Formulas. The parts of a complex function are those that C's functions of complex doubles give.

// ln(1 + z), exact near 0, where |1 + z|^2 - 1 is x (2 + x) + y^2.
Complex log1p(Complex z) {
  const double x = z.real(), y = z.imag();
  const double real = std::hypot(x, y) < 0.5 ? std::log1p(x * (2 + x) + y * y) / 2 : std::log(std::hypot(1 + x, y));
  return {real, std::atan2(y, 1 + x)};
}
// e^z - 1 = (e^x - 1) cos y - 2 sin^2(y / 2) + i e^x sin y
Complex expm1(Complex z) {
  const double half = std::sin(z.imag() / 2);
  return {std::expm1(z.real()) * std::cos(z.imag()) - 2 * half * half, std::exp(z.real()) * std::sin(z.imag())};
}
// e^(exponent ln base), with a product that turns NaN into an infinity, as that of C does.
Complex power(Complex base, Complex exponent) { return std::exp(exponent * std::log(base)); }
// Some real exponents have powers that are products, quotients and square roots.
Complex power_of_number(Complex z, Complex exponent, Complex) {
  const double n = exponent.imag() == 0 ? exponent.real() : std::numeric_limits<double>::quiet_NaN();
  return n == 0      ? Complex(1)
         : n == 1    ? z
         : n == 2    ? product(z, z)
         : n == 3    ? product(product(z, z), z)
         : n == -2   ? quotient(Complex(1), product(z, z))
         : n == 0.5  ? std::sqrt(z)
         : n == -0.5 ? quotient(Complex(1), std::sqrt(z))
                     : power(z, exponent);
}

using Unary = Complex (*)(Complex);
constexpr struct {
  std::string_view op;
  Unary function;
  bool takes_halves = false;  // whether the operator is defined on complex32
} unaries[] = {
    {"aten::_conj_copy.out", [](Complex z) { return std::conj(z); }, true},
    {"aten::acos.out", [](Complex z) { return std::acos(z); }},
    {"aten::acosh.out", [](Complex z) { return std::acosh(z); }},
    {"aten::asin.out", [](Complex z) { return std::asin(z); }},
    {"aten::asinh.out", [](Complex z) { return std::asinh(z); }},
    {"aten::atan.out", [](Complex z) { return std::atan(z); }},
    {"aten::atanh.out", [](Complex z) { return std::atanh(z); }},
    {"aten::cos.out", [](Complex z) { return std::cos(z); }},
    {"aten::cosh.out", [](Complex z) { return std::cosh(z); }},
    {"aten::exp.out", [](Complex z) { return std::exp(z); }},
    {"aten::exp2.out", [](Complex z) { return std::exp(z * std::log(2.0)); }},
    {"aten::expm1.out", expm1},
    {"aten::log.out", [](Complex z) { return std::log(z); }},
    {"aten::log10.out", [](Complex z) { return std::log(z) / std::log(10.0); }},
    {"aten::log1p.out", log1p},
    {"aten::log2.out", [](Complex z) { return std::log(z) / std::log(2.0); }},
    {"aten::neg.out", [](Complex z) { return -z; }, true},
    {"aten::reciprocal.out", [](Complex z) { return Complex(1) / z; }},
    {"aten::rsqrt.out", [](Complex z) { return Complex(1) / std::sqrt(z); }},
    {"aten::sigmoid.out", [](Complex z) { return Complex(1) / (Complex(1) + std::exp(-z)); }},
    {"aten::sin.out", [](Complex z) { return std::sin(z); }},
    {"aten::sinh.out", [](Complex z) { return std::sinh(z); }},
    {"aten::sqrt.out", [](Complex z) { return std::sqrt(z); }},
    {"aten::tan.out", [](Complex z) { return std::tan(z); }},
    {"aten::tanh.out", [](Complex z) { return std::tanh(z); }},
};

// Functions of a complex number whose result is real.
using Measure = double (*)(Complex);
bool is_nan(Complex z) { return std::isnan(z.real()) || std::isnan(z.imag()); }
bool is_infinite(Complex z) { return std::isinf(z.real()) || std::isinf(z.imag()); }
constexpr struct {
  std::string_view op;
  Measure function;
  bool gives_truth = false, takes_halves = false;
} measures[] = {
    {"aten::abs.out", [](Complex z) { return std::hypot(z.real(), z.imag()); }, false, true},
    {"aten::angle.out", [](Complex z) { return is_nan(z) ? z.real() + z.imag() : std::atan2(z.imag(), z.real()); }},
    {"aten::isinf.out", [](Complex z) { return is_infinite(z) ? 1.0 : 0.0; }, true, true},
    {"aten::isnan.out", [](Complex z) { return is_nan(z) ? 1.0 : 0.0; }, true, true},
    {"aten::logical_not.out", [](Complex z) { return z == Complex(0) ? 1.0 : 0.0; }, true},
};

// Functions of two numbers. The third is the parameter alpha, or 1.
using Binary = Complex (*)(Complex, Complex, Complex);
constexpr struct {
  std::string_view op;
  Binary function;
  bool gives_truth = false, takes_halves = false;
} binaries[] = {
    {"aten::add.Scalar_out", [](Complex a, Complex b, Complex alpha) { return a + product(alpha, b); }, false, true},
    {"aten::add.out", [](Complex a, Complex b, Complex alpha) { return a + product(alpha, b); }, false, true},
    {"aten::div.Scalar_mode_out", [](Complex a, Complex b, Complex) { return quotient(a, b); }},
    {"aten::div.Scalar_out", [](Complex a, Complex b, Complex) { return quotient(a, b); }},
    {"aten::div.out", [](Complex a, Complex b, Complex) { return quotient(a, b); }},
    {"aten::div.out_mode", [](Complex a, Complex b, Complex) { return quotient(a, b); }},
    {"aten::eq.Scalar_out", [](Complex a, Complex b, Complex) { return Complex(a == b); }, true, true},
    {"aten::eq.Tensor_out", [](Complex a, Complex b, Complex) { return Complex(a == b); }, true, true},
    {"aten::logical_and.out", [](Complex a, Complex b, Complex) { return Complex(a != 0.0 && b != 0.0); }, true},
    {"aten::logical_or.out", [](Complex a, Complex b, Complex) { return Complex(a != 0.0 || b != 0.0); }, true},
    {"aten::logical_xor.out", [](Complex a, Complex b, Complex) { return Complex((a != 0.0) != (b != 0.0)); }, true},
    {"aten::mul.Scalar_out", [](Complex a, Complex b, Complex) { return product(a, b); }, false, true},
    {"aten::mul.out", [](Complex a, Complex b, Complex) { return product(a, b); }, false, true},
    {"aten::ne.Scalar_out", [](Complex a, Complex b, Complex) { return Complex(a != b); }, true, true},
    {"aten::ne.Tensor_out", [](Complex a, Complex b, Complex) { return Complex(a != b); }, true, true},
    {"aten::pow.Scalar_out", [](Complex a, Complex b, Complex) { return power(a, b); }},
    {"aten::pow.Tensor_Scalar_out", power_of_number},
    {"aten::pow.Tensor_Tensor_out", [](Complex a, Complex b, Complex) { return power(a, b); }},
    {"aten::rsub.Scalar_out", [](Complex a, Complex b, Complex alpha) { return b - product(alpha, a); }, false, true},
    {"aten::sub.Scalar_out", [](Complex a, Complex b, Complex alpha) { return a - product(alpha, b); }, false, true},
    {"aten::sub.out", [](Complex a, Complex b, Complex alpha) { return a - product(alpha, b); }, false, true},
};

const auto* find(const auto& table, std::string_view op) {
  const auto* end = std::end(table);
  const auto* found = std::find_if(std::begin(table), end, [&](const auto& row) { return row.op == op; });
  return found == end ? nullptr : found;
}

// The common dtype if it is complex. No kernel of this file computes with an opaque dtype.
std::optional<DType> common_of(const Value& a, const Value& b) {
  Promotion promotion;
  for (const Value* v : {&a, &b}) {
    promotion.add(*v);
    if (v->is_tensor() && !find_reader<Complex>(v->tensor->dtype)) return std::nullopt;
  }
  return promotion.result();
}

bool is_between(DType common, bool takes_halves) {
  return is_complex(common) && (takes_halves || common != DType::complex32);
}

bool accepts_unary(const Call& call) {
  const auto* row = find(unaries, call.roles->name);
  return row && call[0].is_tensor() && is_between(call.tensor(0).dtype, row->takes_halves) &&
         is_complex(call.out().dtype) && (!row->takes_halves || call.out().dtype == call.tensor(0).dtype);
}
bool run_unary(const Step& step, Execution&) {
  const Unary function = find(unaries, step.call.roles->name)->function;
  const DType common = step.call.tensor(0).dtype;
  Nest nest;
  if (!make_broadcast_nest(step.call, 1, nest)) return false;
  const Reading<Complex> x(step.call.tensor(0), common);
  const Writing<Complex> y(step.call.out(), common);
  each_element(nest, 2, [&](const std::ptrdiff_t* at) { y.set(at[0], function(x[at[1]])); });
  return true;
}

bool accepts_measure(const Call& call) {
  const auto* row = find(measures, call.roles->name);
  if (!row || !call[0].is_tensor() || !is_between(call.tensor(0).dtype, row->takes_halves)) return false;
  const DType out = call.out().dtype;
  return row->gives_truth
             ? out == DType::boolean || (row->op == "aten::logical_not.out" && is_number_or_complex(out))
             : is_floating(out) || (is_complex(out) && (row->op != "aten::abs.out" || out == call.tensor(0).dtype));
}
bool run_measure(const Step& step, Execution&) {
  const auto& row = *find(measures, step.call.roles->name);
  const Tensor& self = step.call.tensor(0);
  Nest nest;
  if (!make_broadcast_nest(step.call, 1, nest)) return false;
  const Reading<Complex> x(self, self.dtype);
  const Writing<double> y(step.call.out(), row.gives_truth ? DType::boolean : part_of(self.dtype));
  each_element(nest, 2, [&](const std::ptrdiff_t* at) { y.set(at[0], row.function(x[at[1]])); });
  return true;
}

// An operand that is a tensor or a number.
class Operand {
 public:
  Operand(const Value& v, const Tensor& any, DType common)
      : elements_(v.is_tensor() ? *v.tensor : any, common), is_tensor_(v.is_tensor()) {
    double number = 0;
    std::uint64_t element = 0;
    if (is_tensor_ || !number_as(part_of(common), v, &element, true)) return;
    number = find_reader(computed_in(part_of(common)))(&element);
    number_ = stored_as(part_of(common), number);
  }
  Complex operator[](std::ptrdiff_t i) const { return is_tensor_ ? elements_[i] : number_; }

 private:
  Reading<Complex> elements_;
  bool is_tensor_;
  Complex number_;
};

bool is_operand(const Value& v) {
  return v.kind > ValueKind::none && v.kind <= ValueKind::tensor && v.kind != ValueKind::string;
}
// A bool cannot be subtracted.
bool is_truth(const Value& v) {
  return v.is_tensor() ? v.tensor->dtype == DType::boolean : v.kind == ValueKind::boolean;
}
bool is_difference(const Call& call) { return call.roles->name.find("sub") != std::string_view::npos; }

bool accepts_binary(const Call& call) {
  const auto* row = find(binaries, call.roles->name);
  if (!row || !is_operand(call[0]) || !is_operand(call[1])) return false;
  if (is_difference(call) && (is_truth(call[0]) || is_truth(call[1]))) return false;
  const auto common = common_of(call[0], call[1]);
  const DType out = call.out().dtype;
  const bool has_parameter = call.arguments.size() == 4;
  if (!common || !is_between(*common, row->takes_halves)) return false;
  double alpha;
  if (has_parameter && call[2].kind == ValueKind::string) return false;
  if (has_parameter && call[2].kind != ValueKind::none &&
      (call[2].kind == ValueKind::boolean || !read_scalar(*common, call[2], alpha)))
    return false;
  return row->gives_truth ? bool(find_reader<Complex>(out)) : is_complex(out);
}
bool run_binary(const Step& step, Execution&) {
  const Call& call = step.call;
  const auto& row = *find(binaries, call.roles->name);
  const DType common = *common_of(call[0], call[1]);
  const Tensor& any = call.tensor(call[0].is_tensor() ? 0 : 1);
  const Operand a(call[0], any, common), b(call[1], any, common);
  Nest nest;
  if (!make_broadcast_nest(call, 2, nest)) return false;
  double alpha = 1;
  if (call.arguments.size() == 4 && call[2].kind != ValueKind::none) read_scalar(common, call[2], alpha);
  const Writing<Complex> y(call.out(), row.gives_truth ? DType::boolean : common);
  each_element(nest, 3, [&](const std::ptrdiff_t* at) { y.set(at[0], row.function(a[at[1]], b[at[2]], alpha)); });
  return true;
}

// where: condition, self, other, out.
bool accepts_where(const Call& call) {
  if (!call[0].is_tensor() || !call[1].is_tensor() || !call[2].is_tensor()) return false;
  const DType condition = call.tensor(0).dtype;
  return (condition == DType::boolean || condition == DType::uint8) &&
         common_of(call[1], call[2]) == call.out().dtype && is_complex(call.out().dtype);
}
bool run_where(const Step& step, Execution&) {
  const Call& call = step.call;
  const Tensor& condition = call.tensor(0);
  const DType common = call.out().dtype;
  Nest nest;
  if (!make_broadcast_nest(call, 3, nest)) return false;
  const Reading<Complex> a(call.tensor(1), common), b(call.tensor(2), common);
  const Writing<Complex> y(call.out());
  each_element(nest, 4, [&](const std::ptrdiff_t* at) {
    y.set(at[0], condition.elements<std::uint8_t>()[at[1]] ? a[at[2]] : b[at[3]]);
  });
  return true;
}

// The angle of a real number is 0, pi where it is negative, and NaN of NaN.
bool accepts_angle(const Call& call) {
  return call[0].is_tensor() && is_readable(call.tensor(0).dtype) &&
         (is_floating(call.out().dtype) || is_complex(call.out().dtype));
}
bool run_angle(const Step& step, Execution&) {
  const Tensor& self = step.call.tensor(0);
  const DType common = is_floating(self.dtype) ? self.dtype : DType::float32;
  Nest nest;
  if (!make_broadcast_nest(step.call, 1, nest)) return false;
  const Reading<double> x(self, self.dtype);
  const Writing<double> y(step.call.out(), common);
  each_element(nest, 2, [&](const std::ptrdiff_t* at) {
    const double now = x[at[1]];
    y.set(at[0], std::isnan(now) ? now : now < 0 ? std::acos(-1.0) : 0);
  });
  return true;
}

// The conjugate of numbers of any dtype; a real number is its own.
bool accepts_conjugate(const Call& call) {
  return call[0].is_tensor() && (is_real(call.tensor(0).dtype) || is_complex(call.tensor(0).dtype)) &&
         call.tensor(0).dtype == call.out().dtype;
}
bool run_conjugate(const Step& step, Execution&) {
  Nest nest;
  if (!make_broadcast_nest(step.call, 1, nest)) return false;
  const DType dtype = step.call.out().dtype;
  return with_number(dtype, [&]<class T>() {
    const Reading<T> x(step.call.tensor(0), dtype);
    const Writing<T> y(step.call.out());
    each_element(nest, 2, [&](const std::ptrdiff_t* at) {
      if constexpr (std::is_same_v<T, Complex>)
        y.set(at[0], std::conj(x[at[1]]));
      else
        y.set(at[0], x[at[1]]);
    });
    return true;
  });
}

// complex: real, imag, out. polar: abs, angle, out.
bool is_complex_of(DType complex, DType part) { return is_complex(complex) && part_of(complex) == part; }
template <bool is_polar>
bool accepts_parts(const Call& call) {
  if (!call[0].is_tensor() || !call[1].is_tensor()) return false;
  const DType part = call.tensor(0).dtype;
  return call.tensor(1).dtype == part && is_complex_of(call.out().dtype, part) && !(is_polar && part == DType::float16);
}
template <bool is_polar>
bool run_parts(const Step& step, Execution&) {
  Nest nest;
  if (!make_broadcast_nest(step.call, 2, nest)) return false;
  const DType part = step.call.tensor(0).dtype;
  const Reading<double> a(step.call.tensor(0), part), b(step.call.tensor(1), part);
  const Writing<Complex> y(step.call.out());
  each_element(nest, 3, [&](const std::ptrdiff_t* at) {
    const double x = a[at[1]], i = b[at[2]];
    y.set(at[0], is_polar ? Complex(x * std::cos(i), x * std::sin(i)) : Complex(x, i));
  });
  return true;
}

// Complex numbers as pairs of real ones, and the other way round. The last dimension of the real tensor has the parts.
template <bool is_real_first>
bool accepts_pairs(const Call& call) {
  if (!call[0].is_tensor()) return false;
  const Tensor &self = call.tensor(0), &out = call.out();
  return is_real_first ? is_complex_of(out.dtype, self.dtype) : is_complex_of(self.dtype, out.dtype);
}
template <bool is_real_first>
bool run_pairs(const Step& step, Execution& execution) {
  const Tensor& self = step.call.tensor(0);
  Tensor& out = step.call.out();
  Shape shape = shape_of(self);
  if (is_real_first) {
    if (shape.rank == 0 || shape.sizes[shape.rank - 1] != 2) return false;
    for (int i = self.rank - 1; self.dim_order[i] != shape.rank - 1; --i)
      if (self.sizes[self.dim_order[i]] != 1) return false;  // the parts do not lie side by side
    --shape.rank;
  } else {
    if (shape.rank == static_cast<int>(max_rank)) return false;
    shape.sizes[shape.rank++] = 2;
  }
  if (!resize(out, shape.span())) return false;
  const Tensor &pairs = is_real_first ? self : out, &whole = is_real_first ? out : self;
  const Strides of_pairs = strides_of(pairs);
  Strides of_whole = strides_of(whole);  // in parts
  for (int d = 0; d < whole.rank; ++d) of_whole.of[d] *= 2;
  of_whole.of[whole.rank] = 1;
  const Strides of_both[] = {is_real_first ? of_whole : of_pairs, is_real_first ? of_pairs : of_whole};
  copy(nest_of(shape_of(pairs), pairs.dim_order, of_both), out.data, self.data, pairs.element_bytes(),
       execution.threads);
  return true;
}

}  // namespace

constexpr Kernel complex_unary{"complex_unary", accepts_unary, nullptr, run_unary};
constexpr Kernel complex_measure{"complex_measure", accepts_measure, nullptr, run_measure};
constexpr Kernel complex_binary{"complex_binary", accepts_binary, nullptr, run_binary};
constexpr Kernel complex_where{"complex_where", accepts_where, nullptr, run_where};
constexpr Kernel angle{"angle", accepts_angle, nullptr, run_angle};
constexpr Kernel conjugate{"conjugate", accepts_conjugate, nullptr, run_conjugate};
constexpr Kernel complex_of_parts{"complex_of_parts", accepts_parts<false>, nullptr, run_parts<false>};
constexpr Kernel polar{"polar", accepts_parts<true>, nullptr, run_parts<true>};
constexpr Kernel view_as_complex{"view_as_complex", accepts_pairs<true>, nullptr, run_pairs<true>};
constexpr Kernel view_as_real{"view_as_real", accepts_pairs<false>, nullptr, run_pairs<false>};

}  // namespace assay::optimized
