// Compares the functions that the reference calls in the C library, and the functions that it builds on them, with MPFR
// at points of all exponents. Prints for each function the largest error in units in the last place of float64, its
// limit, and the argument. The entries rely on these limits. Each limit is above the errors of glibc 2.36 at thousands
// of points; none is proved. For complex functions the unit is relative to the absolute value; for sums that cancel, to
// the magnitude of the entry.
//
//   functions POINTS   tests POINTS points per function. Exits with 1 if an error exceeds its limit.

#include <fmt/format.h>
#include <mpc.h>
#include <mpfr.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <limits>
#include <random>

#include "operators/unary.gen.h"
#include "reference/dtype.h"

namespace {

using namespace assay;

constexpr mpfr_prec_t precision = 160;
constexpr double infinity = std::numeric_limits<double>::infinity();

class Exact {  // a real number of high precision
 public:
  Exact() { mpfr_init2(value, precision); }
  ~Exact() { mpfr_clear(value); }
  Exact(const Exact&) = delete;
  Exact& operator=(const Exact&) = delete;
  mpfr_t value;
};

// The distance between `got` and `exact`, in units in the last place of float64 around `size`. An infinity counts as
// one step beyond the largest number.
double error(double got, mpfr_srcptr exact, double size) {
  const double nearest = mpfr_get_d(exact, MPFR_RNDN);
  if (std::isnan(got) || std::isnan(nearest)) return std::isnan(got) == std::isnan(nearest) ? 0 : infinity;
  if (got == nearest) got = nearest;  // makes zeros of both signs equal
  if (std::isinf(got) && std::isinf(nearest)) return got == nearest ? 0 : infinity;
  if (std::isinf(got) || std::isinf(nearest))
    return std::fabs(std::isinf(got) ? nearest : got) == std::numeric_limits<double>::max() ? 1 : infinity;
  Exact off;
  mpfr_d_sub(off.value, got, exact, MPFR_RNDN);
  return std::fabs(mpfr_get_d(off.value, MPFR_RNDN)) / ulp(DType::float64, std::isfinite(size) ? size : nearest);
}

// A number of any exponent and sign. Half of the numbers are near 1, and one in sixteen is an integer.
double draw(std::mt19937_64& bits) {
  const bool near = bits() % 2 == 0;
  const int exponent = near ? static_cast<int>(bits() % 24) - 14 : static_cast<int>(bits() % 2098) - 1074;
  const double significand = bits() % 16 == 0 ? 1 : 1 + std::ldexp(static_cast<double>(bits() >> 12), -52);
  return std::copysign(std::ldexp(significand, exponent), bits() % 2 == 0 ? 1 : -1);
}

// The largest error of a function, and its argument.
class Worst {
 public:
  Worst(std::string_view name, double limit) : name_(name), limit_(limit) {}
  void add(double error, auto... arguments) {
    if (error <= error_) return;
    error_ = error;
    arguments_.clear();
    (..., (arguments_ += fmt::format("{}{:a}", arguments_.empty() ? "" : ", ", arguments)));
  }
  bool print() const {
    const bool is_wrong = error_ > limit_;
    fmt::print("{:<12} {:>8.3f} {:>6} {:<6} {}\n", name_, error_, limit_, is_wrong ? "wrong" : "", arguments_);
    return is_wrong;
  }

 private:
  std::string_view name_;
  double limit_, error_ = 0;
  std::string arguments_;
};

int lgamma(mpfr_ptr y, mpfr_srcptr x, mpfr_rnd_t round) {
  int sign = 0;
  return mpfr_lgamma(y, &sign, x, round);
}

struct Function {
  std::string_view name;
  double (*ours)(double);
  int (*exact)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);
  double limit;                                              // in ulp
  double (*magnitude)(double, const Arithmetic&) = nullptr;  // the ulp is relative to this magnitude if terms cancel
};
struct Function2 {
  std::string_view name;
  double (*ours)(double, double);
  int (*exact)(mpfr_ptr, mpfr_srcptr, mpfr_srcptr, mpfr_rnd_t);
  double limit;
};
struct ComplexFunction {
  std::string_view name;
  Complex (*ours)(Complex);
  int (*exact)(mpc_ptr, mpc_srcptr, mpc_rnd_t);
  double limit;                    // in ulp of the absolute value
  double largest_part = infinity;  // beyond it MPC takes forever
};

