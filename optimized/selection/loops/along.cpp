#include <cmath>
#include <limits>

#include "kernels.gen.h"
#include "optimized/selection/rows.h"
#include "optimized/selection/scalars.h"

// Rows that are made from rows along a dimension, for any dtype, by plain loops.
namespace assay::optimized {
namespace {

bool has_tensors(const Call& call) {
  return call[0].is_tensor() && call.arguments.back()->is_tensor() && find_reader<Complex>(call.tensor(0).dtype) &&
         find_reader<Complex>(call.out().dtype);
}

// Whether nothing is combined: there are no elements, or one.
bool is_trivial(const Tensor& self) { return self.rank == 0 || self.count() == 0; }

// Running sums, products, and logarithms of sums of exponentials: each result is combined from the result before it and
// an element.

std::int64_t log_of_sum(std::int64_t total, std::int64_t) { return total; }
// log(e^a + e^b) is the larger number plus log1p of e^difference. Two infinities have no difference.
double log_of_sum(double a, double b) {
  if (a != a || b != b) return a + b;
  const double most = std::fmax(a, b), least = std::fmin(a, b);
  return most == least && std::isinf(most) ? most : most + std::log1p(std::exp(least - most));
}
// log(1 + z), exact near 0: the real part is log |1 + z|, where |1 + z|^2 is 1 + x (2 + x) + y^2.
Complex log1p(Complex z) {
  const double x = z.real(), y = z.imag();
  return {std::log1p(x * (2 + x) + y * y) / 2, std::atan2(y, 1 + x)};
}
Complex log_of_sum(Complex a, Complex b) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  if (a.real() != a.real() || a.imag() != a.imag() || b.real() != b.real() || b.imag() != b.imag()) return {nan, nan};
  const bool first = a.real() >= b.real();
  const Complex most = first ? a : b, least = first ? b : a;
  if (most.real() == least.real() && std::isinf(most.real()))
    return most.real() < 0 ? least : std::log(std::exp(least) + std::exp(most));
  return most + log1p(std::exp(least - most));
}
enum class Scan { sum, product, logarithm };

// What the first element is combined with.
template <Scan scan, class T>
constexpr T beginning() {
  if constexpr (scan == Scan::logarithm && !std::is_integral_v<T>)
    return T(-std::numeric_limits<double>::infinity());
  else
    return T(scan == Scan::product);
}

// Operands: self, dim, out, and for sums and products the dtype before the out. Elements are converted to the dtype of
// the result.
template <Scan scan>
bool accepts_scan(const Call& call) {
  if (!has_tensors(call)) return false;
  const DType self = call.tensor(0).dtype, out = call.out().dtype;
  if (scan != Scan::logarithm) return named(call[2], out) == out;
  return self == out && (is_floating(self) || (is_complex(self) && self != DType::complex32));
}
template <Scan scan>
bool run_scan(const Step& step, Execution&) {
  const Tensor& self = step.call.tensor(0);
  Tensor& out = step.call.out();
  const int dim = dim_of(step.call[1], self.rank);
  if (dim < 0 || (!is_number_or_complex(out.dtype) && !is_trivial(self)) || !resize(out, self.shape())) return false;
  const Rows rows = rows_of(dim, {&self, &out});
  return with_number(out.dtype, [&]<class T>() {
    const Reading<T> x(self, out.dtype);
    const Writing<T> y(out);
    each_of(rows, [&](const std::ptrdiff_t* at) {
      T total = beginning<scan, T>();
      for (std::int64_t i = 0; i < rows.n; ++i) {
        const T now = x[at[0] + i * rows.step[0]];
        total = is_trivial(self)        ? now
                : scan == Scan::sum     ? plus(total, now)
                : scan == Scan::product ? times(total, now)
                                        : log_of_sum(total, now);
        y.set(at[1] + i * rows.step[1], total);
      }
    });
    return true;
  });
}

// Running extremes and their last places: self, dim, values, indices. NaN comes before all numbers.
bool accepts_extremes(const Call& call) {
  return has_tensors(call) && call[2].is_tensor() && call.tensor(2).dtype == call.tensor(0).dtype &&
         call.out().dtype == DType::int64;
}
template <bool largest>
bool run_extremes(const Step& step, Execution&) {
  const Tensor& self = step.call.tensor(0);
  Tensor &values = step.call.tensor(2), &places = step.call.out();
  const int dim = dim_of(step.call[1], self.rank);
  if ((dim < 0 && self.count() > 0) || (!is_real(self.dtype) && !is_trivial(self)) ||
      !can_have(values, shape_of(self)) || !resize(places, self.shape()))
    return false;
  resize(values, self.shape());
  if (self.count() == 0) return true;
  const Rows rows = rows_of(dim, {&self, &values, &places});
  return with_number(self.dtype, [&]<class T>() {
    const Reading<T> x(self, self.dtype);
    const Writing<T> y(values);
    each_of(rows, [&](const std::ptrdiff_t* at) {
      T best{};
      std::int64_t place = 0;
      for (std::int64_t i = 0; i < rows.n; ++i) {
        const T now = x[at[0] + i * rows.step[0]];
        bool takes = i == 0 || now != now;
        if constexpr (!std::is_same_v<T, Complex>)
          takes = takes || (best == best && (largest ? now >= best : now <= best));
        if (takes) best = now, place = i;
        y.set(at[1] + i * rows.step[1], best);
        places.elements<std::int64_t>()[at[2] + i * rows.step[2]] = place;
      }
    });
    return true;
  });
}

// Softmax and its logarithm: self, dim, half_to_float, out.
bool accepts_softmax(const Call& call) {
  return has_tensors(call) && call.tensor(0).dtype == call.out().dtype && call[2].kind == ValueKind::boolean &&
         !call[2].changes && !call[2].boolean;
}
template <bool is_logarithm>
bool run_softmax(const Step& step, Execution&) {
  const Tensor& self = step.call.tensor(0);
  Tensor& out = step.call.out();
  const int dim = dim_of(step.call[1], self.rank);
  if (dim < 0 || (!is_floating(self.dtype) && self.count() > 0) || !resize(out, self.shape())) return false;
  if (self.count() == 0) return true;
  const Rows rows = rows_of(dim, {&self, &out});
  const Reading<double> x(self, self.dtype);
  const Writing<double> y(out);
  each_of(rows, [&](const std::ptrdiff_t* at) {
    const auto element = [&](std::int64_t i) { return x[at[0] + i * rows.step[0]]; };
    double most = element(0), total = 0;
    for (std::int64_t i = 1; i < rows.n; ++i) most = std::fmax(most, element(i));
    for (std::int64_t i = 0; i < rows.n; ++i) total += std::exp(element(i) - most);
    const double log = std::log(total);
    for (std::int64_t i = 0; i < rows.n; ++i) {
      const double less = element(i) - most;
      y.set(at[1] + i * rows.step[1], is_logarithm ? less - log : std::exp(less) / total);
    }
  });
  return true;
}

}  // namespace

constexpr Kernel cumsum_any{"cumsum_any", accepts_scan<Scan::sum>, nullptr, run_scan<Scan::sum>};
constexpr Kernel cumprod_any{"cumprod_any", accepts_scan<Scan::product>, nullptr, run_scan<Scan::product>};
constexpr Kernel logcumsumexp{"logcumsumexp", accepts_scan<Scan::logarithm>, nullptr, run_scan<Scan::logarithm>};
constexpr Kernel cummax{"cummax", accepts_extremes, nullptr, run_extremes<true>};
constexpr Kernel cummin{"cummin", accepts_extremes, nullptr, run_extremes<false>};
constexpr Kernel softmax_any{"softmax_any", accepts_softmax, nullptr, run_softmax<false>};
constexpr Kernel log_softmax_any{"log_softmax_any", accepts_softmax, nullptr, run_softmax<true>};

}  // namespace assay::optimized