constexpr Function functions[] = {
    {"sqrt", std::sqrt, mpfr_sqrt, 0.5},
    {"exp", std::exp, mpfr_exp, 1},
    {"exp2", std::exp2, mpfr_exp2, 1},
    {"expm1", std::expm1, mpfr_expm1, 1},
    {"log", std::log, mpfr_log, 1},
    {"log2", std::log2, mpfr_log2, 1},
    {"log10", std::log10, mpfr_log10, 2},
    {"log1p", std::log1p, mpfr_log1p, 1},
    {"sin", std::sin, mpfr_sin, 1},
    {"cos", std::cos, mpfr_cos, 1},
    {"tan", std::tan, mpfr_tan, 1},
    {"asin", std::asin, mpfr_asin, 1},
    {"acos", std::acos, mpfr_acos, 1},
    {"atan", std::atan, mpfr_atan, 1},
    {"sinh", std::sinh, mpfr_sinh, 2},
    {"cosh", std::cosh, mpfr_cosh, 2},
    {"tanh", std::tanh, mpfr_tanh, 2},
    {"asinh", std::asinh, mpfr_asinh, 2},
    {"acosh", std::acosh, mpfr_acosh, 2},
    {"atanh", std::atanh, mpfr_atanh, 2},
    {"erf", std::erf, mpfr_erf, 1},
    {"erfc", std::erfc, mpfr_erfc, 5},
    {"lgamma", std::lgamma, lgamma, 2, [](double x, const Arithmetic&) { return operators::lgamma_magnitude(x); }},
    {"digamma", operators::digamma, mpfr_digamma, 1.5, operators::digamma_magnitude},
};
constexpr Function2 functions2[] = {
    {"pow", std::pow, mpfr_pow, 1},
    {"atan2", std::atan2, mpfr_atan2, 1},
    {"hypot", std::hypot, mpfr_hypot, 1},
    {"fmod", std::fmod, mpfr_fmod, 0},
};
constexpr ComplexFunction complex_functions[] = {
    {"cexp", operators::exp, mpc_exp, 4},       {"clog", operators::log, mpc_log, 4},
    {"csqrt", operators::sqrt, mpc_sqrt, 4},    {"csin", operators::sin, mpc_sin, 4},
    {"ccos", operators::cos, mpc_cos, 4},       {"ctan", operators::tan, mpc_tan, 4, 0x1p9},
    {"casin", operators::asin, mpc_asin, 4},    {"cacos", operators::acos, mpc_acos, 4},
    {"catan", operators::atan, mpc_atan, 4},    {"csinh", operators::sinh, mpc_sinh, 4},
    {"ccosh", operators::cosh, mpc_cosh, 4},    {"ctanh", operators::tanh, mpc_tanh, 4, 0x1p9},
    {"casinh", operators::asinh, mpc_asinh, 4}, {"cacosh", operators::acosh, mpc_acosh, 4},
    {"catanh", operators::atanh, mpc_atanh, 4},
};

int look(Int points) {
  int wrong = 0;
  std::mt19937_64 bits(1);
  const Arithmetic doubles = arithmetic(DType::float64, DType::float64);
  Exact x, y, result;
  for (const Function& f : functions) {
    Worst worst(f.name, f.limit);
    for (Int k = 0; k < points; ++k) {
      const double at = draw(bits);
      mpfr_set_d(x.value, at, MPFR_RNDN);
      f.exact(result.value, x.value, MPFR_RNDN);
      const Real size = f.magnitude ? f.magnitude(at, doubles) : mpfr_get_d(result.value, MPFR_RNDN);
      worst.add(error(f.ours(at), result.value, size), at);
    }
    wrong += worst.print();
  }
  for (const Function2& f : functions2) {
    Worst worst(f.name, f.limit);
    for (Int k = 0; k < points; ++k) {
      const double a = draw(bits), b = draw(bits);
      mpfr_set_d(x.value, a, MPFR_RNDN), mpfr_set_d(y.value, b, MPFR_RNDN);
      f.exact(result.value, x.value, y.value, MPFR_RNDN);
      worst.add(error(f.ours(a, b), result.value, mpfr_get_d(result.value, MPFR_RNDN)), a, b);
    }
    wrong += worst.print();
  }
  mpc_t z, w;
  mpc_init2(z, precision), mpc_init2(w, precision);
  for (const ComplexFunction& f : complex_functions) {
    Worst worst(f.name, f.limit);
    for (Int k = 0; k < points; ++k) {
      const double a = draw(bits), b = draw(bits);
      if (std::fmax(std::fabs(a), std::fabs(b)) > f.largest_part) continue;
      mpc_set_d_d(z, a, b, MPC_RNDNN);
      f.exact(w, z, MPC_RNDNN);
      mpc_abs(result.value, w, MPFR_RNDN);
      const double size = mpfr_get_d(result.value, MPFR_RNDN);
      const Complex got = f.ours({a, b});
      worst.add(std::max(error(got.real(), mpc_realref(w), size), error(got.imag(), mpc_imagref(w), size)), a, b);
    }
    wrong += worst.print();
  }
  mpc_clear(z), mpc_clear(w);
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  const long points = argc == 2 ? std::strtol(argv[1], nullptr, 10) : 0;
  if (points <= 0) return fmt::print(stderr, "usage: functions POINTS\n"), 2;
  return look(points) > 0;
}
